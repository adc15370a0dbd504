"""Train an orchestrator: python train.py [toolset=unseen] [pricing=alt] [-m]."""

from __future__ import annotations

from typing import Any

from toolorchestra.entry.plainly import plainly


def run(config: Any) -> Any:
    """Runs one training and returns its folder; see `toolorchestra.run`."""
    from toolorchestra.entry.quiet import quieten_libraries

    quieten_libraries()
    if config.dry_run.gpu:
        from toolorchestra.dry_run.command import dry_run

        return dry_run(config)
    from toolorchestra.run import train

    return train(config)


def main() -> None:
    """Composes the config of the command line and runs it, once or as a sweep."""
    import hydra

    from toolorchestra.config import register

    register()
    hydra.main(version_base="1.3", config_path="conf", config_name="train")(run)()


if __name__ == "__main__":
    with plainly("the same command with resume=auto goes on from the last checkpoint"):
        main()
