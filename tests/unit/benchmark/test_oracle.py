import time
from itertools import pairwise, product
from random import Random

import pytest

from toolorchestra.benchmark.oracle import Choice, Oracle, oracle_of
from toolorchestra.types import Preference


def choice(name, right, abstain=0.0, cost_usd=1.0, **changes):
    fields = {"latency_s": 1.0, "weight": 0.0, "is_repeatable": True}
    fields |= {"name": name, "right": right, "abstain": abstain, "cost_usd": cost_usd}
    return Choice(**(fields | changes))


def best(*choices, outcome=1.0, cost=0.0, latency=0.0, horizon=4):
    oracle = Oracle(choices, outcome=outcome, cost=cost, latency=latency, horizon=horizon)
    return oracle.plan(oracle.start())


def test_a_tool_that_is_always_right_is_called_once():
    # One call of the only tool costs all there is: U = 1 + 0.5 (1 - 1) = 1.
    plan = best(choice("a", 1.0, cost_usd=0.02, latency_s=3.0), cost=0.5)
    assert plan.first == "a"
    assert (plan.utility, plan.is_solved) == (1.0, 1.0)
    assert (plan.cost_usd, plan.latency_s) == (0.02, 3.0)


def test_an_abstention_is_tried_again_only_while_it_pays():
    # P = outcome 1, cost 0.5; right 0.6, abstain 0.4. Each call costs 0.5 of utility.
    # Two calls abstained: worth of a right answer 1 + 0.5 (1 - 3) = 0 after a third, so stop.
    # One abstained: a second gives 0.6 (1 + 0.5 (1 - 2)) = 0.3. U = 0.6 * 1 + 0.4 * 0.3 = 0.72.
    plan = best(choice("a", 0.6, 0.4), cost=0.5)
    assert plan.utility == pytest.approx(0.72)
    assert plan.is_solved == pytest.approx(0.6 + 0.4 * 0.6)
    assert plan.cost_usd == pytest.approx(1.4)


def test_cost_and_latency_are_shares_of_calling_everything_once():
    # a: 1/4 of the cost, 2/3 of the time, right 0.5 (else wrong); b: always right.
    # b: 1 + 0.5 (1 - 3/4) + 0.25 (1 - 1/3) = 1.29167. a: (1 + 0.375 + 0.25/3) / 2 = 0.72917.
    # a, then b at any rate: 1 + 0 + 0 = 1. So b at once.
    a = choice("a", 0.5, cost_usd=1.0, latency_s=2.0)
    b = choice("b", 1.0, cost_usd=3.0, latency_s=1.0)
    plan = best(a, b, cost=0.5, latency=0.25)
    assert plan.first == "b"
    assert plan.utility == pytest.approx(1 + 0.125 + 0.25 * 2 / 3)


def test_a_cheap_tool_that_knows_when_it_does_not_know_comes_first():
    # a: right 0.5, abstains 0.5, costs 1 of 10. b: right, costs 9. P = outcome 1, cost 1.
    # a twice, then b: 0.5 (1 + 0.9) + 0.25 (1 + 0.8) + 0.25 (1 - 0.1) = 0.95 + 0.45 + 0.225.
    # a three times, then b: 0.95 + 0.45 + 0.125 * 1.7 + 0.125 * 0.8 = 1.7125. Four times a:
    # 0.95 + 0.45 + 0.2125 + 0.0625 * 1.6 = 1.7125. b at once: 1.1. Once, then b: 0.95 + 0.5 = 1.45.
    plan = best(choice("a", 0.5, 0.5, cost_usd=1.0), choice("b", 1.0, cost_usd=9.0), cost=1.0)
    assert plan.first == "a"
    assert plan.utility == pytest.approx(1.7125)


def test_two_equal_answers_are_certain_and_distinct_ones_are_weighed():
    # a free tool, right 0.6, wrong 0.4. Two calls: agree 0.36 (certain); else the belief in one
    # answer is 1.5 / (1 + 1.5 + 1.5) = 0.375: U = 0.36 + 0.64 * 0.375 = 0.6, as after one call.
    # Three calls: all right 0.216 and twice right 0.432 agree: 0.648; else once right 0.288 or
    # never 0.064: one of three answers is right with 0.288 / 0.352 / 3: 0.352 * 0.2727 = 0.096.
    free = choice("a", 0.6, cost_usd=0.0, latency_s=0.0)
    assert best(free, horizon=2).utility == pytest.approx(0.6)
    assert best(free, horizon=3).utility == pytest.approx(0.744)


