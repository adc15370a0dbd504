"""Have models write: python synthesize.py descriptions|preferences [toolset=full] [key=value]."""

from __future__ import annotations

import sys
from typing import Any

from toolorchestra.launch.plainly import plainly


def descriptions(config: Any) -> None:
    """Writes descriptions of models; see `toolorchestra.synthesize`."""
    from toolorchestra.synthesize import write_descriptions

    write_descriptions(config)


def preferences(config: Any) -> None:
    """Writes a table of preference pairs; see `toolorchestra.synthesize_pairs`."""
    from toolorchestra.synthesize_pairs import write_preferences

    write_preferences(config)


COMMANDS = {"descriptions": descriptions, "preferences": preferences}


def main() -> None:
    """Composes the config of the command that the first word names, and runs it."""
    import hydra

    from toolorchestra.config import register

    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        raise ValueError(f"synthesize.py: name what is to be written: {', '.join(COMMANDS)}")
    command = sys.argv.pop(1)
    register()
    hydra.main(version_base="1.3", config_path="conf", config_name=command)(COMMANDS[command])()


if __name__ == "__main__":
    with plainly("what was written is kept, and the same command goes on"):
        main()
