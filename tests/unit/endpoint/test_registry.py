"""Who counts as live: by beats that a reader sees, not by clocks that may disagree."""

from __future__ import annotations

import json
import os
import time
from types import SimpleNamespace

import pytest
from tests.unit.endpoint.scene import MODEL

from toolorchestra.endpoint import registry as registry_module
from toolorchestra.endpoint.registry import DAY_S, SKEW_S, SUFFIX, Registry


@pytest.fixture
def sleep(monkeypatch):
    """Lets the reader's time pass, which otherwise stands still."""
    now = SimpleNamespace(s=1000.0)
    monkeypatch.setattr(registry_module, "time", SimpleNamespace(monotonic=lambda: now.s))

    def pass_by(seconds):
        now.s += seconds

    return pass_by


def at(offset_s):
    """A clock that is wrong."""
    return lambda: time.time() + offset_s


def announce(registry, service=MODEL, *, lifetime_s=10.0, **options):
    return registry.announce(service, url="http://node7:8000", lifetime_s=lifetime_s, **options)


def file_of(registry, endpoint):
    return registry.folder / (endpoint.id + SUFFIX)


def test_a_server_is_found_by_its_service_with_all_that_it_said(tmp_path):
    registry = Registry(tmp_path / "new" / "servers")
    assert registry.find(MODEL) == []
    mine = announce(registry, host="node7", job_id="41")
    announce(registry, "retrieval")
    assert Registry(registry.folder).find(MODEL) == [mine]
    assert (mine.host, mine.job_id, mine.pid) == ("node7", "41", os.getpid())
    assert mine.expires_at - mine.beat_at == pytest.approx(10.0)
    assert mine.id.startswith("Qwen-Qwen3-32B-node7-")


def test_two_servers_of_one_process_are_two_replicas(tmp_path):
    registry = Registry(tmp_path)
    both = [announce(registry) for _ in range(2)]
    assert {item.id for item in registry.find(MODEL)} == {item.id for item in both}


def test_a_server_that_is_starting_is_listed_but_not_found(tmp_path):
    registry = Registry(tmp_path)
    mine = announce(registry, is_ready=False)
    assert registry.find(MODEL) == [] and registry.read() == (mine,)
    mine = registry.beat(mine, is_ready=True)
    assert registry.find(MODEL) == [mine]


def test_a_withdrawn_server_is_gone_at_once_and_the_others_stay(tmp_path):
    registry = Registry(tmp_path)
    first, second = announce(registry), announce(registry)
    registry.withdraw(first)
    registry.withdraw(first)
    assert registry.find(MODEL) == [second]


def test_a_server_lives_while_it_beats_and_expires_without(tmp_path, sleep):
    writer, reader = Registry(tmp_path), Registry(tmp_path)
    mine = announce(writer)
    for _ in range(3):
        for _ in range(2):
            assert reader.find(MODEL) == [mine]
            sleep(4.0)
        mine = writer.beat(mine)
    assert reader.find(MODEL) == [mine]
    sleep(9.9)
    assert reader.find(MODEL) == [mine]
    sleep(0.2)
    assert reader.find(MODEL) == []
    assert file_of(writer, mine).exists(), "it is not the reader's to remove"
    mine = writer.beat(mine)
    assert reader.find(MODEL) == [mine], "a beat brings it back"


@pytest.mark.parametrize("offset_s", [-0.9 * SKEW_S, 0.9 * SKEW_S])
def test_clocks_that_disagree_within_reason_hide_nobody(tmp_path, offset_s):
    announce(Registry(tmp_path, clock=at(offset_s)))
    assert len(Registry(tmp_path).find(MODEL)) == 1


@pytest.mark.parametrize("offset_s", [-3600.0, 3600.0])
def test_whatever_clocks_say_a_beat_that_is_seen_counts_and_so_does_its_absence(
    tmp_path, sleep, offset_s
):
    writer, reader = Registry(tmp_path, clock=at(offset_s)), Registry(tmp_path)
    mine = announce(writer)
    assert reader.find(MODEL) == [], "at first sight it looks long dead"
    for _ in range(3):
        sleep(4.0)
        mine = writer.beat(mine)
        assert reader.find(MODEL) == [mine]
    sleep(9.0)
    assert reader.find(MODEL) == [mine]
    sleep(2.0)
    assert reader.find(MODEL) == []


def test_a_clock_that_stands_still_does_not_hide_beats(tmp_path, sleep):
    frozen = time.time()
    writer, reader = Registry(tmp_path, clock=lambda: frozen), Registry(tmp_path)
    mine = announce(writer)
    for _ in range(5):
        assert reader.find(MODEL) == [mine]
        sleep(4.0)
        mine = writer.beat(mine)