def test_the_better_of_two_distinct_answers_is_believed():
    oracle = Oracle(
        [choice("a", 0.8), choice("b", 0.5)], outcome=1.0, cost=0.0, latency=0.0, horizon=2
    )
    # Odds 4 and 1: 4 / (1 + 4 + 1) and 1 / 6.
    assert oracle.beliefs(((1, 1), (0, 0), False)) == pytest.approx((4 / 6, 1 / 6))


def test_a_wanted_tool_is_called_though_it_cannot_solve():
    # P = outcome 1, cost 0.25, tool a 1. b alone: 1 + 0.25 / 2 = 1.125; both: 1 + 0 + 1 = 2.
    plan = best(choice("a", 0.0, 1.0, weight=1.0), choice("b", 1.0), cost=0.25)
    assert plan.utility == pytest.approx(2.0)
    # Not where it would cost more than it gives: weight 0.1 < 0.125.
    plan = best(choice("a", 0.0, 1.0, weight=0.1), choice("b", 1.0), cost=0.25)
    assert plan.utility == pytest.approx(1.125)


def test_nothing_that_helps_means_nothing_is_called():
    plan = best(choice("a", 0.0, 1.0), choice("b", 0.0, 0.0), cost=0.5)
    assert (plan.first, plan.utility, plan.is_solved, plan.cost_usd) == (None, 0.0, 0.0, 0.0)


def test_an_answer_of_a_tool_that_never_answers_is_not_believed():
    oracle = Oracle(
        [choice("a", 0.0, 1.0), choice("b", 0.7)], outcome=1.0, cost=0.0, latency=0.0, horizon=2
    )
    assert oracle.beliefs(((1, 0), (0, 0), False)) == (0.0, 0.0)


def test_a_right_answer_that_costs_more_than_it_gives_is_left_unsaid():
    # Outcome 0, cost 1: two calls of the only tool make a right answer worth 1 - 2 = -1.
    oracle = Oracle([choice("a", 0.5)], outcome=0.0, cost=1.0, latency=0.0, horizon=2)
    plan = oracle.plan(((2,), (0,), True))
    assert (plan.utility, plan.is_solved) == (0.0, 0.0)


def test_decimal_odds_that_add_up_to_one_leave_no_chance_of_a_wrong_answer():
    # 1 - 0.7 - 0.3 is 5.6e-17 in floats: an answer is certain, and no second one is bought.
    assert choice("a", 0.7, 0.3).wrong == 0.0
    free = choice("a", 0.7, 0.3, cost_usd=0.0, latency_s=0.0)
    assert best(free, horizon=1).utility == pytest.approx(0.7)


def test_weighed_changes_what_counts_and_forgets_wanted_tools():
    oracle = Oracle(
        [choice("a", 1.0, weight=1.0), choice("b", 0.6, 0.4, cost_usd=0.0)],
        outcome=1.0,
        cost=0.0,
        latency=0.0,
        horizon=1,
    )
    assert oracle.plan(oracle.start()).utility == 2.0
    frugal = oracle.weighed(outcome=1.0, cost=2.0, latency=0.0)
    plan = frugal.plan(frugal.start())
    assert (plan.first, plan.utility) == ("b", pytest.approx(0.6 * 3))


def luck_tables(choices, num_calls):
    """Every way all draws may come out, with its probability: outcome of call n of each tool."""
    kinds = []
    for item in choices:
        draws = num_calls if item.is_repeatable else 1
        odds = {"right": item.right, "abstain": item.abstain, "wrong": item.wrong}
        kinds.append(list(product([kv for kv in odds.items() if kv[1] > 0], repeat=draws)))
    for table in product(*kinds):
        weight = 1.0
        for draws in table:
            for _, odds in draws:
                weight *= odds
        yield tuple(tuple(kind for kind, _ in draws) for draws in table), weight


def heard(table, calls, tool):
    """What a call says: nothing, the right answer, or a wrong one that is this draw's own."""
    number = min(calls.count(tool), len(table[tool]) - 1)
    kind = table[tool][number]
    return {"right": "R", "abstain": None, "wrong": (tool, number)}[kind]


def exhaustive(choices, wish, horizon):
    """The best policy's expected utility, found over information sets by brute force."""
    outcome, cost, latency = wish
    all_cost = sum(c.cost_usd for c in choices) or 1.0
    all_latency = sum(c.latency_s for c in choices) or 1.0

    def worth(calls):
        spent = sum(choices[i].cost_usd for i in calls) / all_cost
        waited = sum(choices[i].latency_s for i in calls) / all_latency
        used = sum(choices[i].weight for i in set(calls))
        return outcome + cost * (1 - spent) + latency * (1 - waited) + used

    def search(worlds, calls):
        # worlds: (table, weight, answers heard), all of which look alike to the player
        options = [0.0]
        for place in range(len(calls)):
            right = sum(w for _, w, answers in worlds if answers[place] == "R")
            options.append(right * worth(calls))
        if len(calls) < horizon:
            for tool in range(len(choices)):
                seen = {}
                for table, weight, answers in worlds:
                    new = heard(table, calls, tool)
                    # all that shows is whether it equals an earlier answer
                    look = "silent" if new is None else answers.index(new) if new in answers else -1
                    seen.setdefault(look, []).append((table, weight, (*answers, new)))
                options.append(sum(search(part, (*calls, tool)) for part in seen.values()))
        return max(options)

    return search([(t, w, ()) for t, w in luck_tables(choices, horizon)], ())


