"""Evaluate an orchestrator: python evaluate.py [model.path=FOLDER] [toolset=unseen] [-m]."""

from __future__ import annotations

from typing import Any

from toolorchestra.entry.plainly import plainly


def run(config: Any) -> Any:
    """Runs one evaluation and returns its folder; see `toolorchestra.evaluate`."""
    from toolorchestra.entry.quiet import quieten_libraries

    quieten_libraries()
    from toolorchestra.evaluate import evaluate

    return evaluate(config)


def main() -> None:
    """Composes the config of the command line and runs it, once or as a sweep."""
    import hydra

    from toolorchestra.config import register

    register()
    hydra.main(version_base="1.3", config_path="conf", config_name="evaluate")(run)()


if __name__ == "__main__":
    with plainly("the same command with resume=auto goes on from what is recorded"):
        main()
