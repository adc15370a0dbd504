import json
from dataclasses import replace

import pytest
from tests.unit.benchmark.worlds import make_episode, turn
from tests.unit.user.scene import install, locker_episode

from toolorchestra.benchmark.trials import TrialKey, evaluate_policy, for_trial
from toolorchestra.report.records import TrialRecords
from toolorchestra.report.trajectories import read_trials
from toolorchestra.rollout.group import Played
from toolorchestra.types import Rollout, Row, Verdict

EPISODES = [make_episode(id=f"heldout-{n:06d}", seed=n) for n in range(6)]
POLICIES = ("policy", "random")
ROW = Row(ids=(1,), loss_mask=(0,), logprobs=(0.0,), versions=(-1,))
RIGHT = Verdict(is_solved=True, decided_by="match:text")
UNREAD = Verdict(is_solved=None, decided_by="judge:GPT-5", reason="timeout")
UNDECIDED = Verdict(is_solved=None, decided_by="match:number")


class Killed(Exception):
    pass


def played(episode, sample, verdict=RIGHT, status="answered", num_void=0):
    rollout = Rollout(
        episode_id=episode.id,
        sample=sample,
        status=status,
        turns=(turn(),),
        rows=(ROW,),
        answer=f"Zürich\n{episode.seed}",
        ledger=(),
    )
    verdict = None if status == "void" else verdict
    return Played(episode=episode, rollouts=(rollout,), verdicts=(verdict,), num_void=num_void)


class Player:
    """Plays in an order of its own, and is killed before the trial after its last."""

    def __init__(self, last=10**6, end=played):
        self.seen, self._last, self._end = [], last, end

    def __call__(self, drawn, on_played):
        for episode, sample in reversed(list(drawn)):
            if len(self.seen) >= self._last:
                raise Killed
            self.seen.append((episode.id, sample))
            on_played(self._end(episode, sample))


def opened(path, **changes):
    options = {"hashes": {"policy": "p"}, "default_hash": "d"}
    return TrialRecords(path, **(options | changes))


def evaluate(path, player, *, num_trials=2):
    records = opened(path)
    results = [
        result
        for policy in POLICIES
        for result in evaluate_policy(
            policy, "local", EPISODES, lambda: player, records=records, num_trials=num_trials
        )
    ]
    records.put_in_order(
        TrialKey(policy=r.policy, world=r.world, episode=r.episode, trial=r.trial) for r in results
    )
    return results


def test_killed_anywhere_and_gone_on_with_equals_an_evaluation_never_killed(tmp_path):
    whole, path = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    wanted = evaluate(whole, Player())
    num_played, num_lost = 0, 0
    for cut in (1, 0, 17, 300, 1, 0):  # bytes that a kill takes of the last line
        player = Player(last=4)
        with pytest.raises(Killed):
            evaluate(path, player)
        num_played += len(player.seen)
        if cut:
            path.write_bytes(path.read_bytes()[:-cut])
            num_lost += 1
    player = Player()
    assert evaluate(path, player) == wanted
    assert path.read_bytes() == whole.read_bytes()
    # each trial once, and the one again whose line was cut
    assert num_played + len(player.seen) == len(wanted) + num_lost == 24 + 4


def test_a_finished_evaluation_is_read_back_and_nobody_is_readied_to_play(tmp_path):
    wanted = evaluate(tmp_path / "e.jsonl", Player())
    before = (tmp_path / "e.jsonl").read_bytes()
    assert evaluate(tmp_path / "e.jsonl", None) == wanted
    assert (tmp_path / "e.jsonl").read_bytes() == before


