"""Who answers for models and searches, as the user writes it in `conf/provider/`.

A key is never written here: `key_env` names the environment variable that holds it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

APIS = ("chat", "responses", "tavily", "searxng")
"""What a provider speaks: OpenAI's Chat Completions or Responses, or a search of its own."""

MODEL_APIS = ("chat", "responses")

CASSETTE_MODES = ("off", "record", "replay")

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(kw_only=True)
class ProviderConfig:
    """One provider: how it is reached, what it serves, and how hard it may be asked."""

    api: str = "chat"
    base_url: str = ""
    """Where it answers, e.g. https://api.openai.com/v1."""
    registry: str = ""
    """In place of `base_url`: the folder where servers of `serve.py` register; models are found
    there by their id."""
    key_env: str = ""
    """Name of the environment variable that holds the key; empty where none is needed."""
    models: dict[str, str] = field(default_factory=dict)
    """By name in the pricing schedules (`tool.priced_as`), the provider's own id."""
    max_concurrent: int = 16
    """Requests in flight at once."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    """Of input and output together, as estimated before a request is sent."""
    connect_timeout_s: float = 10.0
    read_timeout_s: float = 300.0
    """Longest silence; a model that thinks sends nothing until it is done."""
    attempt_timeout_s: float = 600.0
    """Longest single request, however much it sends."""
    retry_first_s: float = 1.0
    """Waits between attempts are random, up to this and twice as much each time."""
    retry_longest_s: float = 60.0
    max_tokens_field: str = "max_tokens"
    """What the API calls the longest reply; OpenAI's own models want max_completion_tokens."""
    is_cached_included: bool = True
    """Whether cached input is counted within the input that is reported."""
    is_reasoning_included: bool = True
    """Whether reasoning is counted within the output that is reported."""
    extra_body: dict[str, Any] = field(default_factory=dict)
    """More fields of each request, e.g. chat_template_kwargs of a vLLM server."""

    def check(self, key: str) -> None:
        """Raises ValueError, naming `key`, for what cannot be meant."""
        if self.api not in APIS:
            _refuse(f"{key}.api", repr(self.api), ", ".join(APIS))
        if bool(self.base_url) == bool(self.registry):
            given = "both" if self.base_url else "neither"
            _refuse(f"{key}.base_url", given, "either base_url or registry")
        if self.base_url and not re.match(r"https?://[^\s/]+", self.base_url):
            _refuse(f"{key}.base_url", repr(self.base_url), "an address as http://host:port/v1")
        if self.key_env and not _VARIABLE.fullmatch(self.key_env):
            # the value itself is not shown: someone may have put a key here
            _refuse(f"{key}.key_env", "what is given", "the NAME of an environment variable")
        for name in ("max_concurrent", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and value < 1:
                _refuse(f"{key}.{name}", value, "a whole number from 1")
        for name in ("connect_timeout_s", "read_timeout_s", "attempt_timeout_s"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                _refuse(f"{key}.{name}", value, "seconds above 0")
        for name in ("retry_first_s", "retry_longest_s"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                _refuse(f"{key}.{name}", value, "seconds from 0")


@dataclass(kw_only=True)
class CassetteConfig:
    """Whether what providers answer is written down, or read back in their place."""

    mode: str = "off"
    """off, record, or replay: then nothing is asked and no key is needed."""
    path: str = ""
    """The file; record refuses to write over one."""

    def __post_init__(self) -> None:
        if self.mode not in CASSETTE_MODES:
            _refuse("cassette.mode", repr(self.mode), ", ".join(CASSETTE_MODES))
        if (self.mode == "off") != (not self.path):
            _refuse("cassette.path", repr(self.path), "a file with record and replay, else none")


@dataclass(kw_only=True)
class ProvidersConfig:
    """All providers that a run may ask."""

    name: str
    providers: dict[str, ProviderConfig] = field(default_factory=dict)
    """In order of preference: the first that serves a model is asked for it."""
    deadline_s: float = 600.0
    """How long one call may take with all its attempts; less than rollout.tool_timeout_s."""
    max_reply_mb: float = 8.0
    """Largest reply that is read; an endless one is a fault."""
    max_argument_chars: int = 1_000_000
    """Longest text that a call may pass on; beyond it the call is refused to the policy."""
    cassette: CassetteConfig = field(default_factory=CassetteConfig)

    def __post_init__(self) -> None:
        for name, provider in self.providers.items():
            provider.check(f"providers.{name}")
        for key in ("deadline_s", "max_reply_mb"):
            value = getattr(self, key)
            if not (math.isfinite(value) and value > 0):
                _refuse(key, value, "a finite number above 0")
        if self.max_argument_chars < 1:
            _refuse("max_argument_chars", self.max_argument_chars, "a whole number from 1")

    def serving(self, model: str) -> tuple[str, ProviderConfig] | None:
        """The first provider that serves a model, by its name in the pricing; None: none does."""
        for name, provider in self.providers.items():
            if model in provider.models:
                return name, provider
        return None


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"provider.{key}: {value} is not allowed; use {allowed}")
