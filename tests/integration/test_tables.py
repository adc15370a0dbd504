"""`python report.py table --make` from end to end: a real run, its table, and no run made twice."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.integration.command import ROOT
from tests.unit.experiment.declared import write_experiment

YAML = """
title: Table 9
claim: It runs.
real: {commands: [python evaluate.py]}
local:
  note: A try.
  picture: shares
  runs:
    start: {command: evaluate, words: [num_threads=1], minutes: 1}
    again: {command: evaluate, words: [num_threads=1], minutes: 1, relative_to: start}
  columns:
    - {name: "solved, %", measure: accuracy}
    - {name: R^e, measure: relative}
  rows:
    - {label: tiny, run: again, policy: policy}
    - {label: random, run: again, policy: random}
"""


@pytest.mark.slow
def test_a_table_is_made_in_the_local_world_and_kept(tmp_path):
    folder = write_experiment(tmp_path / "table9", YAML)

    def make() -> str:
        words = ["--make", "--scale", "tiny", "--out", str(tmp_path / "out")]
        done = subprocess.run(
            [sys.executable, str(ROOT / "report.py"), str(folder), *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    assert "2 are to be made" in make()
    local = tmp_path / "out" / "table9" / "local"
    assert (local / "figure.png").stat().st_size > 10_000
    assert "simulated experts (sim/)" in (local / "table.md").read_text()
    before = {path.name: path.read_bytes() for path in local.glob("table.*")}
    assert "2 need nothing, 0 are to be made" in make()
    assert before == {path.name: path.read_bytes() for path in local.glob("table.*")}