def random_case(rng, num_tools):
    choices = []
    for name in "abcd"[:num_tools]:
        right = rng.choice([0.0, 0.3, 0.6, 0.9, 1.0])
        abstain = rng.choice([0.0, 0.5, 1.0]) * (1 - right)
        is_repeatable = right not in (0.0, 1.0) or rng.random() < 0.5
        choices.append(
            choice(
                name,
                right,
                abstain,
                cost_usd=rng.choice([0.0, 0.1, 1.0]),
                latency_s=rng.choice([0.0, 1.0, 5.0]),
                weight=rng.choice([0.0, 0.0, 0.0, 0.5]),
                is_repeatable=is_repeatable,
            )
        )
    wish = (rng.choice([0.0, 1.0]), rng.choice([0.0, 0.2, 1.0]), rng.choice([0.0, 0.1, 1.0]))
    return choices, wish


@pytest.mark.parametrize(
    ("num_tools", "horizon", "num_cases"), [(1, 4, 20), (2, 3, 80), (3, 2, 60), (3, 3, 10)]
)
def test_no_policy_at_all_does_better_and_one_does_as_well(num_tools, horizon, num_cases):
    rng = Random(f"{num_tools}/{horizon}")
    for _ in range(num_cases):
        choices, wish = random_case(rng, num_tools)
        outcome, cost, latency = wish
        plan = best(*choices, outcome=outcome, cost=cost, latency=latency, horizon=horizon)
        assert plan.utility == pytest.approx(exhaustive(choices, wish, horizon)), (choices, wish)


def test_a_longer_horizon_never_costs_anything():
    rng = Random(1)
    for _ in range(20):
        choices, (outcome, cost, latency) = random_case(rng, 3)
        values = [
            best(*choices, outcome=outcome, cost=cost, latency=latency, horizon=h).utility
            for h in range(1, 5)
        ]
        assert all(b >= a - 1e-9 for a, b in pairwise(values)), values


def test_a_tool_that_repeats_itself_is_never_bought_twice():
    rng = Random(2)
    for _ in range(20):
        choices, (outcome, cost, latency) = random_case(rng, 3)
        oracle = Oracle(choices, outcome=outcome, cost=cost, latency=latency, horizon=4)
        state = oracle.start()
        calls = []
        while (first := oracle.plan(state).first) is not None:
            index = [c.name for c in choices].index(first)
            calls.append(first)
            _, state = oracle._branches(state, index, oracle._belief(state)[1])[0]
        repeated = {name for name in calls if calls.count(name) > 1}
        assert not repeated & {c.name for c in choices if not c.is_repeatable}


def test_six_tools_and_four_calls_are_planned_in_a_moment():
    rng = Random(3)
    experts = [
        choice(
            name,
            rng.uniform(0.1, 0.6),
            rng.uniform(0.0, 0.3),
            cost_usd=rng.random(),
            latency_s=rng.random(),
        )
        for name in "abcdef"
    ]
    start_s = time.thread_time()
    best(*experts, cost=0.5, latency=0.25)
    assert time.thread_time() - start_s < 5  # 0.05 on an idle core; hours without a memory


def test_an_episode_gives_its_prices_times_and_wishes(make_episode, make_tool):
    episode = make_episode(
        tools=(
            make_tool(name="real", call_cost_usd=0.03, latency_s=1.0),
            make_tool(name="expert", call_cost_usd=0.01, latency_s=3.0),
        ),
        preference=Preference(
            kind="tool", instruction="", outcome=1.0, cost=0.5, latency=0.25, tools={"expert": 1.0}
        ),
    )
    oracle = oracle_of(
        episode,
        {"real": (1.0, 0.0), "expert": (0.0, 1.0)},
        simulated=frozenset(["expert"]),
        horizon=4,
    )
    plan = oracle.plan(oracle.start())
    # Both: 1 + 0 + 0 + 1. (real alone: 1 + 0.5 / 4 + 0.25 * 3 / 4 = 1.3125.)
    assert plan.utility == pytest.approx(2.0)
    assert (plan.cost_usd, plan.latency_s) == (pytest.approx(0.04), pytest.approx(4.0))
