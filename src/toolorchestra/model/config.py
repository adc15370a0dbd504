"""Options of the `model` group."""

from __future__ import annotations

from dataclasses import dataclass

DTYPES = ("float32", "bfloat16")
TOOL_STYLES = ("full", "compact")
TEMPLATES = ("own", "qwen3")


@dataclass(kw_only=True)
class ModelConfig:
    """The policy, and how it is spoken to."""

    name: str = "tiny"
    path: str = "tiny"
    """A local folder or a hub name; "tiny" is the policy that ships with the project."""
    dtype: str = "float32"
    """Precision of the weights in memory."""
    max_context: int = 1024
    """Tokens a rollout may hold, prompt and turns together (paper: 24,000 + 8,000)."""
    max_new_tokens: int = 64
    """Tokens that one turn may take (paper: 8,000)."""
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

    def __post_init__(self) -> None:
        for key, allowed in (
            ("dtype", DTYPES),
            ("tool_style", TOOL_STYLES),
            ("template", TEMPLATES),
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