def test_void_and_unjudged_trials_alone_are_played_again_and_stay_counted(tmp_path):
    ends = {
        "heldout-000000": {"status": "void", "num_void": 3},
        "heldout-000001": {"verdict": UNREAD, "num_void": 1},
        "heldout-000002": {"verdict": UNDECIDED},
    }
    path = tmp_path / "e.jsonl"
    faulty = Player(end=lambda e, n: played(e, n, **ends.get(e.id, {})))
    evaluate(path, faulty, num_trials=1)
    again = Player(end=lambda e, n: played(e, n, num_void=1))
    results = evaluate(path, again, num_trials=1)
    assert again.seen == [("heldout-000001", 0), ("heldout-000000", 0)] * 2
    assert [r.is_solved for r in results] == [1.0, 1.0, None, 1.0, 1.0, 1.0] * 2
    trials = list(read_trials(path))
    assert [trial.result for trial in trials] == results
    assert [trial.num_void for trial in trials] == [4, 2, 0, 0, 0, 0] * 2


def test_before_the_end_a_trial_that_was_played_again_is_read_once(tmp_path):
    records = opened(tmp_path / "e.jsonl")
    player = Player(end=lambda e, n: played(e, n, status="void"))
    evaluate_policy("policy", "local", EPISODES[:1], lambda: player, records=records)
    evaluate_policy("policy", "local", EPISODES[:1], lambda: Player(), records=records)
    assert len((tmp_path / "e.jsonl").read_text().splitlines()) == 2
    assert [t.rollout.status for t in read_trials(tmp_path / "e.jsonl")] == ["answered"]


def test_a_record_names_format_hash_task_and_trial_and_has_no_rows_of_training(tmp_path):
    evaluate(tmp_path / "e.jsonl", Player())
    first, *_, last = map(json.loads, (tmp_path / "e.jsonl").read_text().splitlines())
    assert (first["format"], first["config_hash"], last["config_hash"]) == (2, "p", "d")
    assert (first["result"]["task"], last["result"]["trial"]) == ("t", 1)
    assert first["rollout"]["rows"] == []


def test_every_trial_has_luck_of_its_own_and_the_first_that_of_the_episode():
    seeds = [for_trial(EPISODES[0], n).seed for n in range(4)]
    assert seeds[0] == EPISODES[0].seed and len(set(seeds)) == 4
    assert seeds == [for_trial(EPISODES[0], n).seed for n in range(4)]
    assert all(0 <= seed < 2**63 for seed in seeds)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda line: line.replace(b'"format": 2', b'"format": 1'), "has the format 1, not 2"),
        (lambda line: b'{"result": {"policy": "policy"}}\n', "has the format None, not 2"),
        (lambda line: b"[1]\n", "has the format None, not 2"),
        (lambda line: line[:40] + b"\n", "the line is not JSON"),
        (lambda line: line.replace(b'"p"', b'"q"'), "played with another config or with other"),
        (lambda line: line.replace(b'"task"', b'"tusk"'), "key 'task' is missing"),
    ],
)
def test_records_of_anything_else_are_refused_with_their_line_and_stay(tmp_path, damage, message):
    path = tmp_path / "e.jsonl"
    evaluate(path, Player())
    first, second, rest = path.read_bytes().split(b"\n", 2)
    path.write_bytes(first + b"\n" + damage(second + b"\n") + rest + b"cut")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=rf"e\.jsonl:2: .*{message}") as caught:
        opened(path)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_a_task_that_has_changed_since_is_named(tmp_path):
    path = tmp_path / "e.jsonl"
    evaluate_policy("policy", "local", EPISODES, lambda: Player(), records=opened(path))
    changed = [EPISODES[0], replace(EPISODES[1], seed=99)]
    told = "policy played heldout-000001 in the local world, trial 0"
    with pytest.raises(ValueError, match=told):
        evaluate_policy("policy", "local", changed, lambda: None, records=opened(path))


def test_what_a_user_says_first_may_differ_from_play_to_play(tmp_path, monkeypatch):
    install(monkeypatch)
    asked, path = [locker_episode("stuck")], tmp_path / "e.jsonl"

    def greeted(episode, sample):
        task = replace(episode.task, question="Good morning!")
        return played(replace(episode, task=task), sample)

    greeting, again = Player(end=greeted), Player()
    first = evaluate_policy("policy", "seen", asked, lambda: greeting, records=opened(path))
    assert evaluate_policy("policy", "seen", asked, lambda: again, records=opened(path)) == first
    assert len(greeting.seen) == 1 and again.seen == []
