from dataclasses import replace

from tests.unit.report.ledgers import BIG, POLICY, group, rollout, trial, write_run

from toolorchestra.page.attempts import read_attempts


def read(run):
    told = []
    return list(read_attempts(run, told.append)), told


def test_training_and_evaluation_are_read_in_one_form(tmp_path):
    run = write_run(
        tmp_path,
        [group(rollout(POLICY, BIG))],
        [trial("p", 0.008, rollout(BIG)), trial("p", None, rollout(status="void"))],
    )
    found, told = read(run)
    assert told == []
    assert [(a.policy, a.world, a.step, a.cost_usd, a.points, a.is_solved) for a in found] == [
        ("training", "seen", 0, 0.010, 1.0, True),
        ("p", "local", None, 0.008, 1.0, None),  # no verdict was kept
        ("p", "local", None, None, None, None),
    ]


def test_what_a_kill_cut_is_left_out_and_said(tmp_path):
    run = write_run(tmp_path, [group(rollout(POLICY)), group(rollout(POLICY))])
    path = run / "trajectories.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    found, told = read(run)
    assert len(found) == 1
    assert len(told) == 1 and "last line of trajectories.jsonl is not whole" in told[0]


def test_a_corrupt_line_ends_its_file_but_not_the_report(tmp_path):
    run = write_run(tmp_path, [group(rollout(POLICY))] * 3, [trial("p", 0.002, rollout(POLICY))])
    path = run / "trajectories.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + "{}\n" + lines[2])
    found, told = read(run)
    assert [attempt.step for attempt in found] == [0, None]
    assert len(told) == 1 and "trajectories.jsonl:2" in told[0]


def test_a_void_rollout_is_never_wrong(tmp_path):
    run = write_run(tmp_path, [group(rollout(POLICY))])
    [attempt], _ = read(run)
    void = replace(attempt, rollout=replace(attempt.rollout, status="void"))
    assert attempt.is_solved is True and void.is_solved is None
