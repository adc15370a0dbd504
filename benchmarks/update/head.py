"""Peak memory of the output layer: the project's way, chunk by chunk, against all logits at once.

Log-probability and entropy of each token over a vocabulary as large as Qwen3's, forward and
backward. The layer is narrow, as its width has no part in what the logits take. Each way and number
of tokens runs in a process of its own. What 24,000 tokens would take all at once, no common machine
has: it follows from two smaller numbers, as memory grows by the same amount with each token.

    python -m benchmarks.update.head --way chunked --tokens 24000
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Mapping, Sequence

import psutil
import torch
from torch import Tensor

from benchmarks.rollout.figures import tell
from toolorchestra.trainer.logprobs import CHUNK_LOGITS, _score

VOCAB, WIDTH = 151_936, 64
TOKENS = 24_000
"""Loss tokens of one micro-batch with the paper's lengths."""
FITTING = (1024, 2048)
"""Of which all logits fit into 10 GiB."""

# N: loss tokens, V: vocabulary, D: width


def naive(head: torch.nn.Module, hidden_ND: Tensor, targets_N: Tensor) -> tuple[Tensor, Tensor]:
    """All logits at once, in float32."""
    logprobs_NV = head(hidden_ND).float().log_softmax(-1)
    entropy_N = -(logprobs_NV.exp() * logprobs_NV).sum(-1)
    return logprobs_NV.gather(-1, targets_N[:, None]).squeeze(-1), entropy_N


def chunked(head: torch.nn.Module, hidden_ND: Tensor, targets_N: Tensor) -> tuple[Tensor, Tensor]:
    """As the update does it."""
    chunk_size = max(CHUNK_LOGITS // head.weight.shape[0], 1)
    return _score(
        head,
        hidden_ND,
        torch.arange(len(hidden_ND)),
        targets_N,
        chunk_size=chunk_size,
        num_chunks=-(-len(hidden_ND) // chunk_size),
    )


WAYS = {"naive": naive, "chunked": chunked}


def hold_back() -> None:
    """Lets an allocation fail before the machine has no memory left and ends something else."""
    room = psutil.Process().memory_info().vms + int(0.8 * psutil.virtual_memory().available)
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (room, most))


def peak_mib() -> float:
    """Most memory that this process ever had resident (Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(way: str, tokens: int, vocab: int) -> dict[str, float]:
    """Runs a way forward and backward once, and sees how far memory grew."""
    torch.manual_seed(0)
    head = torch.nn.Linear(WIDTH, vocab, bias=False)
    hidden_ND = torch.randn(tokens, WIDTH, requires_grad=True)
    targets_N = torch.randint(vocab, (tokens,))
    before_mib = psutil.Process().memory_info().rss / 2**20
    start_s = time.perf_counter()
    logprobs_N, entropy_N = WAYS[way](head, hidden_ND, targets_N)
    entropy_N = entropy_N.detach()  # an update without an entropy bonus keeps no graph of it
    (-logprobs_N.mean()).backward()
    return {
        "growth_mib": peak_mib() - before_mib,
        "took_s": time.perf_counter() - start_s,
        "tokens": tokens,
        "vocab": vocab,
    }


def by_arithmetic(
    less: Mapping[str, float], more: Mapping[str, float], tokens: int = TOKENS
) -> float:
    """What `tokens` tokens would take, in MiB, from what two smaller numbers took."""
    each = (more["growth_mib"] - less["growth_mib"]) / (more["tokens"] - less["tokens"])
    return more["growth_mib"] + (tokens - more["tokens"]) * each


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures one way."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--way", choices=WAYS, required=True)
    parser.add_argument("--tokens", type=int, default=TOKENS)
    parser.add_argument("--vocab", type=int, default=VOCAB)
    parser.add_argument("--threads", type=int, default=0, help="torch's; 0: all cores")
    options = parser.parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    hold_back()
    tell(**measure(options.way, options.tokens, options.vocab))


if __name__ == "__main__":
    main()
