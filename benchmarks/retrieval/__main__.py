"""The search server's throughput under 64 clients over that under one, and indices' recall.

python -m benchmarks.retrieval [--encoder minilm] [--passages 20000]
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import tempfile
import time
from pathlib import Path

import faiss
import torch

from benchmarks.retrieval.corpus import Writer, write_corpus
from benchmarks.retrieval.recall import Recall, measure
from benchmarks.retrieval.throughput import searches_a_second, server
from toolorchestra.report.table import Table
from toolorchestra.retrieval.build import build
from toolorchestra.retrieval.config import BuildConfig, CorpusConfig, EncoderConfig, IndexConfig
from toolorchestra.retrieval.encoders import load_encoder
from toolorchestra.retrieval.vectors import read_index

NUM_CLIENTS = 64
APPROXIMATE = (
    (IndexConfig(kind="ivf", nlist=128), (8, 32)),
    (IndexConfig(kind="hnsw", m=16, ef_construction=40), (64, 256)),
)
"""Small ones, as the hashed encoder's vectors have 4,096 numbers; and how hard each is searched."""


def main() -> None:
    """Measures, and prints one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--encoder", choices=("hashed", "minilm"), default="hashed")
    parser.add_argument("--queries", type=int, default=100, help="for the recall")
    parser.add_argument("--searches", type=int, default=512, help="of all clients, per round")
    asked = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    faiss.omp_set_num_threads(1)
    torch.set_num_threads(1)
    begun, writer = time.monotonic(), Writer(seed=0)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "index"
        write_corpus(path := Path(place) / "docs.jsonl", writer, count=asked.passages)
        config = BuildConfig(
            corpus=CorpusConfig(kind="jsonl", path=str(path)),
            encoder=EncoderConfig(kind=asked.encoder),
            index=IndexConfig(kind="flat"),
            out=str(folder),
        )
        build(config)
        texts = [writer.text(6) for _ in range(asked.queries)]
        rates = asyncio.run(_rates(folder, texts, asked.searches))
        flat = read_index(folder, config.index)
        queries = load_encoder(config.encoder, folder).encode_queries(texts)
        recalls = [
            recall
            for index, efforts in APPROXIMATE
            for recall in measure(flat, queries, index, efforts)
        ]
    title = f"{asked.passages:,} passages, encoder {asked.encoder}, one thread"
    print(_table(title, rates, recalls).to_markdown())
    print(f"{time.monotonic() - begun:.0f} s")


async def _rates(folder: Path, texts: list[str], num_searches: int) -> tuple[float, float]:
    """Searches a second of one client, and of many."""
    with server(folder, max_batch=NUM_CLIENTS) as url:
        await searches_a_second(url, texts, num_clients=NUM_CLIENTS, num_searches=NUM_CLIENTS)
        alone = await searches_a_second(
            url, texts, num_clients=1, num_searches=max(1, num_searches // 8)
        )
        together = await searches_a_second(
            url, texts, num_clients=NUM_CLIENTS, num_searches=num_searches
        )
    return alone, together


def _table(title: str, rates: tuple[float, float], recalls: list[Recall]) -> Table:
    alone, together = rates
    rows = [
        (f"searches a second, {NUM_CLIENTS} clients over one", together / alone, None),
        *((f"recall@10, {each.label}", each.share, each.speed_up) for each in recalls),
    ]
    return Table(
        title=title,
        columns=("what", "value", "times as fast as flat"),
        rows=tuple(rows),
        digits={"times as fast as flat": 1},
        note=f"On this machine: {alone:.0f} searches a second alone, {together:.0f} together.",
    )


if __name__ == "__main__":
    main()
