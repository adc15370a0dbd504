"""Serve open-weight experts: python serve.py toolset=unseen launcher=slurm_h100 [action=status]."""

from __future__ import annotations

from typing import Any

from toolorchestra.entry.plainly import plainly


def run(config: Any) -> None:
    """Starts, shows or stops servers; see `toolorchestra.serve`."""
    from toolorchestra.serve import serve

    serve(config)


def main() -> None:
    """Composes the config of the command line and runs it."""
    import hydra

    from toolorchestra.config import register

    register()
    hydra.main(version_base="1.3", config_path="conf", config_name="serve")(run)()


if __name__ == "__main__":
    with plainly("jobs go on; action=status shows them, action=stop ends them"):
        main()
