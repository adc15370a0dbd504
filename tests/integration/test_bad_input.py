"""Whatever is wrong with input or machine: one clear sentence, a status that is not 0, no ruins."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.composed import composed
from tests.integration.command import Command, run_dirs

from toolorchestra.run import train

TINY = (
    "trainer.max_steps=2",
    "trainer.episodes_per_step=1",
    "trainer.checkpoint_every=1",
    "trainer.num_threads=1",
    "logger=none",
)
TASK = '{"id": "a", "skill": "math", "question": "What is 2 + 2?", "answer": "4"}\n'


def refusal(folder: Path, *overrides: str) -> str:
    """What `train` says of a config that it must refuse."""
    with pytest.raises(ValueError) as caught:
        train(composed(*TINY, "benchmark=none", *overrides, output_dir=folder))
    told = str(caught.value)
    assert "\n" not in told
    assert not (folder / "summary.json").exists()
    return told


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["toolset.min_tools=0"], "toolset.min_tools: 0 is not allowed; use 1 to 11"),
        (["toolset.min_tools=12", "toolset.max_tools=12"], "toolset.min_tools: 12 is not allowed"),
        (["toolset.min_tools=6", "toolset.max_tools=5"], "toolset.max_tools: 5 is not allowed"),
        (["toolset=unseen", "pricing=alt", "pricing.missing=refuse"], "pricing"),
        (
            ["+preference.pairs={mine: {instruction: Go., tools: {gpt_9: 1}}}"],
            "preference.pairs.mine.tools: 'gpt_9' is not allowed, as it is not offered; use",
        ),
        (
            ["+preference.pairs={mine: {instruction: Go., cost: 1.5}}"],
            "preference.pairs.mine.cost: 1.5 is not allowed; use a number from 0 to 1",
        ),
        (["resume=/no/such/run"], "resume: /no/such/run holds no run; use a run's folder, or auto"),
    ],
)
def test_a_config_that_cannot_be_meant_is_refused_before_anything_is_written(
    tmp_path, overrides, message
):
    (tmp_path / "run").mkdir()  # as Hydra does before the run hears of it
    assert message in refusal(tmp_path / "run", *overrides)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_toolset_is_refused(tmp_path):
    config = composed(*TINY, output_dir=tmp_path / "run")
    config.toolset.tools = {}
    with pytest.raises(ValueError, match="an empty toolset is not allowed; use a file"):
        train(config)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TASK + TASK[:30], "tasks.jsonl:2: not a whole JSON object"),
        (TASK + TASK, "tasks.jsonl:2: the id 'a' was used in line 1 already"),
        (TASK.replace("answer", "anwser"), "tasks.jsonl:1: missing answer"),
        ("", "tasks.jsonl:1: the file holds no task"),
        (None, "tasks.jsonl: cannot be read (No such file or directory)"),
    ],
)
def test_a_faulty_file_of_tasks_is_named_with_its_line(tmp_path, text, message):
    path = tmp_path / "tasks.jsonl"
    if text is not None:
        path.write_text(text)
    assert message in refusal(tmp_path / "run", "dataset=jsonl", f"dataset.path={path}")
    assert "read_tasks" in (tmp_path / "run" / "error.txt").read_text()


def test_a_machine_without_a_sandbox_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    told = refusal(tmp_path / "run")
    assert "bubblewrap is not installed; install the package bubblewrap" in told


def test_a_folder_that_holds_a_run_is_never_written_over(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    assert "holds a run already; use another folder, or resume=" in refusal(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was interrupted in its evaluation, all steps done."""
    folder = tmp_path_factory.mktemp("interrupted")
    small = ("benchmark.num_episodes=2", "benchmark.transfer=null")
    done = Command(
        folder, *TINY, *small, interrupt_at="toolorchestra.benchmark.contest:oracle_bound"
    ).wait()
    check_interrupted(done)
    (run_dir,) = run_dirs(folder)
    assert not list(run_dir.glob("results*"))
    assert [path.name for path in sorted((run_dir / "checkpoints").iterdir())] == [
        "step_000001",
        "step_000002",
    ]
    return run_dir


