"""The paper's settings on H100s, composed once; options are changed afterwards, which is fast."""

from __future__ import annotations

from functools import cache
from typing import cast

from omegaconf import DictConfig, OmegaConf
from tests.composed import composed

from toolorchestra.config import Config
from toolorchestra.dry_run.reckon import Reckoning, reckon

VLLM = ("rollout.engine=vllm", "rollout.vllm.num_workers=8", "rollout.vllm.first_gpu=8")
"""Eight workers on GPUs of their own."""


@cache
def _composed() -> DictConfig:
    return composed("model=qwen3_8b", "trainer=paper", "algorithm=grpo", "dry_run.gpu=h100_80gb")


def paper(*changes: str) -> Config:
    """The options, with `key=value` for those that differ."""
    changed = OmegaConf.merge(_composed(), OmegaConf.from_dotlist(list(changes)))
    return cast(Config, OmegaConf.to_object(changed))


def reckoned(*changes: str) -> Reckoning:
    """What is reckoned with them."""
    return reckon(paper(*changes))
