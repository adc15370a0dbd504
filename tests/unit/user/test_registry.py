from dataclasses import replace

import pytest
from tests.composed import options_of

from toolorchestra.provider.providers import Providers
from toolorchestra.tool.domain import Environments
from toolorchestra.user.llm import LlmUser
from toolorchestra.user.nobody import NOBODY
from toolorchestra.user.registry import build_user
from toolorchestra.user.scripted import ScriptedUser
from toolorchestra.worlds import check_worlds

DOMAINS = ("dataset=toolscale", "user=llm")


@pytest.mark.parametrize(("name", "kind"), [("scripted", ScriptedUser), ("llm", LlmUser)])
def test_each_option_is_a_user(name, kind, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "set")
    options = options_of(f"user={name}")
    providers = Providers(options.provider)
    user = build_user(options.user, options.pricing, providers, Environments())
    assert isinstance(user, kind)


def test_without_a_user_nobody_is_asked():
    options = options_of()
    assert build_user(options.user, options.pricing, None, Environments()) is NOBODY


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ("user=scripted",),
            "user: scripted is not allowed with dataset=local, whose tasks belong",
        ),
        (("user=llm",), "user: llm is not allowed with dataset=local"),
        (
            ("user=scripted", "model.protocol=upstream", "dataset=toolscale"),
            "user: scripted is not allowed with model.protocol=upstream",
        ),
        ((*DOMAINS, "user.model=gpt-6"), "'gpt-6' is in none of"),
        (
            (*DOMAINS, "pricing=alt", "pricing.missing=mask"),
            "user.model: 'GPT-5-mini' has no price under the schedule",
        ),
        ((*DOMAINS, "user.model=o3"), "none serves 'o3', which user.model needs"),
        (
            (*DOMAINS, "rollout.rollout_timeout_s=100"),
            "user.deadline_s: 180 is not allowed with a deadline of 100 s",
        ),
    ],
)
def test_a_user_that_cannot_be_played_is_refused_before_anything_starts(
    overrides, message, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "set")
    with pytest.raises(ValueError, match="; (use|add) ") as caught:
        check_worlds(options_of(*overrides))
    assert message in str(caught.value)


def test_a_users_model_needs_its_key_and_a_script_needs_nothing(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "set")
    check_worlds(options_of(*DOMAINS))
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ValueError, match="OPENAI_API_KEY is not set, and user.model needs it"):
        check_worlds(options_of(*DOMAINS))
    check_worlds(options_of("dataset=toolscale", "user=scripted"))


def test_a_user_that_acts_before_it_is_spoken_to_is_refused(locker, monkeypatch):
    task = locker.tasks["stuck"]
    hasty = replace(task, steps=(replace(task.steps[1], cues=()), *task.steps[2:]))
    domain = replace(locker, tasks={"hasty": hasty})
    monkeypatch.setattr("toolorchestra.domain.catalogue.load_shipped", lambda name: domain)
    with pytest.raises(ValueError, match="user: task stuck of the domain locker is not allowed"):
        check_worlds(options_of("dataset=toolscale", "user=scripted"))


def test_tasks_that_nobody_can_solve_without_a_user_are_told(locker, monkeypatch):
    monkeypatch.setattr("toolorchestra.domain.catalogue.load_shipped", lambda name: locker)
    weights = "dataset.domain.weights={library: 1, clinic: 0, courier: 0}"
    options = options_of("dataset=toolscale", weights)
    notes = [note for note in check_worlds(options) if "need a user" in note]
    assert notes == [
        "2 of 4 tasks of the domain locker need a user who acts, and are left out: user=scripted "
        "takes them in"
    ]
