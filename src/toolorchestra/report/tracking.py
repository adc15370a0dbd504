"""Weights & Biases, online or offline: one run, one step axis of our own.

W&B drops points whose own step counter went backwards, as it does when a run resumes from a
checkpoint. So its counter is left alone and every point carries "step" as an ordinary metric, which
all others are plotted against. metrics.csv and trajectories.jsonl stay the record; this is a view.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

INIT_TIMEOUT_S = 60.0


def run_id_of(run_dir: Path) -> str:
    """W&B id of the run in a folder: the same when it resumes, another for each sweep point."""
    return hashlib.sha256(str(run_dir.resolve()).encode()).hexdigest()[:12]


class Tracker:
    """One W&B run; does nothing where W&B is disabled."""

    def __init__(self, run: Any = None) -> None:
        """Wrap a W&B run, or None to log nowhere. Use `start`."""
        self._run = run
        self._table: Any = None

    @classmethod
    def start(
        cls,
        run_dir: Path,
        config: Mapping[str, Any],
        *,
        mode: str,
        project: str,
        group: str,
        name: str,
        job_type: str,
        run_id: str | None = None,
        entity: str | None = None,
        tags: Sequence[str] = (),
    ) -> Tracker:
        """Begin or resume the W&B run of `run_dir`.

        Args:
            run_dir: Output folder; W&B writes into its `wandb` folder.
            config: The resolved config.
            mode: "offline", "online" or "disabled".
            project: W&B project.
            group: The experiment, which gathers the points of a sweep.
            name: What W&B shows; need not be unique.
            job_type: "train" or "eval".
            run_id: Unique id; None: derived from `run_dir`.
            entity: Owner of the project; None: the key's default.
            tags: For filtering only.

        Raises:
            ValueError: If W&B refuses, e.g. online without a key, saying what to do.
        """
        if mode == "disabled":
            return cls()
        import wandb

        run_dir.mkdir(parents=True, exist_ok=True)
        try:
            run = wandb.init(
                dir=str(run_dir.resolve()),
                config=dict(config),
                mode="online" if mode == "online" else "offline",
                project=project,
                entity=entity,
                group=group,
                name=name,
                job_type=job_type,
                id=run_id or run_id_of(run_dir),
                resume="allow",
                tags=list(tags),
                settings=wandb.Settings(console="off", silent=True, init_timeout=INIT_TIMEOUT_S),
            )
        except wandb.Error as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise ValueError(
                f"logger.mode: {mode} W&B could not start ({reason}); "
                "set WANDB_API_KEY and check the network, or use logger=offline or logger=none"
            ) from error
        run.define_metric("step")
        run.define_metric("*", step_metric="step")
        return cls(run)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Log the metrics of one step."""
        if self._run is not None:
            self._run.log({**metrics, "step": step})

    def log_rows(self, step: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows to the run's growing table of trajectories; only the new rows are sent.

        Args:
            step: Goes into the first column.
            rows: One mapping a row; all with the keys of the first one ever given.
        """
        if self._run is None or not rows:
            return
        if self._table is None:
            import wandb

            self._table = wandb.Table(columns=["step", *rows[0]], log_mode="INCREMENTAL")
        for row in rows:
            assert ["step", *row] == self._table.columns, f"columns changed to {list(row)}"
            self._table.add_data(step, *row.values())
        self._run.log({"trajectories": self._table, "step": step})

    def finish(self, exit_code: int = 0) -> None:
        """Write everything out and end the run; a second call does nothing."""
        if self._run is not None:
            self._run.finish(exit_code=exit_code)
            self._run = None
