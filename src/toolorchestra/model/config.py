"""Options of the `model` group."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolorchestra.chat.config import UpstreamConfig

DTYPES = ("float32", "bfloat16")
TOOL_STYLES = ("full", "compact")
TEMPLATES = ("own", "qwen3")
PROTOCOLS = ("chat", "upstream")


@dataclass(kw_only=True)
class LoraConfig:
    """Low-rank adapters (arXiv 2106.09685): all else of the policy stays as it is."""

    rank: int = 0
    """Of each adapter; 0: all weights are trained."""
    alpha: float = 32.0
    """An adapter's part is scaled by alpha / rank."""
    targets: list[str] = field(
        default_factory=lambda: [
            "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj",
        ]
    )  # fmt: skip
    """Names of the matrices that get one."""

    def __post_init__(self) -> None:
        if self.rank < 0:
            raise ValueError(f"model.lora.rank: {self.rank} is not allowed; use 0 or more")
        if not self.alpha > 0:
            raise ValueError(f"model.lora.alpha: {self.alpha} is not allowed; use more than 0")
        if self.rank and not self.targets:
            raise ValueError("model.lora.targets: [] is not allowed; name matrices, e.g. q_proj")


@dataclass(kw_only=True)
class ShapeConfig:
    """The shape of a decoder of Qwen3's build, under the names of its config.json."""

    of: str
    """The hub name that it is the shape of."""
    num_hidden_layers: int
    hidden_size: int
    intermediate_size: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int
    tie_word_embeddings: bool
    """Whether the output layer is the embeddings."""

    def __post_init__(self) -> None:
        for key, value in vars(self).items():
            if isinstance(value, int) and not isinstance(value, bool) and value < 1:
                raise ValueError(
                    f"model.shape.{key}: {value} is not allowed; use a whole number from 1"
                )
        if self.num_attention_heads % self.num_key_value_heads:
            raise ValueError(
                f"model.shape.num_key_value_heads: {self.num_key_value_heads} is not allowed; "
                f"use a divisor of {self.num_attention_heads} (num_attention_heads)"
            )


@dataclass(kw_only=True)
class ApiConfig:
    """A policy behind an OpenAI-compatible API, with native tool calls: for evaluation alone."""

    provider: str
    """Which of provider.providers serves it; model.path is its own id of the model."""
    temperature: float | None = 1.0
    """Where benchmark.is_greedy is false; with it, 0 is sent. null: none is sent either way, for
    models that refuse it."""
    reasoning_effort: str | None = None
    """For reasoning models, e.g. "low" or "high"; null: the provider's choice."""
    parallel_calls: bool | None = None
    """Whether a message may call several tools; null: the provider's choice."""
    sends_reasoning: bool = False
    """Whether the policy is shown its earlier thoughts, as reasoning_content."""

    def __post_init__(self) -> None:
        if not self.provider:
            raise ValueError("model.api.provider: '' is not allowed; name one of the providers")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise ValueError(
                f"model.api.temperature: {self.temperature} is not allowed; use 0 to 2, or null"
            )


@dataclass(kw_only=True)
class ModelConfig:
    """The policy, and how it is spoken to."""

    name: str = "tiny"
    path: str = "tiny"
    """A local folder or a hub name; "tiny" is the policy that ships with the project. With `api`,
    the provider's id of the model."""
    api: ApiConfig | None = None
    """Who answers for a policy without weights here; null: it is loaded from `path`."""
    dtype: str = "float32"
    """Precision of the weights in memory."""
    max_context: int = 1024
    """Tokens a rollout may hold, prompt and turns together (paper: 24,000 + 8,000)."""
    max_new_tokens: int = 64
    """Tokens that one turn may take (paper: 8,000)."""
    protocol: str = "chat"
    """"chat": a conversation that grows; "upstream": the original ToolOrchestra's, whose prompt is
    rebuilt in every turn and whose tools stand behind aliases (toolset.fronts)."""
    upstream: UpstreamConfig = field(default_factory=UpstreamConfig)
    """The words of the latter."""
    system_prompt: str = "Solve the task with the tools."
    """First line of every conversation."""
    tool_style: str = "compact"
    """How tools are shown: "full" JSON schemas, or "compact" without their parameters."""
    template: str = "qwen3"
    """Chat template: "qwen3" is the project's, "own" the one that the tokenizer carries."""
    is_thinking: bool = False
    """Whether the policy writes down its reasoning before it acts."""
    priced_as: str = "tiny-policy"
    """Whose price in the schedule the policy's own tokens cost."""
    lora: LoraConfig = field(default_factory=LoraConfig)
    train_embeddings: bool = True
    """Whether the embeddings are trained, and with them an output layer that is tied to them."""
    shape: ShapeConfig | None = None
    """For dry runs where the hub cannot be reached; a run itself reads the model's own."""

    def __post_init__(self) -> None:
        for key, allowed in (
            ("dtype", DTYPES),
            ("tool_style", TOOL_STYLES),
            ("template", TEMPLATES),
            ("protocol", PROTOCOLS),
        ):
            value = getattr(self, key)
            if value not in allowed:
                raise ValueError(
                    f"model.{key}: {value!r} is not allowed; use {' or '.join(allowed)}"
                )
        if self.max_context < 16:
            raise ValueError(
                f"model.max_context: {self.max_context} is not allowed; use at least 16"
            )
        if not 1 <= self.max_new_tokens <= self.max_context:
            raise ValueError(
                f"model.max_new_tokens: {self.max_new_tokens} is not allowed; "
                f"use 1 to {self.max_context} (model.max_context)"
            )
        if not self.path:
            raise ValueError("model.path: '' is not allowed; use a folder, a hub name, or tiny")
        if self.api is not None and self.protocol != "chat":
            raise ValueError(
                f"model.protocol: {self.protocol!r} is not allowed with model.api; use chat"
            )
