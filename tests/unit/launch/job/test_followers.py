"""The other ranks of a machine: with what they are started, and how they and the first end."""

from __future__ import annotations

import os
import sys

import pytest

from toolorchestra.launch.job.followers import Followers

PLACE = ("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "NODE_RANK", "LOCAL_RANK")


@pytest.fixture
def ranks_run(tmp_path, monkeypatch):
    """Has every other rank run a shell script in place of the program."""

    def become(script):
        path = tmp_path / "python"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(path))

    for key in PLACE:
        monkeypatch.delenv(key, raising=False)
    return become


def alive(followers):
    return [process.poll() is None for process in followers._processes]


def test_one_rank_alone_starts_nothing_and_leaves_the_environment(tmp_path, ranks_run):
    ranks_run("exit 9")
    before = dict(os.environ)
    with Followers(tmp_path, num_ranks=1) as followers:
        assert followers._processes == []
        assert dict(os.environ) == before


def test_each_rank_is_told_its_place_and_writes_its_own_log(tmp_path, ranks_run):
    ranks_run('echo "$@ $LOCAL_RANK of $WORLD_SIZE at $MASTER_ADDR"; echo $MASTER_PORT')
    before = dict(os.environ)
    with Followers(tmp_path, num_ranks=3):
        assert os.environ["LOCAL_RANK"] == "0"
        port = os.environ["MASTER_PORT"]
    assert dict(os.environ) == before
    for rank in (1, 2):
        told = f"-m toolorchestra.follow {tmp_path} {rank} of 3 at 127.0.0.1\n{port}\n"
        assert (tmp_path / f"rank_{rank}.log").read_text() == told


def test_ranks_that_a_launcher_has_started_are_not_started_again(tmp_path, ranks_run, monkeypatch):
    ranks_run("touch ran")
    monkeypatch.setenv("WORLD_SIZE", "16")
    monkeypatch.setenv("MASTER_ADDR", "n1")
    before = dict(os.environ)
    with Followers(tmp_path, num_ranks=16, num_nodes=2) as followers:
        assert followers._processes == []
        assert dict(os.environ) == before
    assert dict(os.environ) == before


def test_a_launcher_that_has_started_another_number_of_ranks_is_told_how_many(
    tmp_path, ranks_run, monkeypatch
):
    ranks_run("touch ran")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError) as caught, Followers(tmp_path, num_ranks=8):
        pass
    assert str(caught.value) == (
        "trainer.devices x trainer.num_nodes: 8 is not allowed here; a launcher has started 2 "
        "ranks (WORLD_SIZE)"
    )


def test_without_a_launcher_there_is_one_machine(tmp_path, ranks_run):
    ranks_run("touch ran")
    with pytest.raises(ValueError) as caught, Followers(tmp_path, num_ranks=4, num_nodes=2):
        pass
    assert str(caught.value) == (
        "trainer.num_nodes: 2 is not allowed on one machine; use launcher=slurm"
    )
    assert list(tmp_path.glob("rank_*")) == []


def test_what_breaks_off_the_first_because_another_died_is_told_so(tmp_path, ranks_run):
    ranks_run("exit 3")
    told = r"rank 1 ended with status 3; .*rank_1.log says why; then use resume=auto"
    with pytest.raises(ValueError, match=told), Followers(tmp_path, num_ranks=2):
        raise RuntimeError("connection closed by peer")


def test_a_fault_of_the_first_stays_its_own_and_ends_the_others(tmp_path, ranks_run):
    ranks_run("exec sleep 60")
    followers = Followers(tmp_path, num_ranks=3)
    with pytest.raises(ValueError, match="no such tool"), followers:
        assert alive(followers) == [True, True]
        raise ValueError("no such tool")
    assert alive(followers) == [False, False]
