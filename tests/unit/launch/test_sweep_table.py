from __future__ import annotations

import json

import pytest
from hydra.core.utils import JobReturn, JobStatus
from hydra.types import RunMode
from omegaconf import OmegaConf

from toolorchestra.launch.sweep_table import SweepTable


@pytest.fixture
def sweep(tmp_path):
    def config(number=0, mode="MULTIRUN"):
        return OmegaConf.create(
            {
                "hydra": {
                    "mode": RunMode[mode],
                    "sweep": {"dir": str(tmp_path)},
                    "job": {"num": number, "override_dirname": f"seed={number}"},
                }
            }
        )

    return config


def finished(tmp_path, number):
    folder = tmp_path / str(number)
    folder.mkdir()
    summary = {"config": {"seed": number, "toolset": "local"}, "metrics": {"utility": number / 4}}
    (folder / "summary.json").write_text(json.dumps(summary))
    done = JobReturn()
    done.return_value, done.status = folder, JobStatus.COMPLETED
    return done


def failed(error):
    done = JobReturn()
    done.return_value, done.status = error, JobStatus.FAILED
    return done


def test_finished_points_make_one_table_on_disk_and_on_the_terminal(sweep, tmp_path, capsys):
    table = SweepTable()
    for number in (0, 1):
        table.on_job_end(sweep(number), finished(tmp_path, number))
    table.on_multirun_end(sweep())
    told = capsys.readouterr()
    assert "Comparison of 2 runs" in told.out and told.err == ""
    text = (tmp_path / "comparison.md").read_text()
    assert "seed" in text and "0.25" in text and "toolset=local" in text
    assert (tmp_path / "comparison.csv").read_text().count("\n") == 3
    assert r"\toprule" in (tmp_path / "comparison.tex").read_text()


def test_a_failed_point_is_told_named_at_the_end_and_turns_the_exit_status(sweep, tmp_path, capsys):
    table = SweepTable()
    broken = failed(ValueError("no sandbox"))
    table.on_job_end(sweep(0), broken)
    assert broken.return_value is None  # so that Hydra goes on to the end
    table.on_job_end(sweep(1), finished(tmp_path, 1))
    assert "point 0 (seed=0): no sandbox (details" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        table.on_multirun_end(sweep())
    told = capsys.readouterr()
    assert caught.value.code == 1
    assert "error: 1 of 2 points did not finish:\n  point 0 (seed=0): no sandbox" in told.err
    assert "Comparison of 1" in told.out


def test_a_sweep_without_any_finished_point_writes_no_table(sweep, tmp_path, capsys):
    table = SweepTable()
    table.on_job_end(sweep(0), failed(KeyError("lost")))
    assert "Traceback" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        table.on_multirun_end(sweep())
    assert list(tmp_path.iterdir()) == []


def test_a_single_run_keeps_its_fault(sweep):
    broken = failed(ValueError("no sandbox"))
    SweepTable().on_job_end(sweep(0, mode="RUN"), broken)
    assert broken.status == JobStatus.FAILED
