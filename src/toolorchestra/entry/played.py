"""What of a config decides how an evaluation is played and judged.

Records are taken over where all of this is the same. Places, limits of speed and of patience, and
threads may differ: a trial that missed a deadline is void, and is played again anyway.
"""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import Any

GROUPS = (
    "toolset", "provider", "expert", "pricing", "preference", "dataset", "benchmark", "model",
    "rollout", "user", "judge", "seed",
)  # fmt: skip
NOT_DECIDING = (
    "judge.cache",
    "judge.max_concurrent",
    "judge.max_unscored_share",
    "judge.unscored_window",
    "judge.deadline_s",
    "user.deadline_s",
    "provider.cassette.path",
    "provider.deadline_s",
    "provider.providers.*.key_env",
    "provider.providers.*.max_concurrent",
    "provider.providers.*.requests_per_minute",
    "provider.providers.*.tokens_per_minute",
    "provider.providers.*.retry_*",
    "provider.providers.*_timeout_s",
    "rollout.batch_wait_s",
    "rollout.max_concurrent",
    "rollout.max_redispatch",
    "rollout.max_replacements",
    "rollout.max_staleness",
    "rollout.prefill_tokens",
    "rollout.*timeout_s",
    "rollout.vllm.*",
)
"""Patterns of keys of these groups that decide nothing."""


def deciding(config: dict[str, Any]) -> dict[str, Any]:
    """The deciding values of a resolved config, by dotted key, in its order."""
    flat = flattened({key: config[key] for key in config if key in GROUPS})
    return {
        key: value
        for key, value in flat.items()
        if not any(fnmatchcase(key, pattern) for pattern in NOT_DECIDING)
    }


def flattened(config: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """All values of a config by dotted key; what is empty counts as a value."""
    flat: dict[str, Any] = {}
    for key, value in config.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value:
            flat |= flattened(value, f"{name}.")
        else:
            flat[name] = value
    return flat


def first_difference(then: dict[str, Any], now: dict[str, Any]) -> str | None:
    """The first key whose value differs, with both values; None where none does."""
    for key in (*now, *(key for key in then if key not in now)):
        if key not in then or key not in now or then[key] != now[key]:
            return f"{key} was {_shown(then, key)} and is {_shown(now, key)}"
    return None


def _shown(values: dict[str, Any], key: str) -> str:
    if key not in values:
        return "absent"
    text = json.dumps(values[key], ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
