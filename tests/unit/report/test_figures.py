import struct
import subprocess
import sys

import pytest

from toolorchestra.report.figures import PolicyPoint, draw_accuracy_over_cost, draw_reward_curve
from toolorchestra.report.metrics import MetricsCsv
from toolorchestra.report.stats import Estimate

CURVES = {"reward": "mean reward", "utility": "utility U"}


def png_size(path):
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", data[16:24])


def metrics_file(tmp_path, num_steps=30):
    log = MetricsCsv(tmp_path / "metrics.csv")
    for step in range(num_steps):
        log.write(step, {"reward": step / 30} | ({"utility": 0.5} if step % 10 == 0 else {}))
    return tmp_path / "metrics.csv"


def points(n):
    return [
        PolicyPoint(
            name=f"policy {i}",
            cost_cents=Estimate(value=1.0, low=0.9, high=1.1),
            accuracy=Estimate(value=0.5, low=0.5 + 1e-18, high=0.6),
        )
        for i in range(n)
    ]


def test_a_reward_curve_is_1000_pixels_wide(tmp_path):
    draw_reward_curve(
        metrics_file(tmp_path), tmp_path / "r.png", series=CURVES, title="t", is_simulated=True
    )
    assert png_size(tmp_path / "r.png") == (1000, 620)


@pytest.mark.parametrize("num_steps", [1, 2])
def test_a_run_of_one_step_can_be_drawn(tmp_path, num_steps):
    csv = metrics_file(tmp_path, num_steps)
    draw_reward_curve(csv, tmp_path / "r.png", series=CURVES, title="t", is_simulated=False)
    assert png_size(tmp_path / "r.png") == (1000, 620)


def test_metrics_that_are_not_there_are_named(tmp_path):
    csv = metrics_file(tmp_path)
    with pytest.raises(ValueError, match="holds none of accuracy: nothing to draw"):
        draw_reward_curve(
            csv, tmp_path / "r.png", series={"accuracy": "a"}, title="t", is_simulated=False
        )
    assert not (tmp_path / "r.png").exists()


@pytest.mark.parametrize("num_points", [0, 1, 12])
def test_policies_on_one_spot_can_be_drawn_with_and_without_frontier(tmp_path, num_points):
    for frontier in ([], [(2.0, 0.9), (0.5, 0.4)]):
        draw_accuracy_over_cost(
            points(num_points), tmp_path / "a.png", frontier=frontier, title="t", is_simulated=True
        )
        assert png_size(tmp_path / "a.png") == (1000, 620)


def test_the_simulated_note_changes_the_picture(tmp_path):
    for is_simulated in (True, False):
        png = tmp_path / f"{is_simulated}.png"
        draw_accuracy_over_cost(points(1), png, frontier=[], title="t", is_simulated=is_simulated)
    assert (tmp_path / "True.png").read_bytes() != (tmp_path / "False.png").read_bytes()


def test_matplotlib_is_loaded_only_to_draw_and_pyplot_never():
    code = (
        "import sys, toolorchestra.report.figures as f\n"
        "assert 'matplotlib' not in sys.modules\n"
        "f.blank('t', is_simulated=True)\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