def check_interrupted(done):
    assert done.status == 130, done.err
    assert done.err.strip().splitlines()[-1] == (
        "interrupted: the same command with resume=auto goes on from the last checkpoint"
    )
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "phase",
    [
        "toolorchestra.run:load_policy",  # set-up
        "toolorchestra.rollout.player:run_rollout",  # rollout
        "toolorchestra.trainer.module:accumulate_gradients",  # update
    ],
)
def test_ctrl_c_in_any_phase_ends_with_one_sentence_and_no_ruins(tmp_path, phase):
    command = Command(tmp_path, *TINY, "benchmark=none", interrupt_at=phase)
    check_interrupted(command.wait())
    (run_dir,) = run_dirs(tmp_path)
    assert not (run_dir / "summary.json").exists()
    assert not list(run_dir.rglob("*.tmp")) and not list(run_dir.rglob("*.new"))
    session = str(command.process.pid)
    left = subprocess.run(["ps", "-o", "args=", "-s", session], capture_output=True, text=True)
    assert left.stdout == "", "processes were left behind"


def resumed_refusal(run_dir: Path, folder: Path, damage) -> str:
    """What is said of a resumed run after `damage` to a copy of its folder."""
    copy = folder / "run"
    shutil.copytree(run_dir, copy)
    damage(copy)
    small = ("benchmark=local", "benchmark.num_episodes=2", "benchmark.transfer=null")
    return refusal(folder / "new", *small, f"resume={copy}")


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda run: cut(run / "checkpoints/step_000002/state", 5000), "has 5000 of"),
        (lambda run: cut(run / "checkpoints/step_000002/state", 0), "delete it to resume from"),
        (lambda run: cut(run / "trajectories.jsonl", 300), "trajectories.jsonl ends before step 2"),
        (
            lambda run: (run / "trajectories.jsonl").write_text('{"step": 5, "gr\n{"step": 5}\n'),
            "trajectories.jsonl:1: the line is not JSON",
        ),
        (lambda run: (run / "metrics.csv").write_text("step,a\n0,1,2\n"), "metrics.csv:2: 3 cells"),
        (lambda run: (run / "run.json").write_text("{"), "holds no run; use a run's folder"),
    ],
)
def test_a_damaged_run_is_not_resumed(interrupted, tmp_path, damage, message):
    assert message in resumed_refusal(interrupted, tmp_path, damage)


def test_a_run_interrupted_in_its_evaluation_goes_on_with_it(interrupted, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(interrupted.parents[1], folder)
    small = ("benchmark.num_episodes=2", "benchmark.transfer=null")
    done = Command(folder, *TINY, *small, "resume=auto").wait()
    assert done.status == 0, done.err
    (run_dir,) = run_dirs(folder)
    assert (run_dir / "summary.json").exists() and (run_dir / "results.md").exists()
    assert "trials are recorded already, and are not played again" in done.out
    assert "step " not in done.out.partition("done in")[0].replace("steps", "")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["trainer.max_stepz=1"], "Could not override 'trainer.max_stepz'; Key 'max_stepz' not in"),
        (["toolset=nothing"], "Could not find 'toolset/nothing' Available options in 'toolset'"),
        (["+tool@toolset.tools=[gpt_9]"], "Could not load 'tool/gpt_9'"),
        (["seed=one"], "Value 'one' of type 'str' could not be converted to Integer"),
        (["hydra.run.dir=/dev/null/run"], "cannot use /dev/null/run (Not a directory); free space"),
        (["hydra.sweep.dir=/dev/null/s", "-m"], "cannot use /dev/null/s (Not a directory)"),
    ],
)
def test_the_command_line_says_in_one_sentence_what_is_wrong(tmp_path, overrides, message):
    done = Command(tmp_path, *TINY, *overrides).wait()
    assert done.status == 1
    (told,) = done.err.strip().splitlines()
    assert told.startswith("error: ") and message in told
    assert run_dirs(tmp_path) == []
