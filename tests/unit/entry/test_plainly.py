from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hydra.errors import ConfigCompositionException
from omegaconf.errors import ConfigAttributeError

from toolorchestra.entry.plainly import FULL_ERROR, explain, keeping_traceback, plainly, tell
from toolorchestra.entry.stop import Stopped


@pytest.fixture(autouse=True)
def usual_environment(monkeypatch, tmp_path):
    monkeypatch.setenv(FULL_ERROR, "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def status_of(error: BaseException) -> int:
    with pytest.raises(SystemExit) as caught, plainly("do this"):
        raise error
    return caught.value.code


def test_a_users_fault_is_one_sentence_with_the_traceback_in_a_file_of_its_own(capsys):
    details = []
    for _ in range(2):
        assert status_of(ValueError("seed: -1 is not allowed;\n use 0")) == 1
        told = capsys.readouterr().err
        match = re.fullmatch(
            r"error: seed: -1 is not allowed; use 0 \(details: (.+\.txt)\)\n", told
        )
        assert match is not None
        details.append(match.group(1))
        assert "in status_of" in Path(details[-1]).read_text()
    assert details[0] != details[1]


def test_a_file_that_cannot_be_used_is_named_with_what_to_do(capsys):
    assert status_of(PermissionError(13, "Permission denied", "/data/x")) == 1
    told = capsys.readouterr().err
    assert "cannot use /data/x (Permission denied); free space" in told


def test_a_fault_of_the_program_keeps_its_traceback():
    with pytest.raises(KeyError), plainly("do this"):
        raise KeyError("lost")


def test_hydra_is_told_to_leave_faults_to_us_and_a_users_wish_for_tracebacks_is_kept(monkeypatch):
    with plainly("do this"):
        assert os.environ[FULL_ERROR] == "1"
    monkeypatch.setenv(FULL_ERROR, "1")
    with pytest.raises(ValueError), plainly("do this"):
        raise ValueError("seed")


def test_ctrl_c_ends_with_130_and_says_how_to_go_on(capsys):
    assert status_of(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "interrupted: do this\n"


def test_ctrl_c_that_a_library_turned_into_an_exit_still_counts_as_one():
    with pytest.raises(SystemExit) as caught, plainly("do this"):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise SystemExit(1)  # noqa: B904 - as Lightning does
    assert caught.value.code == 130


def test_an_exit_without_ctrl_c_keeps_its_status():
    assert status_of(SystemExit(3)) == 3


def test_a_misspelt_key_is_named_without_advice_that_does_not_help():
    error = ConfigCompositionException(
        "Could not override 'a.b'.\nTo append to your config use +a.b=1"
    )
    error.__cause__ = ConfigAttributeError("Key 'b' not in 'A'\n    full_key: a.b\n object_type=A")
    assert explain(error) == (
        "Could not override 'a.b'; Key 'b' not in 'A'; --cfg job shows every key, --help every "
        "option"
    )


def test_a_misspelt_key_leaves_no_file_behind(tmp_path, capsys):
    assert status_of(ConfigCompositionException("Could not override 'a.b'")) == 1
    assert "details" not in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_runs_folder_keeps_the_traceback_and_the_sentence_points_to_it(tmp_path, capsys):
    with pytest.raises(ValueError, match="bad") as caught, keeping_traceback(tmp_path):
        raise ValueError("bad")
    assert "ValueError: bad" in (tmp_path / "error.txt").read_text()
    tell(caught.value, prefix="point 3")
    assert capsys.readouterr().err == f"point 3: bad (details: {tmp_path}/error.txt)\n"


def test_the_traceback_of_an_earlier_try_is_removed(tmp_path):
    (tmp_path / "error.txt").write_text("old")
    with keeping_traceback(tmp_path):
        assert not (tmp_path / "error.txt").exists()


def test_a_run_that_stops_as_it_was_asked_has_a_status_of_its_own_and_no_fault(tmp_path, capsys):
    (tmp_path / "error.txt").write_text("of an earlier try")
    with pytest.raises(SystemExit) as ended, plainly("do this"), keeping_traceback(tmp_path):
        raise Stopped("stopped as asked")
    assert ended.value.code == 75
    assert capsys.readouterr().err == "stopped as asked\n"
    assert list(tmp_path.iterdir()) == []


def test_a_users_wish_for_tracebacks_makes_no_fault_of_a_stop(monkeypatch):
    monkeypatch.setenv(FULL_ERROR, "1")
    assert status_of(Stopped("stopped as asked")) == 75


def test_telling_a_fault_of_the_program_shows_the_traceback(capsys):
    try:
        raise KeyError("lost")
    except KeyError as error:
        tell(error)
    told = capsys.readouterr().err
    assert "a fault of the program" in told and "Traceback" in told and "KeyError: 'lost'" in told
