"""What a run's folder says beside its trajectories: state, command, curves, tables, settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from toolorchestra.entry.plainly import ERROR_FILE
from toolorchestra.entry.run_dir import CONFIG_FILE, RUN_FILE
from toolorchestra.report.closing import FRONTIER_FILE
from toolorchestra.report.comparison import SUMMARY
from toolorchestra.report.metrics import STEP, read_metrics
from toolorchestra.report.recorder import METRICS_FILE
from toolorchestra.report.trajectories import EVALUATION_FILE, TRAJECTORIES_FILE

TABLES_FILE = "results.json"
MARKS = (RUN_FILE, METRICS_FILE, TRAJECTORIES_FILE, EVALUATION_FILE, TABLES_FILE)
"""A folder with any of these holds a run."""
DESCRIBED = ("command", "git_commit", "is_git_dirty", "started_at", "python", "host")

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFiles:
    """The small files of one run, as JSON values."""

    state: str
    """A sentence: finished, ended by a fault, or not finished."""
    described: Mapping[str, Any]
    """Of run.json."""
    metrics: Mapping[str, Any]
    """"steps", and by metric a list with None where a step has none."""
    tables: Sequence[Any]
    """Those that the run wrote when it ended, as `Table.to_json` has them."""
    frontier: Sequence[Any]
    """Of the oracle; empty where the run kept none."""
    settings: Mapping[str, str]
    """The resolved config by dotted key, values as JSON."""


def check_is_run(run_dir: Path) -> None:
    """Refuses a folder that holds no run.

    Raises:
        ValueError: It does not exist, or has no file that a run leaves.
    """
    if not run_dir.is_dir():
        raise ValueError(f"{run_dir}: there is no such folder; name the folder of a run")
    if not any((run_dir / name).exists() for name in MARKS):
        raise ValueError(
            f"{run_dir} holds no run (none of {', '.join(MARKS)}); use a folder that train.py or "
            "evaluate.py wrote"
        )


def read_files(run_dir: Path, tell: Tell) -> RunFiles:
    """Reads what there is; `tell` hears a sentence on each file that is damaged."""
    described = _json(run_dir / RUN_FILE, dict, tell)
    return RunFiles(
        state=_state(run_dir),
        described={key: described[key] for key in DESCRIBED if key in described},
        metrics=_metrics(run_dir / METRICS_FILE, tell),
        tables=_json(run_dir / TABLES_FILE, list, tell, _is_table),
        frontier=_json(run_dir / FRONTIER_FILE, list, tell, _is_point),
        settings=_settings(run_dir / CONFIG_FILE, tell),
    )


def _state(run_dir: Path) -> str:
    if (run_dir / SUMMARY).exists():
        return "Finished."
    error = run_dir / ERROR_FILE
    if error.exists():
        lines = error.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f"Ended by a fault: {lines[-1] if lines else 'error.txt is empty'}"
    return "Not finished: it has no summary.json. It is under way, or was stopped or killed."


def _json(
    path: Path,
    kind: type[dict[str, Any]] | type[list[Any]],
    tell: Tell,
    fits: Callable[[Any], bool] = lambda item: True,
) -> Any:
    """What the file holds, where it is of this kind and all items fit; else nothing."""
    if not path.exists():
        return kind()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        tell(f"{path.name} is damaged and is left out: {error}.")
        return kind()
    if not isinstance(content, kind) or not all(map(fits, content)):
        tell(f"{path.name} is damaged and is left out: it is not what a run writes.")
        return kind()
    return content


def _is_table(item: Any) -> bool:
    """As `Table.to_json` has it."""
    if not isinstance(item, dict) or not isinstance(item.get("title"), str):
        return False
    rows = item.get("rows")
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def _is_point(item: Any) -> bool:
    """As `write_pictures` has it."""
    numbers = int | float
    return isinstance(item, dict) and all(
        isinstance(item.get(key), numbers) for key in ("cents", "accuracy")
    )


def _metrics(path: Path, tell: Tell) -> dict[str, Any]:
    rows: list[dict[str, float]] = []
    if path.exists():
        try:
            rows = read_metrics(path)
        except ValueError as error:
            tell(f"The curves are left out: {error}.")
    names = dict.fromkeys(name for row in rows for name in row if name != STEP)
    return {
        "steps": [row[STEP] for row in rows],
        "values": {name: [_finite(row.get(name)) for row in rows] for name in names},
    }


def _finite(value: float | None) -> float | None:
    """Six digits, which no curve shows more of; JSON has no infinity."""
    return None if value is None or not abs(value) < float("inf") else float(f"{value:.6g}")


def _settings(path: Path, tell: Tell) -> dict[str, str]:
    if not path.exists():
        return {}
    try:
        content = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    except (OmegaConfBaseException, YAMLError, ValueError, OSError) as error:
        tell(f"{path.name} is damaged and is left out: {' '.join(str(error).split())}.")
        return {}
    flat: dict[str, str] = {}
    _flatten(content, "", flat)
    return flat


def _flatten(value: Any, key: str, flat: dict[str, str]) -> None:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            _flatten(item, f"{key}.{name}" if key else str(name), flat)
    else:
        flat[key] = value if isinstance(value, str) else json.dumps(value, default=str)
