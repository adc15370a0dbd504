"""The records that flow through one training step, and nothing else.

tasks -> Episode -> Rollout (G of them make a Group) -> Score. All are frozen, keyword-only and
built from the standard library alone, so that any of them can be written to disk and read back.
Money is in US dollars, time in seconds of service (never of queueing), lengths in tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolorchestra.aliases import Front

Json = dict[str, Any]

ResultStatus = Literal["ok", "abstained", "policy_error", "provider_error"]
"""ok: an answer or output; abstained: the tool says that it does not know, or found nothing;
policy_error: the call was malformed or impossible, which the message explains; provider_error: the
tool's own fault after all retries, which voids the rollout."""

FinishReason = Literal["stop", "length", "content_filter"]

RolloutStatus = Literal["answered", "max_turns", "context_full", "truncated", "over_budget", "void"]
"""answered: the policy ended with a message that calls no tool; truncated: a turn hit its token
limit, or a filter of its provider; context_full: a turn or its results had no room; over_budget:
it cost more than it may; void: an infrastructure fault or a missed deadline, never scored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What one call consumed.

    `cached_input_tokens` and `reasoning_tokens` are parts of, not additions to, `input_tokens` and
    `output_tokens`.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0
    compute_s: float = 0.0
    """Billed run time of a tool priced by the second."""
    num_requests: int = 0
    """Requests sent to a provider, failed ones included; 0 for what sends none."""
    is_estimated: bool = False
    """Whether a count was guessed or mended, as the provider gave none or one that cannot be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What a tool costs in one pricing schedule, with where and when the figure was read."""

    usd_per_input_mtok: float = 0.0
    usd_per_output_mtok: float = 0.0
    usd_per_cached_input_mtok: float | None = None
    """None: cached input costs as much as any other."""
    usd_per_call: float = 0.0
    usd_per_second: float = 0.0
    source: str
    date: str
    borrowed_from: str | None = None
    """The schedule that lent this price, as the chosen one has none; None when it is its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A question with a checkable answer."""

    id: str
    skill: str
    """What it takes: the key of the tools' profiles, e.g. "math" or "lookup"."""
    question: str
    answer: str
    answer_kind: str = "text"
    """Chooses the matcher, see `toolorchestra.reward.match`; of a domain's task, which none judges,
    "domain", see `toolorchestra.domain.goal`."""
    metadata: Json = field(default_factory=dict)
    """The verifier's needs (e.g. a reasoning-gym entry), never shown to the policy but for
    "answer_form", which tells it how to answer. Of it tools read only "files", which the code
    interpreter puts before its programs, and what their options name, such as the documents that a
    search may find."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedTool:
    """A tool as this episode offers it: all that the policy is told of it, and its price."""

    name: str
    shown_as: str
    """The name in every table; starts with "sim/" where a simulator stands in."""
    description: str
    parameters: Json
    """JSON schema of the arguments, as in OpenAI's function format."""
    priced_as: tuple[str, ...]
    """Rows of the pricing schedules that a call is charged by, all together: one model or service,
    or a model and the service that it uses. Free tools name theirs too."""
    price: Price
    """The rates of all those rows, added up."""
    call_cost_usd: float
    """What a typical call of this task costs: told to the policy."""
    latency_s: float
    """What a typical call takes: told to the policy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Preference:
    """An instruction in words and the vector P that it means (paper, section 3.2)."""

    kind: str
    """For tables only, e.g. "frugal" or "tool"."""
    instruction: str
    outcome: float
    cost: float
    latency: float
    tools: Mapping[str, float] = field(default_factory=dict)
    """Weight of each tool's call count; absent tools weigh 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """One task with the tools, prices and preference drawn for it: plain data to be replayed."""

    id: str
    seed: int
    task: Task
    tools: tuple[OfferedTool, ...]
    pricing: str
    """Name of the schedule the prices were drawn from."""
    policy_priced_as: tuple[str, ...]
    """Rows of the pricing schedules that the policy's own tokens are charged by."""
    policy_price: Price
    preference: Preference
    is_solvable: bool
    """Whether some offered tool can solve tasks of this skill at all."""
    fronts: tuple[Front, ...] = ()
    """Under what functions and aliases the original ToolOrchestra's protocol offers the tools; a
    chat offers them by their own names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """One call as the policy wrote it."""

    id: str
    name: str
    arguments: Json


@dataclass(frozen=True, kw_only=True, slots=True)
class CallError:
    """A piece of policy output that is no valid call, and why: fed back to the policy."""

    message: str
    text: str
    """The offending output, verbatim."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolResult:
    """What a call gave back."""

    call_id: str
    name: str
    content: str
    status: ResultStatus
    usage: Usage = Usage()
    latency_s: float = 0.0
    cost_usd: float = 0.0
    metadata: Json = field(default_factory=dict)
    """Of a search, "documents": the texts found, best first; of a model that wrote a search or a
    program, "wrote"."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UserMessage:
    """What a simulated user answers a message that calls no tool, and what the user did before."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    """Of the user's own functions, which the policy has not: see `toolorchestra.domain`."""
    results: tuple[ToolResult, ...] = ()
    is_last: bool = False
    """Whether the user has no more to say: the policy's last message was its answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One policy message and what it caused: tool results, or what the user then said."""

    prompt_tokens: int
    completion_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    """Sampler log-probability of each completion id, at the sampling temperature."""
    version: int
    """Weight version that sampled this turn."""
    finish_reason: FinishReason
    text: str
    """The message without end marker: for readers and matchers, never re-tokenised for training."""
    thinking: str
    calls: tuple[ToolCall, ...]
    errors: tuple[CallError, ...]
    results: tuple[ToolResult, ...]
    policy_cost_usd: float
    user: UserMessage | None = None
    """None where the message calls a tool, and in episodes without a user."""
    is_native: bool = False
    """Whether calls came apart from the text, from an API: what looks like one in it is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One training sequence: a rollout is one row until a template rewrites its history.

    All four have one entry a token; `logprobs` and `versions` hold 0 and -1 where `loss_mask` is 0.
    """

    ids: tuple[int, ...]
    loss_mask: tuple[int, ...]
    logprobs: tuple[float, ...]
    versions: tuple[int, ...]

    def __post_init__(self) -> None:
        lengths = {len(self.ids), len(self.loss_mask), len(self.logprobs), len(self.versions)}
        assert len(lengths) == 1, f"row fields differ in length: {sorted(lengths)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerEntry:
    """One billed event of a rollout; the sum of `cost_usd` over a rollout is its cost."""

    kind: Literal["policy", "tool", "judge", "user"]
    name: str
    """The tool that was called, or "policy", or who judged or played the user."""
    priced_as: tuple[str, ...]
    """Rows of the pricing schedules whose rates apply together: the key for re-pricing."""
    usage: Usage
    cost_usd: float
    latency_s: float
    turn: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Rollout:
    """One attempt at an episode."""

    episode_id: str
    sample: int
    """0..G-1 within its group."""
    status: RolloutStatus
    turns: tuple[Turn, ...]
    rows: tuple[Row, ...]
    answer: str | None
    ledger: tuple[LedgerEntry, ...]
    fault: str = ""
    """Why the rollout is void."""
    wall_s: float = 0.0
    """How long it really took here, queueing included: for monitoring, never for the reward."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Whether an answer solves a task. `is_solved` is None where that could not be decided."""

    is_solved: bool | None
    decided_by: str
    """e.g. "match:number", "reasoning_gym", "judge"."""
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measures:
    """The vector M of one rollout (paper, section 3.2); cost and latency are positive amounts."""

    tool_counts: Mapping[str, int]
    """One entry for every offered tool, zero counts included."""
    outcome: float
    cost_usd: float
    latency_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """Reward of one rollout within its group, and its parts before weighting by P."""

    reward: float
    terms: Mapping[str, float]
    """Weighted contributions: "outcome", "cost", "latency", "tools"; they sum to `reward`."""
    measures: Measures
    verdict: Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """The scored rollouts of one episode, in order of `sample`."""

    episode: Episode
    rollouts: tuple[Rollout, ...]
    scores: tuple[Score, ...]
