"""An MCP server whose tools a toolset takes in, as the user writes it in `conf/mcp/<name>.yaml`.

Secrets stay out of it: it names environment variables, and never holds what is in them.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from toolorchestra.tool.config import Odds

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(kw_only=True)
class McpToolConfig:
    """What is said of one tool of a server in place of what holds for all of them."""

    description: str | None = None
    """A few words for the policy; null: the server's own."""
    priced_as: str | None = None
    latency_s: float | None = None
    profile: dict[str, Odds] = field(default_factory=dict)
    """Odds by skill, as far as they are known; where a skill is absent, none are."""


@dataclass(kw_only=True)
class McpServerConfig:
    """One server: a command that speaks over its standard streams, or a URL."""

    command: str = ""
    """Program to start. One process serves all rollouts of a run."""
    args: list[str] = field(default_factory=list)
    env: list[str] = field(default_factory=list)
    """Names of environment variables that the program gets, besides PATH, HOME and the like."""
    url: str = ""
    """Address of a server that speaks streamable HTTP."""
    key_env: str = ""
    """Name of the environment variable that holds the bearer token for `url`."""
    include: list[str] = field(default_factory=list)
    """Tools to take, as the server calls them; none: all."""
    exclude: list[str] = field(default_factory=list)
    """Tools to leave, as the server calls them."""
    prefix: str = ""
    """What the names of its tools begin with here."""
    priced_as: str
    """Service whose row of the pricing schedule is charged for a call."""
    latency_s: float
    """Service time of a typical call, in seconds; also what every call is charged."""
    start_timeout_s: float = 30.0
    """Longest that the server may take until it can be asked."""
    call_timeout_s: float = 20.0
    """Longest that one attempt of a call may take; less than rollout.tool_timeout_s."""
    max_attempts: int = 3
    """Times that a call is tried where the server fails. 1 for tools that must not act twice."""
    max_result_characters: int = 8000
    """A longer result is cut."""
    max_message_bytes: int = 4 * 1024 * 1024
    """A longer message is the server's fault."""
    tools: dict[str, McpToolConfig] = field(default_factory=dict)
    """What differs for single tools, by the server's name for them."""

    def __post_init__(self) -> None:
        self._check_address()
        self._check_words()
        for key in ("start_timeout_s", "call_timeout_s"):
            if not (math.isfinite(getattr(self, key)) and getattr(self, key) > 0):
                _refuse(key, getattr(self, key), "seconds above 0")
        for key in ("max_attempts", "max_result_characters", "max_message_bytes"):
            if getattr(self, key) < 1:
                _refuse(key, getattr(self, key), "a whole number from 1")

    def _check_address(self) -> None:
        if bool(self.command) == bool(self.url):
            given = f"command {self.command!r} and url {self.url!r}"
            _refuse("command", given, "one of the two")
        if self.url:
            parts = urlsplit(self.url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                _refuse("url", repr(self.url), "an address that begins with http:// or https://")
            if parts.username or parts.password:
                _refuse("url", "one with a password", "key_env, as secrets do not belong here")
            for key in ("args", "env"):
                if getattr(self, key):
                    _refuse(key, getattr(self, key), "it with a command, not with a url")
        elif self.key_env:
            _refuse("key_env", repr(self.key_env), "it with a url, and env with a command")

    def _check_words(self) -> None:
        for key, names in (("env", self.env), ("key_env", [self.key_env] if self.key_env else [])):
            for name in names:
                if not _VARIABLE.fullmatch(name):  # it may be a secret put here by mistake
                    _refuse(key, "what is no variable's name", "the name, never the value")
        if self.prefix and not _NAME.fullmatch(self.prefix):
            _refuse("prefix", repr(self.prefix), "letters, digits, '_' or '-'")
        if both := set(self.include) & set(self.exclude):
            _refuse("exclude", repr(min(both)), "tools that are not in include")
        overrides = self.tools.items()
        prices = {
            "priced_as": self.priced_as,
            **{f"tools.{n}.priced_as": t.priced_as for n, t in overrides},
        }
        for key, price in prices.items():
            if price is not None and not price.strip():
                _refuse(key, repr(price), "the name of a price in the schedules")
        times = {
            "latency_s": self.latency_s,
            **{f"tools.{n}.latency_s": t.latency_s for n, t in overrides},
        }
        for key, time in times.items():
            if time is not None and not (math.isfinite(time) and time >= 0):
                _refuse(key, time, "a finite number from 0 up")
        for name, tool in overrides:
            if tool.description is not None and not tool.description.strip():
                _refuse(f"tools.{name}.description", repr(tool.description), "a few words")

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the environment variables that it needs."""
        return (*self.env, *([self.key_env] if self.key_env else ()))

    @property
    def prices(self) -> tuple[str, ...]:
        """Names of all the prices that its tools may be charged."""
        own = [tool.priced_as for tool in self.tools.values() if tool.priced_as is not None]
        return tuple(dict.fromkeys([self.priced_as, *own]))


def check_server_name(name: str) -> None:
    """Raises ValueError where `name` cannot stand in messages and files."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"toolset.mcp: the name {name!r} is not allowed; use letters, digits, '_' or '-'"
        )


def check_machine(
    name: str, config: McpServerConfig, environment: Mapping[str, str], *, call_limit_s: float
) -> None:
    """Whether all that a server needs is here, before anything is started.

    Raises:
        ValueError: A variable is not set, there is no such program, or a rollout's limit of
            `call_limit_s` seconds would cut a call off before the server is found to hang.
    """
    if config.call_timeout_s >= call_limit_s:
        raise ValueError(
            f"toolset.mcp.{name}.call_timeout_s: {config.call_timeout_s:g} is not allowed; use "
            f"less than rollout.tool_timeout_s, {call_limit_s:g}"
        )
    for key in config.variables:
        if not environment.get(key):
            where = "key_env" if key == config.key_env else "env"
            raise ValueError(
                f"toolset.mcp.{name}.{where}: the environment variable {key} is not set; export it"
            )
    if config.command and shutil.which(config.command, path=environment.get("PATH")) is None:
        raise ValueError(
            f"toolset.mcp.{name}.command: {config.command!r} is not found; use a program that is "
            "installed"
        )


def _refuse(key: str, value: object, allowed: str) -> None:
    raise ValueError(f"toolset.mcp.{key}: {value} is not allowed; use {allowed}")
