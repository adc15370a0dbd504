"""Options of `python -m toolorchestra.dataset.export`."""

from __future__ import annotations

from dataclasses import dataclass

FORMS = ("openai", "tau2")


@dataclass(kw_only=True)
class ExportConfig:
    """What to write, and where."""

    domain: str
    """A domain that ships with the project; the path of a folder ("./bakery"), whose code runs in
    the sandbox; or a package, whose code runs here."""
    form: str = "openai"
    """openai: conversations to fine-tune on, of tasks in which the policy alone acts; tau2: tasks
    as tau2-bench and ToolScale have them."""
    out: str = "outputs/export"
    """The folder; files of an earlier export are replaced."""

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ValueError(f"form: {self.form!r} is not allowed; use {' or '.join(FORMS)}")
        if not self.out.strip():
            raise ValueError("out: '' is not allowed; use the path of a folder")
