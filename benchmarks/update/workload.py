"""The rows and weights that all sides of the benchmark train on, made once and kept in a folder.

Two workloads: `local`, the rollouts of one step of the local world, played by the tiny policy; and
`paper`, random rows with the lengths of the paper's, scaled down, for a random model. Each row has
the log-probabilities that the model itself gives it, so that all ratios are 1 and nothing is
clipped: every side then has the same loss.

    python -m benchmarks.update.workload FOLDER --name paper
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import gettempdir
from typing import cast

import torch
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from transformers import AutoModelForCausalLM, PreTrainedModel, Qwen3Config, Qwen3ForCausalLM

from benchmarks.rollout.figures import tell
from toolorchestra.algorithm.advantages import group_relative
from toolorchestra.build import build_engine, build_sampler, build_speaker, build_tools
from toolorchestra.config import Config, register
from toolorchestra.dataset.source import make_source
from toolorchestra.model.policy import load_policy
from toolorchestra.rollout.player import Stage
from toolorchestra.tool.domain import Environments
from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.trainer.collect import Scorer
from toolorchestra.types import Row

CONF = Path(__file__).parents[2] / "conf"
ROWS = "rows.pickle"
GROUP_SIZE = 8
MAX_WAVES = 20
"""Times that a step's episodes are played anew in place of groups that taught nothing."""

MAX_PROMPT, MAX_REST = 24_000, 8_000
"""The paper's limits, in tokens."""
VOCAB, WIDTH, LAYERS = 1024, 256, 4
"""Of the random model. The output layer has 8% of its weights, as Qwen3-8B's has: both peers run it
over whole prompts on a CPU, and a larger one would flatter us."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One step's data."""

    name: str
    rows: tuple[TrainingRow, ...]
    max_tokens: int
    """Budget of a micro-batch, padding and all."""
    folder: Path
    """Where it is kept; gradients go there too."""

    def load_model(self) -> PreTrainedModel:
        """The weights before the update."""
        model = AutoModelForCausalLM.from_pretrained(self.folder, attn_implementation="sdpa")
        return cast(PreTrainedModel, model.train())


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much of it there is."""

    groups: int
    max_tokens: int
    scale: float = 1.0
    """Of the paper's lengths."""


SIZES = {
    "local": Size(groups=16, max_tokens=4096),  # as trainer=cpu has it
    "paper": Size(groups=4, max_tokens=8192, scale=1 / 20),
}
QUICK = {
    "local": Size(groups=2, max_tokens=2048),
    "paper": Size(groups=2, max_tokens=256, scale=1 / 400),
}


def make(name: str, size: Size, folder: Path) -> Workload:
    """Makes a workload and writes it down."""
    if name == "local":
        model, rows = _play(size.groups)
    else:
        model = random_model()
        rows = random_rows(size.groups, size.scale)
    model.save_pretrained(folder)
    workload = Workload(name=name, rows=tuple(rows), max_tokens=size.max_tokens, folder=folder)
    workload = replace(workload, rows=tuple(_sampled(workload)))
    # as plain values: this file is also run as a script, where its own classes have another name
    kept = {"name": name, "rows": workload.rows, "max_tokens": workload.max_tokens}
    (folder / ROWS).write_bytes(pickle.dumps(kept))
    return workload


def load(folder: Path) -> Workload:
    """Reads back what `make` wrote."""
    return Workload(folder=folder, **pickle.loads((folder / ROWS).read_bytes()))


def random_model(seed: int = 0) -> PreTrainedModel:
    """Qwen3 of moderate size."""
    torch.manual_seed(seed)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=VOCAB,
            hidden_size=WIDTH,
            intermediate_size=3 * WIDTH,
            num_hidden_layers=LAYERS,
            num_attention_heads=8,
            num_key_value_heads=2,
            head_dim=32,
            max_position_embeddings=32_768,
            eos_token_id=2,
            pad_token_id=0,
            bos_token_id=None,
            tie_word_embeddings=False,
        )
    )


