import json
import struct
import subprocess
import sys
import time

import pytest

from toolorchestra.report.tracking import Tracker, run_id_of

OPTIONS = {"project": "p", "group": "default", "name": "local seed 0", "job_type": "train"}


def history(wandb_file):
    """The points in an offline run's log, which is a LevelDB log after a header of 7 bytes."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, at = wandb_file.read_bytes(), 7
    points, whole = [], b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:  # too little for a header: the block ends in zeros
            at += left
            continue
        _, size, kind = struct.unpack_from("<IHB", data, at)  # kind: 1 full, 2 first .. 4 last
        if kind == 0:  # padding to the next block of 32 KiB
            at += left
            continue
        whole = data[at + 7 : at + 7 + size] if kind in (1, 2) else whole + data[at + 7 :][:size]
        at += 7 + size
        record = Record.FromString(whole) if kind in (1, 4) else Record()
        if record.WhichOneof("record_type") == "history":
            items = record.history.item
            points.append(
                {"/".join(i.nested_key) or i.key: json.loads(i.value_json) for i in items}
            )
    return points


def settled_history(wandb_file):
    """The points once W&B's own process has written its last bytes, a moment after the run ends."""
    points = history(wandb_file)
    for _ in range(20):
        time.sleep(0.5)
        earlier, points = points, history(wandb_file)
        if len(points) == len(earlier):
            break
    return points


def logs(run_dir):
    return sorted((run_dir / "wandb").glob("offline-run-*/run-*.wandb"))


def test_a_resumed_offline_run_keeps_its_id_and_drops_no_step(tmp_path, capfd):
    # C39: logs to 160, checkpoint at 150; steps 151 to 160 come again and must be accepted.
    for first, last in [(0, 160), (151, 170)]:
        tracker = Tracker.start(tmp_path, {"a": {"b": 1}}, mode="offline", **OPTIONS)
        for step in range(first, last + 1):
            tracker.log(step, {"reward/mean": step / 100})
        tracker.log_rows(last, [{"task": "t1", "reward": 0.5}, {"task": "t2", "reward": 0.0}])
        tracker.log_rows(last + 1, [{"task": "t3", "reward": 0.25}])
        tracker.finish()
        tracker.finish()
        time.sleep(1.1)  # an offline run's folder is named by the second it started in
    before, after = (settled_history(log) for log in logs(tmp_path))
    assert [p["step"] for p in before if "reward/mean" in p] == list(range(161))
    assert [p["step"] for p in after if "reward/mean" in p] == list(range(151, 171))
    assert after[0]["reward/mean"] == 1.51
    assert all(log.name == f"run-{run_id_of(tmp_path)}.wandb" for log in logs(tmp_path))
    rows = [row for path in sorted(logs(tmp_path)[0].parent.glob("files/media/table/*.json"))
            for row in json.loads(path.read_text())["data"]]  # fmt: skip
    assert sorted(rows) == [[160, "t1", 0.5], [160, "t2", 0.0], [161, "t3", 0.25]]
    assert "wandb" not in "".join(capfd.readouterr())


def test_the_id_is_stable_for_a_folder_and_differs_between_sweep_points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "0").mkdir()
    assert run_id_of(tmp_path / "0") == run_id_of(tmp_path / "1" / ".." / "0")
    assert run_id_of(tmp_path / "0") == run_id_of(type(tmp_path)("0"))
    assert run_id_of(tmp_path / "0") != run_id_of(tmp_path / "1")


def test_disabled_logs_nowhere_and_does_not_load_wandb(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\nfrom toolorchestra.report.tracking import Tracker\n"
        "t = Tracker.start(Path(sys.argv[1]), {}, mode='disabled', project='p', group='g',"
        " name='n', job_type='train')\n"
        "t.log(0, {'x': 1.0}); t.log_rows(0, [{'a': 1}]); t.finish()\n"
        "assert 'wandb' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert list(tmp_path.iterdir()) == []


def test_online_without_a_key_says_what_to_do_before_training(tmp_path, monkeypatch):
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with pytest.raises(ValueError, match="online W&B could not start .*logger=offline") as caught:
        Tracker.start(tmp_path / "run", {}, mode="online", **OPTIONS)
    assert "\n" not in str(caught.value)
