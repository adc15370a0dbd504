"""Options of the vLLM workers, a node of the `rollout` group."""

from __future__ import annotations

from dataclasses import dataclass, field

TRANSFERS = ("file", "nccl", "ipc")


def _require(condition: bool, key: str, value: object, allowed: str) -> None:
    if not condition:
        raise ValueError(f"rollout.vllm.{key}: {value!r} is not allowed; use {allowed}")


@dataclass(kw_only=True)
class VllmConfig:
    """vLLM servers that sample the policy: started, watched and ended here, or given as URLs."""

    num_workers: int = 1
    """Servers to start; rollouts are spread over them."""
    urls: list[str] = field(default_factory=list)
    """Servers that run already, e.g. http://node7:8000; then none is started. They need vLLM's
    development mode (VLLM_SERVER_DEV_MODE=1), which alone lets weights be replaced."""
    tensor_parallel: int = 1
    """GPUs that one worker is split over."""
    first_gpu: int = 0
    """Number of the first GPU that workers take; those before it are the trainer's."""
    kv_cache_gib: float = 0.0
    """Memory of a worker's keys and values. 0: what vLLM finds left on a GPU; on a CPU, 1."""
    extra_args: list[str] = field(default_factory=list)
    """More arguments for the server, as vLLM's command line takes them."""
    env: dict[str, str] = field(default_factory=dict)
    """Environment variables of the workers."""
    transfer: str = "file"
    """How newer weights get there: "file", through a folder; "nccl" or "ipc", vLLM's own transfer
    from the trainer's GPU to the workers', the latter within one node."""
    weights_dir: str | None = None
    """Folder through which weights reach the workers, seen by all; null: `weights` in the run's
    own. /dev/shm/… spares the disk within a node."""
    sleep: bool = False
    """Whether workers give up their GPU memory while the weights are updated: for a policy that
    trains on the same GPUs. Needs rollout.max_staleness=0."""
    start_timeout_s: float = 900.0
    """Longest that a worker may take to start."""
    load_timeout_s: float = 300.0
    """Longest that a worker may take to load weights."""
    request_timeout_s: float = 600.0
    """Longest that one message may take."""
    max_restarts: int = 5
    """Times in a row that a worker is started anew before any of them has sampled anything."""
    max_logprob_gap: float | None = None
    """Largest mean difference between the trainer's and a worker's log-probabilities of the same
    tokens after a load; beyond it the run stops. null: 1e-3 in float32, 0.1 in bfloat16."""

    def __post_init__(self) -> None:
        """Checks ranges.

        Raises:
            ValueError: Names the key, its value and what is allowed.
        """
        for key in ("num_workers", "tensor_parallel"):
            _require(getattr(self, key) >= 1, key, getattr(self, key), "a whole number from 1")
        for key in ("first_gpu", "max_restarts"):
            _require(getattr(self, key) >= 0, key, getattr(self, key), "a whole number from 0")
        for key in ("start_timeout_s", "load_timeout_s", "request_timeout_s"):
            _require(getattr(self, key) > 0, key, getattr(self, key), "seconds above 0")
        _require(self.kv_cache_gib >= 0, "kv_cache_gib", self.kv_cache_gib, "0 or more")
        _require(self.transfer in TRANSFERS, "transfer", self.transfer, ", ".join(TRANSFERS))
        gap = self.max_logprob_gap
        _require(gap is None or gap > 0, "max_logprob_gap", gap, "a number above 0, or null")
        for url in self.urls:
            is_url = url.startswith(("http://", "https://"))
            _require(is_url, "urls", url, "addresses that begin with http:// or https://")
        repeated = len(set(self.urls)) < len(self.urls)
        _require(not repeated, "urls", self.urls, "each address once")
