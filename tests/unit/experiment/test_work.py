"""Jobs run as processes: in order, taken up again, and none ends the others."""

import fcntl

import pytest
from tests.unit.experiment import test_extract
from tests.unit.experiment.declared import YAML, write_experiment

from toolorchestra.experiment.declared import read_experiment
from toolorchestra.experiment.extract import read_extract
from toolorchestra.experiment.plan import plan, to_make
from toolorchestra.experiment.work import work

SCRIPT = """
import shutil, sys
words = dict(word.split("=", 1) for word in sys.argv[1:])
if "fail" in words:
    sys.exit("error: no luck")
shutil.copytree({run!r}, words["hydra.run.dir"], dirs_exist_ok=True)
open(words["hydra.run.dir"] + "/words", "w").write(" ".join(sys.argv[1:]))
"""


@pytest.fixture
def project(tmp_path):
    """Commands that leave a finished run behind at once."""
    run = test_extract.write_finished(tmp_path / "finished")
    for name in ("train.py", "evaluate.py"):
        (tmp_path / name).write_text(SCRIPT.format(run=str(run)))
    return tmp_path


def make(project, text=YAML):
    experiment = read_experiment(write_experiment(project / "table9", text))
    jobs = plan([experiment], digest=lambda *told: repr(told), scale="full", root=project / "runs")
    told = []
    outcome = work(
        to_make(jobs), root=project / "runs", project=project, num_parallel=2, tell=told.append
    )
    return list(jobs.values()), outcome, told


def test_results_are_kept_as_they_come_and_not_made_again(project):
    (first, second), outcome, told = make(project)
    assert (outcome.num_done, outcome.failures) == (2, {})
    assert [line.split(",")[0] for line in told] == [
        "begun  table9/first", "done   table9/first", "begun  table9/second",
        "done   table9/second",
    ]  # fmt: skip
    assert read_extract(project / "table9/local/runs/second.json").key == second.key
    assert f"model.path={first.run_dir}/model" in (second.run_dir / "words").read_text()
    assert make(project)[2] == []


def test_a_failure_is_named_and_stops_only_what_builds_on_it(project):
    text = YAML.replace("words: [seed=1]", 'words: ["fail=1"]').replace(
        '  columns:\n    - {name: "solved',
        '    alone: {command: evaluate, words: [], minutes: 1}\n  columns:\n    - {name: "solved',
    )
    _, outcome, _ = make(project, text)
    assert outcome.num_done == 1
    assert outcome.failures["table9/first"].startswith("error: no luck (all of it: ")
    assert outcome.failures["table9/second"] == "it builds on table9/first, which is not finished"


def test_a_training_that_was_broken_off_is_resumed_and_a_finished_run_only_read(project):
    (first, second), _, _ = make(project)
    for job in (first, second):
        job.results[0].path.unlink()
    (first.run_dir / "summary.json").unlink()
    told = make(project)[2]
    assert f"resume={first.run_dir}" in (first.run_dir / "words").read_text()
    assert any("table9/second, was finished before" in line for line in told)


def test_a_run_that_hangs_is_ended_and_named(project, monkeypatch):
    monkeypatch.setattr("toolorchestra.experiment.work.LEAST_PATIENCE_MIN", 0.0)
    monkeypatch.setattr("toolorchestra.experiment.work.PATIENCE", 0)
    (project / "train.py").write_text("import time; time.sleep(60)")
    _, outcome, _ = make(project)
    assert outcome.failures["table9/first"].startswith("ended after 0 min, as it seemed to hang")


def test_two_at_once_are_told_apart(project):
    (project / "runs").mkdir()
    with (project / "runs" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match="another process makes tables there"):
            make(project)
