"""Have models write: python synthesize.py domain=NAME|descriptions|preferences [key=value]."""

from __future__ import annotations

import sys
from typing import Any

from toolorchestra.entry.plainly import plainly


def descriptions(config: Any) -> None:
    """Writes descriptions of models; see `toolorchestra.synthesize`."""
    from toolorchestra.synthesize import write_descriptions

    write_descriptions(config)


def domain(config: Any) -> None:
    """Writes a domain with tasks; see `toolorchestra.synthesize_domain`."""
    from toolorchestra.synthesize_domain import write_domain

    write_domain(config)


def preferences(config: Any) -> None:
    """Writes a table of preference pairs; see `toolorchestra.synthesize_pairs`."""
    from toolorchestra.synthesize_pairs import write_preferences

    write_preferences(config)


COMMANDS = {"descriptions": descriptions, "preferences": preferences}
"""By the first word; where it sets a key, as in domain=NAME, a domain is written."""


def main() -> None:
    """Composes the config of the command that the first word names, and runs it."""
    import hydra

    from toolorchestra.config import register

    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if first in COMMANDS:
        command, write = sys.argv.pop(1), COMMANDS[first]
    elif "=" in first or first.startswith("-"):
        command, write = "domain", domain
    else:
        known = ", ".join(["domain=NAME", *COMMANDS])
        raise ValueError(f"synthesize.py: name what is to be written: {known}")
    register()
    hydra.main(version_base="1.3", config_path="conf", config_name=command)(write)()


if __name__ == "__main__":
    with plainly("what was written is kept, and the same command goes on"):
        main()
