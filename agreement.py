"""Compare two judges: python agreement.py file=RUN/trajectories.jsonl [judge@second=llm]."""

from __future__ import annotations

from typing import Any

from toolorchestra.entry.plainly import plainly


def run(config: Any) -> None:
    """Judges answers twice; see `toolorchestra.agreement`."""
    from toolorchestra.agreement import compare_judges

    compare_judges(config)


def main() -> None:
    """Composes the config of the command line and runs it."""
    import hydra

    from toolorchestra.config import register

    register()
    hydra.main(version_base="1.3", config_path="conf", config_name="agreement")(run)()


if __name__ == "__main__":
    with plainly("judgements made so far are in the judges' caches, if they have one"):
        main()
