"""`python train.py … dry_run.gpu=…`, as the README has it and as it fails."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.integration.command import ROOT

from toolorchestra.entry.plainly import FAULT

HEAVY = ("torch", "transformers", "lightning", "vllm", "deepspeed", "wandb")


def section() -> str:
    """The README's section on dry runs."""
    return (ROOT / "README.md").read_text().partition("## Will it fit?")[2].partition("\n## ")[0]


def readme_command() -> list[str]:
    (command,) = re.findall(r"```sh\n(.*?)\n```", section(), re.DOTALL)
    python, script, *options = shlex.split(command)
    assert (python, script) == ("python", "train.py")
    return options


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "importtime", "train.py", f"output_root={folder}", *options],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def imported(done: subprocess.CompletedProcess[str]) -> set[str]:
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip().split(".")[0] for line in lines}


def told(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [
        line
        for line in done.stderr.splitlines()
        if not line.startswith(("import time:", "Error executing job"))
    ]


def runs_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() or path.parent.name == "runs"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The README's command, run; where it could have written; and how long it took."""
    folder = tmp_path_factory.mktemp("dry_run")
    start_s = time.monotonic()
    done = run(folder, *readme_command())
    assert done.returncode == 0, done.stderr
    return done, folder, time.monotonic() - start_s


def test_the_readmes_command_prints_the_readmes_lines(shown):
    done, _, _ = shown
    (text,) = re.findall(r"```\n(.*?)\n```", section().partition("```sh")[2], re.DOTALL)[-1:]
    printed = {line.strip() for line in done.stdout.splitlines()}
    missing = [line for line in text.splitlines() if line.strip() not in printed]
    assert not missing


def test_it_says_whether_it_fits_and_what_was_assumed(shown):
    out = shown[0].stdout
    assert "fits" in out and "147,456 B" in out and "mfu" in out
    assert "12 rollouts of 32,000 tokens" in " ".join(out.split())


def test_it_takes_seconds_loads_nothing_heavy_and_leaves_nothing_behind(shown):
    done, folder, seconds = shown
    assert seconds < 60
    assert imported(done).isdisjoint(HEAVY) and told(done) == []
    assert runs_below(folder) == []


def test_what_does_not_fit_ends_with_one_sentence_and_a_status(tmp_path):
    done = run(tmp_path, *readme_command(), "trainer.zero_stage=1")
    assert done.returncode == FAULT
    assert "too small" in done.stdout, "the tables are shown all the same"
    (line,) = told(done)
    assert line.startswith("error: dry_run.gpu: 'h100_80gb' is too small; ")
    assert "most of it for gradients" in line and "use trainer.zero_stage=2" in line
    assert runs_below(tmp_path) == []


def test_a_gpu_that_nobody_knows_trains_nothing(tmp_path):
    done = run(tmp_path, "dry_run.gpu=h100")
    assert done.returncode == FAULT and done.stdout == ""
    (line,) = told(done)
    assert line.startswith("error: dry_run.gpu: 'h100' is not allowed; use h100_80gb")


def test_a_sweep_is_refused(tmp_path):
    done = run(tmp_path, "dry_run.gpu=h100_80gb", "seed=1,2", "-m")
    assert done.returncode == FAULT
    assert any("dry_run.gpu: not allowed in a sweep" in line for line in told(done))
