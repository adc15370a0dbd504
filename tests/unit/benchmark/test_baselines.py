from random import Random

from tests.unit.benchmark.worlds import make_episode, make_world, result, turn

from toolorchestra.benchmark.baselines import (
    GOLDEN,
    INFORMED,
    NOTHING,
    UNINFORMED,
    OraclePolicy,
    baselines,
)
from toolorchestra.engine.policies import call_text, final_text
from toolorchestra.types import Preference

THOROUGH = Preference(kind="thorough", instruction="", outcome=1.0, cost=0.0, latency=0.0)


def says(name, episode, *turns):
    return baselines(make_world())[name](episode, turns, Random(0))


def test_every_name_has_a_policy():
    assert set(baselines(make_world())) == {*UNINFORMED, *INFORMED}


def test_with_tasks_of_domains_nobody_is_informed_but_the_bars_on_either_side_are_there():
    assert set(baselines(make_world(has_domains=True))) == {*UNINFORMED, NOTHING, GOLDEN}


def test_a_free_tool_that_cannot_solve_is_not_preferred_to_one_that_can():
    # math: 0.95 / 0.1 = 9.5, 0.4 / 0.01 = 40 a dollar, and 0 for the free tool.
    assert says("greedy", make_episode("math")) == call_text("weak")


def test_a_free_tool_that_can_solve_is_best_per_dollar():
    assert says("greedy", make_episode("logic")) == call_text("free")


def test_greedy_moves_on_where_a_tool_abstains_and_repeats_what_it_hears():
    silent = turn(result("weak", "no answer", "abstained"))
    assert says("greedy", make_episode("math"), silent) == call_text("strong")
    heard = turn(result("strong", "answer: 4"))
    assert says("greedy", make_episode("math"), silent, heard) == final_text("4")


def test_the_ablest_tool_is_the_same_whatever_the_skill():
    assert says("ablest", make_episode("math")) == call_text("strong")
    assert says("ablest", make_episode("logic")) == call_text("strong")


def test_the_cheapest_tool_is_asked_though_it_knows_nothing():
    assert says("cheapest", make_episode("math")) == call_text("free")


def oracle_says(episode, *turns):
    return OraclePolicy(make_world())(episode, turns, Random(0))


def test_the_oracle_checks_a_doubtful_answer_where_cost_does_not_matter():
    episode = make_episode("math", preference=THOROUGH)
    assert oracle_says(episode) == call_text("strong")
    doubt = turn(result("strong", "answer: 5"), result("weak", "answer: 4"))
    assert oracle_says(episode, doubt) == call_text("strong")


def test_two_equal_answers_end_it():
    episode = make_episode("math", preference=THOROUGH)
    agreed = turn(result("weak", "answer: 4"), result("strong", "answer: 4"))
    assert oracle_says(episode, agreed) == final_text("4")  # one more call would be allowed
    agreed = turn(
        result("strong", "answer: 5"), result("weak", "answer: 4"), result("strong", "answer: 4")
    )
    assert oracle_says(episode, agreed) == final_text("4")


def test_at_the_horizon_the_likelier_of_distinct_answers_is_given():
    # Odds of being right: strong 19, weak 0.4 / 0.3. The order in which they came is no matter.
    episode = make_episode("math", preference=THOROUGH)
    heard = [
        result("weak", "answer: 5"),
        result("strong", "answer: 6"),
        result("weak", "no answer", "abstained"),
    ]
    assert oracle_says(episode, turn(*heard)) == final_text("6")
    assert oracle_says(episode, turn(*reversed(heard))) == final_text("6")


def test_the_oracle_asks_nobody_where_nobody_knows():
    episode = make_episode("service")
    assert oracle_says(episode) == final_text("unknown")


def test_an_answer_of_a_tool_that_never_answers_is_no_crash():
    # The question may happen to run as a program: "free" has no odds for math at all.
    episode = make_episode("math", preference=THOROUGH)
    assert oracle_says(episode, turn(result("free", "answer: (no output)"))) == call_text("strong")


def test_without_tools_there_is_nothing_to_choose_from_and_nobody_knows_the_odds():
    world = make_world(tools={}, min_tools=0, max_tools=0)
    assert not world.is_known and not baselines(world)
    assert set(baselines(make_world(tools={}, min_tools=0, max_tools=0, has_domains=True))) >= {
        NOTHING,
        GOLDEN,
    }
