"""Options of the `rollout` group."""

from __future__ import annotations

from dataclasses import dataclass, field

from toolorchestra.engine.vllm.config import VllmConfig

ENGINES = ("transformers", "vllm")


TOOL_TIMEOUT_S = 60.0
GRACE_S = 30.0
"""What a call that has a deadline of its own is given beyond it."""
CALLS_PER_ROLLOUT = 10


def _require(condition: bool, key: str, value: object, allowed: str) -> None:
    if not condition:
        raise ValueError(f"rollout.{key}: {value!r} is not allowed; use {allowed}")


@dataclass(kw_only=True)
class RolloutConfig:
    """How the policy's messages are sampled and its calls carried out."""

    name: str = "transformers"
    engine: str = "transformers"
    """What samples the policy: "transformers", a model in this process; "vllm", servers."""
    vllm: VllmConfig = field(default_factory=VllmConfig)
    """The servers, with engine=vllm."""
    max_turns: int = 50
    """Turns an episode may take (paper: 50)."""
    temperature: float = 1.0
    """Must be 1: the update scores tokens at temperature 1. Evaluation is greedy (paper: 0)."""
    top_p: float = 1.0
    """Must be 1: the update scores tokens under the whole distribution."""
    top_k: int = 0
    """Must be 0 (off), for the same reason."""
    max_concurrent: int = 128
    """Rollouts in flight at once, and the engine's slots."""
    max_staleness: int = 0
    """Updates that the weights may be ahead of those that began a group. 0: sampling and training
    take turns; 1: the next step is sampled while this one is trained. Needs engine=vllm."""
    max_replacements: int = 48
    """Groups that are played in a step in place of ones that the filters dropped, so that it stays
    full. Beyond them a step trains on fewer groups: a policy with little left to learn ends too."""
    batch_wait_s: float = 60.0
    """Longest that waiting rollouts are held for others that are in a tool."""
    prefill_tokens: int = 16384
    """Tokens computed in one forward pass, padding included."""
    tool_timeout_s: float | None = None
    """Deadline of one tool call; beyond it the tool is at fault. None: 60 s, and with real experts
    a little more than the provider.deadline_s at which their calls end by themselves."""
    rollout_timeout_s: float | None = None
    """Deadline of one rollout; beyond it the rollout is void. None: that of ten tool calls."""
    max_cost_usd: float | None = None
    """Dollars, simulated ones too, beyond which a rollout ends without an answer. None: any."""
    max_redispatch: int = 2
    """Times that a void rollout is tried anew."""

    def __post_init__(self) -> None:
        _require(self.engine in ENGINES, "engine", self.engine, " or ".join(ENGINES))
        for key in ("max_turns", "max_concurrent", "prefill_tokens"):
            _require(getattr(self, key) >= 1, key, getattr(self, key), "a whole number from 1")
        if self.max_cost_usd is not None:
            is_allowed = self.max_cost_usd > 0
            _require(is_allowed, "max_cost_usd", self.max_cost_usd, "dollars above 0, or null")
        for key in ("batch_wait_s", "tool_timeout_s", "rollout_timeout_s"):
            value = getattr(self, key)
            _require(value is None or value > 0, key, value, "seconds above 0")
        for key in ("max_redispatch", "max_staleness", "max_replacements"):
            _require(getattr(self, key) >= 0, key, getattr(self, key), "a whole number from 0")
        if self.engine == "transformers":
            inside = "0 with rollout.engine=transformers, whose weights are the trainer's own"
            _require(self.max_staleness == 0, "max_staleness", self.max_staleness, inside)
        if self.vllm.sleep:
            awake = "0 with rollout.vllm.sleep=true"
            _require(self.max_staleness == 0, "max_staleness", self.max_staleness, awake)
        support = "1: the update scores tokens under the whole distribution"
        _require(self.top_p == 1, "top_p", self.top_p, support)
        _require(self.top_k == 0, "top_k", self.top_k, support.replace("1:", "0 (off):"))
        _require(
            self.temperature == 1,
            "temperature",
            self.temperature,
            "1: the update scores tokens at temperature 1",
        )

    def timeouts_s(self, *, deadline_s: float | None) -> tuple[float, float]:
        """Deadlines of a tool call and of a rollout, in seconds.

        Args:
            deadline_s: When calls of real experts end by themselves; None: there are none.
        """
        by_itself = TOOL_TIMEOUT_S if deadline_s is None else deadline_s + GRACE_S
        tool_s = self.tool_timeout_s or by_itself
        return tool_s, self.rollout_timeout_s or CALLS_PER_ROLLOUT * tool_s