def random_rows(groups: int, scale: float, seed: int = 0) -> list[TrainingRow]:
    """Groups of 8 that share a prompt; behind it, turns of sampled tokens and tools' results.

    A prompt has 60 to 100% of the longest allowed, what follows 15 to 100%, in 2 to 8 turns, of
    which 30 to 70% is sampled.
    """
    rng = Random(seed)
    rows = []
    for group in range(groups):
        prompt = _tokens(rng, round(MAX_PROMPT * scale * rng.uniform(0.6, 1.0)))
        rewards = torch.tensor([rng.random() for _ in range(GROUP_SIZE)], dtype=torch.float64)
        for sample, advantage in enumerate(group_relative(rewards).tolist()):
            mask = _turns(rng, round(MAX_REST * scale * rng.uniform(0.15, 1.0)))
            row = Row(
                ids=(*prompt, *_tokens(rng, len(mask))),
                loss_mask=(*(0 for _ in prompt), *mask),
                logprobs=(0.0,) * (len(prompt) + len(mask)),
                versions=(*(-1 for _ in prompt), *(bit - 1 for bit in mask)),
            )
            rows.append(TrainingRow(row=row, advantage=advantage, name=f"{group}/{sample}"))
    return rows


def _tokens(rng: Random, count: int) -> tuple[int, ...]:
    return tuple(rng.randrange(3, VOCAB) for _ in range(count))  # the first few are control tokens


def _turns(rng: Random, count: int) -> list[int]:
    """1 for sampled tokens, 0 for a tool's; the last turn, an answer, has no result."""
    num_turns = rng.randint(2, 8)
    sampled = max(round(count * rng.uniform(0.3, 0.7)), num_turns)
    mask: list[int] = []
    for turn in range(num_turns):
        mask += [1] * _share(sampled, turn, num_turns)
        if turn + 1 < num_turns:
            mask += [0] * _share(max(count - sampled, 0), turn, num_turns - 1)
    return mask


def _share(total: int, part: int, parts: int) -> int:
    return total * (part + 1) // parts - total * part // parts


def _play(groups: int) -> tuple[PreTrainedModel, list[TrainingRow]]:
    """A step of the local world: groups that teach nothing are played anew, as in a run."""
    register()
    with initialize_config_dir(str(CONF), version_base="1.3"):
        overrides = [f"output_dir={gettempdir()}", f"algorithm.group_size={GROUP_SIZE}"]
        options = cast(Config, OmegaConf.to_object(compose("train", overrides=overrides)))
    model, tokenizer = load_policy(options.model)
    speaker = build_speaker(options.model, tokenizer)
    engine = build_engine(options, model, speaker, Path(gettempdir()))
    tasks = make_source(options.dataset, seed=options.seed)
    sample = build_sampler(options, options.toolset, options.pricing, tasks, "train")
    score = Scorer(reward=options.reward, algorithm=options.algorithm)
    kept = []
    stage = Stage(
        tools=build_tools(options, Environments()),
        speaker=speaker,
        config=options.rollout,
        max_new_tokens=options.model.max_new_tokens,
        max_context=options.model.max_context,
    )
    with closing(stage):
        for wave in range(MAX_WAVES):
            episodes = [sample(wave * groups + index) for index in range(groups)]
            played = stage.play(engine, episodes, group_size=GROUP_SIZE, is_greedy=False)
            kept += [scored for scored in map(score, played) if scored.is_kept]
            if len(kept) >= groups:
                break
        stage.run(engine.close())
    return model, [row for scored in kept[:groups] for row in scored.rows]


@torch.no_grad()
def _sampled(workload: Workload) -> list[TrainingRow]:
    """The rows with the model's own log-probabilities."""
    model = workload.load_model().eval()
    rows = []
    for item in workload.rows:
        ids = torch.tensor([item.row.ids])
        logprobs = model(input_ids=ids).logits[0, :-1].log_softmax(-1)
        taken = [0.0, *logprobs.gather(-1, ids[0, 1:, None]).squeeze(-1).tolist()]
        masked = tuple(
            value if bit else 0.0 for value, bit in zip(taken, item.row.loss_mask, strict=True)
        )
        rows.append(replace(item, row=replace(item.row, logprobs=masked)))
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Makes one workload."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", choices=SIZES, required=True)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    size = (QUICK if options.quick else SIZES)[options.name]
    workload = make(options.name, size, options.folder)
    lengths = [len(item.row.ids) for item in workload.rows]
    tell(rows=len(lengths), tokens=sum(lengths), longest=max(lengths))


if __name__ == "__main__":
    main()
