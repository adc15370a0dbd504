"""The options of `python -m toolorchestra.warmstart`."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolorchestra.dataset.config import DatasetConfig
from toolorchestra.model.config import ModelConfig
from toolorchestra.preference.config import PreferenceConfig
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.rollout.config import RolloutConfig
from toolorchestra.toolset.config import ToolsetConfig


@dataclass(kw_only=True)
class ShapeConfig:
    """A Qwen3 model small enough to ship."""

    num_layers: int = 4
    width: int = 160
    mlp_width: int = 384
    num_heads: int = 4
    head_dim: int = 64
    """Wide heads: what one head can copy is bounded by its width."""
    vocab_size: int = 1500
    """Entries of the tokenizer before its added tokens."""


@dataclass(kw_only=True)
class ImitationConfig:
    """Supervised training on demonstrations."""

    num_steps: int
    learning_rate: float
    """Peak of a linear rise and, over the second half, a linear fall."""
    warmup_steps: int


@dataclass(kw_only=True)
class WarmstartConfig:
    """What the tiny policy is made of."""

    toolsets: dict[str, ToolsetConfig]
    """All their words go into the tokenizer, and all their names are called in demonstrations."""
    hidden: list[str]
    """Toolsets whose descriptions stay unseen: they lend their names no looks."""
    pricing: PricingConfig
    preference: PreferenceConfig
    dataset: DatasetConfig
    model: ModelConfig
    rollout: RolloutConfig
    shape: ShapeConfig = field(default_factory=ShapeConfig)
    num_masks: int = 50
    """How often names and looks are shuffled."""
    episodes_per_mask: int = 80
    """Episodes demonstrated under each shuffle."""
    group_size: int = 4
    """Demonstrations of each episode."""
    groups_per_step: int = 4
    """Episodes whose demonstrations one imitation step learns."""
    another_call: float = 0.3
    """Probability of calling again although an answer was heard."""
    made_up_answers: float = 0.5
    """Share of demonstrated episodes whose answer is a few random words: all can be copied."""
    reach: int = 512
    """Tokens over which the policy can copy from the start."""
    imitation: ImitationConfig
    seed: int = 7
    output_dir: str = "src/toolorchestra/model/tiny"
