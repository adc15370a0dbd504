"""Options of the run logger: where metrics go besides the CSV, which is always written."""

from __future__ import annotations

from dataclasses import dataclass, field

MODES = ("offline", "online", "disabled")


@dataclass(kw_only=True)
class LoggerConfig:
    """Weights & Biases settings of one run."""

    name: str = "offline"
    """For tables and run names."""
    mode: str = "offline"
    """offline: files under the run folder, for `wandb sync`; online: needs WANDB_API_KEY."""
    project: str = "toolorchestra"
    entity: str | None = None
    """User or team that owns the project; None: the key's own default."""
    run_name: str | None = None
    """Display name of the run; None: made from the chosen options and the seed."""
    tags: list[str] = field(default_factory=list)
    trajectories_per_step: int = 4
    """Rollouts a step that go to the W&B table. All of them go to the JSONL file."""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"logger.mode: {self.mode!r} is not allowed; use {', '.join(MODES)}")
        if not self.project or "/" in self.project:
            raise ValueError(
                f"logger.project: {self.project!r} is not allowed; use a name without slashes"
            )
        if self.trajectories_per_step < 0:
            raise ValueError(
                f"logger.trajectories_per_step: {self.trajectories_per_step} is not allowed; "
                "use 0 or more"
            )
