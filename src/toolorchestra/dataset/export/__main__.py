"""Writes a domain's tasks for other programs.

    python -m toolorchestra.dataset.export library [form=openai] [out=outputs/export]

openai: conversations to fine-tune on; tau2: tasks as tau2-bench and ToolScale have them. A domain
is one that ships with the project, or a package that is one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import cast

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from toolorchestra.dataset.export.config import ExportConfig


def options_of(words: Sequence[str]) -> ExportConfig:
    """The options that the command's words give.

    Raises:
        ValueError: A word is not allowed.
    """
    domain, *rest = words
    try:
        given = OmegaConf.from_dotlist([f"domain={domain}", *rest])
        merged = OmegaConf.merge(OmegaConf.structured(ExportConfig), given)
        return cast(ExportConfig, OmegaConf.to_object(merged))
    except OmegaConfBaseException as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{reason}; use form=... and out=...") from error


def main(words: Sequence[str]) -> int:
    """Writes the files and names them; returns the exit status."""
    if not words or words[0] in ("-h", "--help") or "=" in words[0]:
        print(__doc__.strip(), file=sys.stderr)
        return 0 if words and words[0] in ("-h", "--help") else 2
    try:
        options = options_of(words)
        from toolorchestra.dataset.export.write import export

        for path in export(options):
            print(path)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
