r"""Builds an index from a corpus, serves one, or checks one.

    python -m toolorchestra.retrieval build corpus=jsonl corpus.path=docs.jsonl encoder=minilm \
        index=hnsw out=outputs/index
    python -m toolorchestra.retrieval serve --index outputs/index --port 8900
    python -m toolorchestra.retrieval check --index outputs/index

The words of `build` are options of conf/retrieval/: corpus=wiki|jsonl|dataset,
encoder=hashed|minilm|hf|qwen3_embedding_8b, index=flat|ivf|hnsw; single values: index.m=16.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from toolorchestra.retrieval.config import BuildConfig
from toolorchestra.retrieval.serve import add_options

CONF = Path(__file__).parents[3] / "conf" / "retrieval"

ConfigStore.instance().store(name="build_schema", node=BuildConfig)


def compose_build(words: Sequence[str]) -> BuildConfig:
    """The config of a build.

    Raises:
        ValueError: A word is not allowed.
    """
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            found = compose("build", overrides=list(words))
        return cast(BuildConfig, OmegaConf.to_object(found))
    except (HydraException, OmegaConfBaseException) as error:
        told = f"{error}; {error.__cause__}" if error.__cause__ is not None else str(error)
        reason = told.partition("Config search path")[0]
        lines = [line for line in reason.splitlines() if "_type=" not in line]
        raise ValueError(" ".join(" ".join(lines).replace("full_key:", "").split())) from error


def _build(asked: argparse.Namespace) -> None:
    config = compose_build(asked.words)
    from toolorchestra.retrieval.build import build

    if config.num_threads:
        import faiss
        import torch

        faiss.omp_set_num_threads(config.num_threads)
        torch.set_num_threads(config.num_threads)
    build(config)


def _serve(asked: argparse.Namespace) -> None:
    from toolorchestra.retrieval.serve import options_of, serve

    asyncio.run(serve(options_of(asked)))


def _check(asked: argparse.Namespace) -> None:
    from toolorchestra.codec import to_json
    from toolorchestra.retrieval.index import open_index
    from toolorchestra.retrieval.manifest import check_files

    manifest = open_index(asked.index, device=asked.device).manifest
    check_files(asked.index, manifest, is_thorough=True)
    print(json.dumps(to_json(manifest), indent=1))


def main(arguments: Sequence[str]) -> int:
    """Does what the first word says; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m toolorchestra.retrieval",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", required=True)
    building = actions.add_parser("build", help="from a corpus")
    building.add_argument("words", nargs="*", metavar="key=value")
    add_options(actions.add_parser("serve", help="over HTTP"))
    checking = actions.add_parser("check", help="reads every file, and prints the manifest")
    checking.add_argument("--index", type=Path, required=True)
    checking.add_argument("--device", help="where a model runs (as the index says)")
    asked = parser.parse_args(arguments)
    acts: dict[str, Callable[[argparse.Namespace], None]] = {
        "build": _build,
        "serve": _serve,
        "check": _check,
    }
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        acts[asked.action](asked)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: nothing is left of what was not finished", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