def test_a_server_that_died_while_nobody_watched_is_dead_at_first_sight(tmp_path):
    announce(Registry(tmp_path, clock=at(-SKEW_S - 11.0)))
    assert Registry(tmp_path).find(MODEL) == []


def test_a_reader_that_slept_gives_everybody_time_to_beat(tmp_path, sleep):
    writer, reader = Registry(tmp_path), Registry(tmp_path)
    mine = announce(writer)
    assert reader.find(MODEL) == [mine]
    sleep(15.0)  # the reader stood still, or the disk, and so no beat came
    assert reader.find(MODEL) == [mine]
    sleep(6.0)
    assert reader.find(MODEL) == [mine]
    sleep(6.0)
    assert reader.find(MODEL) == [], "it was watched, and did not beat"


def test_a_folder_that_cannot_be_read_kills_nobody(tmp_path, sleep, monkeypatch, caplog):
    reader = Registry(tmp_path)
    mine = announce(Registry(tmp_path))
    assert reader.find(MODEL) == [mine]

    def fail(path):
        raise OSError(116, "Stale file handle")

    with monkeypatch.context() as patched:
        patched.setattr(type(tmp_path), "iterdir", fail)
        for _ in range(3):
            sleep(5.0)
            assert reader.find(MODEL) == [mine]
    assert reader.find(MODEL) == [mine]
    assert len([line for line in caplog.messages if "Stale file handle" in line]) == 1


@pytest.mark.parametrize(
    "content", [b"", b'{"service": "Qwen', b"[1]", b"\xff\xfe", b'{"service": "x", "new_key": 1}']
)
def test_foreign_and_torn_files_are_passed_over_and_told_of_once(tmp_path, caplog, content):
    registry = Registry(tmp_path)
    mine = announce(registry)
    (tmp_path / f"torn{SUFFIX}").write_bytes(content)
    (tmp_path / "notes.json").write_bytes(content)
    (tmp_path / f"folder{SUFFIX}").mkdir()
    for _ in range(2):
        assert registry.find(MODEL) == [mine]
    assert [line.split(" in ")[0] for line in caplog.messages] == [
        f"cannot read folder{SUFFIX}",
        f"cannot read torn{SUFFIX}",
    ]


def test_a_record_that_is_torn_for_a_moment_keeps_its_server_listed(tmp_path, sleep):
    registry = Registry(tmp_path)
    mine = announce(registry)
    assert registry.find(MODEL) == [mine]
    file_of(registry, mine).write_text(file_of(registry, mine).read_text()[:40])
    assert registry.find(MODEL) == [mine]
    sleep(10.1)
    assert registry.find(MODEL) == [], "but not for longer than its last beat lasts"


def test_a_copy_of_a_record_is_no_second_replica(tmp_path):
    registry = Registry(tmp_path)
    mine = announce(registry)
    (tmp_path / f"copy{SUFFIX}").write_bytes(file_of(registry, mine).read_bytes())
    assert registry.find(MODEL) == [mine]


def test_a_record_is_never_seen_half_written(tmp_path):
    registry = Registry(tmp_path)
    mine = announce(registry)
    before = file_of(registry, mine).open()  # keeps the old file, as a reader of the moment does
    registry.beat(mine)
    assert json.load(before)["num_beats"] == 0
    assert [path.name for path in tmp_path.iterdir()] == [mine.id + SUFFIX]


def test_sweeping_removes_records_of_servers_long_dead_and_nothing_else(tmp_path):
    registry = Registry(tmp_path)
    dead = announce(Registry(tmp_path, clock=at(-2 * DAY_S)))
    fresh = announce(registry)
    for name in (f"torn{SUFFIX}", "notes.json", "old.endpoint.new", "young.endpoint.new"):
        (tmp_path / name).write_text("{")
        os.utime(tmp_path / name, (0.0, time.time() if "young" in name else 0.0))
    assert registry.sweep() == 2
    assert not file_of(registry, dead).exists()
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {fresh.id + SUFFIX, f"torn{SUFFIX}", "notes.json", "young.endpoint.new"}
    assert Registry(tmp_path / "nowhere").sweep() == 0


def test_a_lifetime_that_is_none_is_refused(tmp_path):
    with pytest.raises(ValueError, match="lifetime_s must be positive; got 0"):
        announce(Registry(tmp_path), lifetime_s=0.0)
