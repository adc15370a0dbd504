from dataclasses import replace

from tests.invariant.records import episode, preference, tool

from toolorchestra.trainer.drawn import drawn_metrics


def drawn(*names, pricing="official", kind="frugal", skill="math"):
    given = episode(wanted=replace(preference(), kind=kind))
    return replace(
        given,
        tools=tuple(tool(name) for name in names),
        pricing=pricing,
        task=replace(given.task, skill=skill),
    )


def test_shares_of_tools_prices_wishes_and_skills_by_hand():
    episodes = [
        drawn("a", "b", "c"),
        drawn("a"),
        drawn("a", "b", pricing="alt", kind="hasty"),
        drawn("c", "d", pricing="alt", skill="code"),
    ]
    assert drawn_metrics(episodes) == {
        "drawn/num_tools": 2.0,
        "drawn/offered/a": 0.75,
        "drawn/offered/b": 0.5,
        "drawn/offered/c": 0.5,
        "drawn/offered/d": 0.25,
        "drawn/preference/frugal": 0.75,
        "drawn/preference/hasty": 0.25,
        "drawn/pricing/alt": 0.5,
        "drawn/pricing/official": 0.5,
        "drawn/skill/code": 0.25,
        "drawn/skill/math": 0.75,
    }


def test_a_step_without_episodes_has_no_shares():
    assert drawn_metrics([]) == {}
