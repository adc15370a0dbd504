import os
import signal
import subprocess
import sys

import pytest

from toolorchestra.report.metrics import MetricsCsv, read_metrics

STEPS = [
    {"reward": 0.1 + 0.2, "loss": 1e-17},
    {"reward": 0.25, "loss": -3.0},
    {"reward": 0.5, "loss": 2.0, "eval/utility": 0.7},
    {"reward": 1 / 3, "loss": 2.0},
    {"reward": 1.0, "loss": 2.0, "calls/search": 12, "eval/utility": 0.75},
]


def write_all(path, *, keep_through=-1):
    log = MetricsCsv(path, keep_through=keep_through)
    for step in range(keep_through + 1, len(STEPS)):
        log.write(step, STEPS[step])


def test_rows_read_back_to_the_last_digit_and_without_empty_cells(tmp_path):
    write_all(tmp_path / "m.csv")
    assert read_metrics(tmp_path / "m.csv") == [{"step": i} | row for i, row in enumerate(STEPS)]


def test_the_file_is_plain_csv(tmp_path):
    write_all(tmp_path / "m.csv")
    assert (tmp_path / "m.csv").read_text().splitlines() == [
        "step,reward,loss,eval/utility,calls/search",
        "0,0.30000000000000004,1e-17,,",
        "1,0.25,-3.0,,",
        "2,0.5,2.0,0.7,",
        "3,0.3333333333333333,2.0,,",
        "4,1.0,2.0,0.75,12",
    ]


@pytest.mark.parametrize("checkpoint", range(-1, len(STEPS)))
def test_a_resumed_file_equals_one_never_killed(tmp_path, checkpoint):
    write_all(tmp_path / "whole.csv")
    write_all(tmp_path / "m.csv")
    write_all(tmp_path / "m.csv", keep_through=checkpoint)
    assert (tmp_path / "m.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_a_cut_at_any_byte_after_the_checkpoint_is_survived(tmp_path):
    path = tmp_path / "m.csv"
    write_all(path)
    whole = path.read_bytes()
    through_step_2 = whole.index(b"\n3,") + 1
    for cut in range(through_step_2, len(whole)):
        path.write_bytes(whole[:cut])
        write_all(path, keep_through=2)
        assert path.read_bytes() == whole, f"cut at byte {cut}"


def test_a_cut_before_the_first_row_leaves_no_rows(tmp_path):
    (tmp_path / "m.csv").write_text("step,rew")
    assert read_metrics(tmp_path / "m.csv") == []


def test_steps_after_the_checkpoint_are_written_once(tmp_path):
    # C39: logs to 160, checkpoint at 150, resumed: 151 to 160 appear once.
    log = MetricsCsv(tmp_path / "m.csv")
    for step in range(161):
        log.write(step, {"cost": 1.0})
    log = MetricsCsv(tmp_path / "m.csv", keep_through=150)
    for step in range(151, 170):
        log.write(step, {"cost": 1.0})
    assert [row["step"] for row in read_metrics(tmp_path / "m.csv")] == list(range(170))


def test_a_fresh_start_forgets_an_older_file(tmp_path):
    write_all(tmp_path / "m.csv")
    MetricsCsv(tmp_path / "m.csv").write(0, {"x": 1.0})
    assert read_metrics(tmp_path / "m.csv") == [{"step": 0, "x": 1.0}]


def test_a_step_cannot_be_written_twice(tmp_path):
    log = MetricsCsv(tmp_path / "m.csv")
    log.write(3, {"x": 1.0})
    with pytest.raises(AssertionError, match="step 3 follows step 3"):
        log.write(3, {"x": 1.0})


@pytest.mark.parametrize(
    ("line", "message"),
    [("1,0.5,9", "3 cells under 2"), ("1,abc", "could not convert"), ("1", "1 cells")],
)
def test_a_corrupt_line_is_named(tmp_path, line, message):
    (tmp_path / "m.csv").write_text(f"step,reward\n0,0.5\n{line}\n2,0.5\n")
    with pytest.raises(ValueError, match=rf"m\.csv:3: {message}"):
        read_metrics(tmp_path / "m.csv")


def test_kill_9_between_steps_leaves_a_readable_file(tmp_path):
    path = tmp_path / "m.csv"
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from toolorchestra.report.metrics import MetricsCsv\n"
        "log = MetricsCsv(Path(sys.argv[1]))\n"
        "for step in range(10**9):\n"
        "    log.write(step, {'x': step / 7, f'y{step // 50}': 1.0})\n"
        "    if step == 200: print('go', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    steps = [row["step"] for row in read_metrics(path)]
    assert steps == list(range(len(steps)))
    assert len(steps) > 200
