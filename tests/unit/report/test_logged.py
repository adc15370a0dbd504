import pytest
from tests.unit.report.ledgers import BIG, POLICY, group, rollout, trial, write_run

from toolorchestra.report.logged import TRAINING, read_run


def test_a_run_yields_its_training_then_its_evaluation(tmp_path):
    run = write_run(
        tmp_path,
        [group(rollout(POLICY), rollout(POLICY, BIG, sample=1)), group(rollout())],
        [trial("random", 0.008, rollout(BIG)), trial("random", None, rollout(status="void"))],
    )
    found = list(read_run(run))
    assert [(one.policy, one.world, one.step, one.cost_usd) for one in found] == [
        (TRAINING, "seen", 0, 0.002),
        (TRAINING, "seen", 0, 0.002 + 0.008),
        (TRAINING, "seen", 1, 0),
        ("random", "local", None, 0.008),
        ("random", "local", None, None),
    ]
    assert [one.rollout.status for one in found][-1] == "void"
    assert "step 0, e/1" in found[1].where and "random in the local world" in found[3].where


@pytest.mark.parametrize("kinds", [("steps",), ("trials",)])
def test_a_run_may_hold_one_of_both(tmp_path, kinds):
    logs = {"steps": [group(rollout(POLICY))], "trials": [trial("p", 0.002, rollout(POLICY))]}
    assert len(list(read_run(write_run(tmp_path, **{kind: logs[kind] for kind in kinds})))) == 1


def test_a_last_line_that_a_kill_cut_is_left_out(tmp_path):
    run = write_run(tmp_path, [group(rollout(POLICY)), group(rollout(POLICY))])
    path = run / "trajectories.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    assert len(list(read_run(run))) == 1


def test_a_folder_without_rollouts_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"holds neither trajectories\.jsonl nor evaluation_"):
        list(read_run(tmp_path))


def test_a_corrupt_line_is_named(tmp_path):
    (tmp_path / "evaluation_trajectories.jsonl").write_text("{}\n")
    with pytest.raises(
        ValueError, match=r"evaluation_trajectories\.jsonl:1: the record has the format None, not 2"
    ):
        list(read_run(tmp_path))
