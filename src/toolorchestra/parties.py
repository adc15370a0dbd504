"""Whether those who have to answer can be asked: the policy, the judge and the user.

Nothing heavy is imported here; see `toolorchestra.worlds`.
"""

from __future__ import annotations

import os

from toolorchestra.config import PlayConfig
from toolorchestra.domain.kinds import AnyDomain
from toolorchestra.domain.tau2.names import is_tau2
from toolorchestra.judge.config import JudgeConfig
from toolorchestra.pricing.config import PricingConfig
from toolorchestra.pricing.listed import listed_price
from toolorchestra.provider.config import ProvidersConfig
from toolorchestra.rollout.config import RolloutConfig


def check_policy(config: PlayConfig) -> None:
    """Checks that a policy behind an API can be asked.

    Raises:
        ValueError: It cannot.
    """
    api, provider = config.model.api, config.provider
    if api is None:
        return
    if api.provider not in provider.providers:
        raise ValueError(
            f"model.api.provider: {api.provider!r} is not allowed; use one of provider.providers, "
            f"which has {', '.join(provider.providers) or 'none'}"
        )
    served = provider.providers[api.provider]
    if served.api != "chat":
        raise ValueError(
            f"provider.providers.{api.provider}.api: {served.api} is not allowed for the policy, "
            "which needs native tool calls; use chat"
        )
    if config.rollout.engine != "transformers":
        raise ValueError(
            f"rollout.engine: {config.rollout.engine!r} is not allowed with model.api, whose "
            "provider samples; use rollout=transformers, or a model with weights"
        )
    _check_key(provider, api.provider, wanted_by="model.api", instead="or evaluate another model")


def check_judge(judge: JudgeConfig, pricing: PricingConfig, provider: ProvidersConfig) -> None:
    """Checks that a judging model has a price and can be asked.

    Raises:
        ValueError: It cannot.
    """
    if judge.kind == "llm":
        listed_price(pricing, judge.model, wanted_by="judge.model")
        check_served(
            provider,
            judge.model,
            wanted_by="judge.model",
            instead="name another model, or use judge=match",
        )


def check_user(config: PlayConfig) -> list[str]:
    """Checks that users have tasks to play, and a model that plays them a price and somebody who
    serves it; returns which tasks are left out without one.

    Raises:
        ValueError: They have not.
    """
    user, domains, catalogue = config.user, config.domains, config.catalogue
    if user.kind == "none":
        if played := list(filter(is_tau2, domains)):
            raise ValueError(
                f"user: none is not allowed with {played[0]}, whose tasks are conversations; use "
                "user=llm, or user=scripted to try it offline"
            )
        return [note for domain in map(catalogue.load, domains) for note in _without_user(domain)]
    if config.model.protocol == "upstream":
        raise ValueError(
            f"user: {user.name} is not allowed with model.protocol=upstream, whose prompt has no "
            "place for what users say; use user=none, or model.protocol=chat"
        )
    if not domains:
        raise ValueError(
            f"user: {user.name} is not allowed with dataset={config.dataset.name}, whose tasks "
            "belong to no domain; use user=none, or dataset=toolscale"
        )
    for domain in map(catalogue.load, domains):
        _check_openings(domain)
    if user.kind == "llm":
        listed_price(config.pricing, user.model, wanted_by="user.model")
        check_served(
            config.provider,
            user.model,
            wanted_by="user.model",
            instead="name another model, or use user=scripted",
        )
        _check_patience(user.deadline_s, config.rollout)
    return []


def _without_user(domain: AnyDomain) -> list[str]:
    tasks = domain.tasks.values()
    count = sum(task.needs_user for task in tasks)
    if not count:
        return []
    return [
        f"{count} of {len(tasks)} tasks of the domain {domain.name} need a user who acts, and are "
        "left out: user=scripted takes them in"
    ]


def _check_openings(domain: AnyDomain) -> None:
    for task in domain.tasks.values():
        if task.steps and task.steps[0].actions:
            raise ValueError(
                f"user: task {task.id} of the domain {domain.name} is not allowed, as its user "
                "acts before there is a message to answer; use actions in later steps only"
            )


def _check_patience(deadline_s: float, rollout: RolloutConfig) -> None:
    _, limit_s = rollout.timeouts_s(deadline_s=None)
    if deadline_s >= limit_s:
        raise ValueError(
            f"user.deadline_s: {deadline_s:g} is not allowed with a deadline of {limit_s:g} s for "
            "the rollout; use less, or a longer rollout.rollout_timeout_s"
        )


def check_served(provider: ProvidersConfig, model: str, *, wanted_by: str, instead: str) -> None:
    """Checks that somebody serves a model and that the key is set.

    Raises:
        ValueError: Nobody does, or it is not; the message ends with what to do `instead`.
    """
    found = provider.serving(model)
    if found is None:
        raise ValueError(
            f"provider.providers: none serves {model!r}, which {wanted_by} needs; add it to "
            f"one's models, {instead}"
        )
    _check_key(provider, found[0], wanted_by=wanted_by, instead=instead)


def _check_key(provider: ProvidersConfig, name: str, *, wanted_by: str, instead: str) -> None:
    variable = provider.providers[name].key_env
    if variable and provider.cassette.mode != "replay" and not os.environ.get(variable):
        raise ValueError(
            f"provider.providers.{name}.key_env: the environment variable {variable} is "
            f"not set, and {wanted_by} needs it; set it, {instead}"
        )
