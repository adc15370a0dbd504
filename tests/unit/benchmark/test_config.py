import pytest
from tests.unit.benchmark.worlds import tool_config

from toolorchestra.benchmark.config import BenchmarkConfig, TransferConfig
from toolorchestra.dataset.config import DatasetConfig, Tau2Config
from toolorchestra.pricing.config import PricingConfig, ScheduleConfig
from toolorchestra.toolset.config import ToolsetConfig


def transfer(**changes):
    tools = {"a": tool_config()}
    fields = {
        "toolset": ToolsetConfig(name="t", tools=tools, min_tools=1, max_tools=1),
        "pricing": PricingConfig(name="p", schedules={"s": ScheduleConfig()}, draw=["s"]),
    }
    return TransferConfig(**(fields | changes))


def test_the_defaults_pass_and_0_means_no_evaluation():
    assert BenchmarkConfig(name="x").horizon == 4
    assert BenchmarkConfig(name="x", num_episodes=0, transfer=transfer()).num_episodes == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"num_episodes": 1},
            "benchmark.num_episodes: 1 is not allowed; use 0 or at least 2, or null",
        ),
        ({"num_episodes": -3}, "benchmark.num_episodes: -3 is not allowed; use 0 or at least 2"),
        ({"horizon": 0}, "benchmark.horizon: 0 is not allowed; use 1 to 6"),
        ({"horizon": 7}, "benchmark.horizon: 7 is not allowed; use 1 to 6"),
        (
            {"reference": "start"},
            "benchmark.reference: 'start' is not allowed; use random, ablest, cheapest or null",
        ),
    ],
)
def test_values_out_of_range_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        BenchmarkConfig(**({"name": "x"} | changes))


def test_each_held_out_task_once_is_an_evaluation_and_0_is_none():
    assert not BenchmarkConfig(name="x", num_episodes=None).is_off
    assert not BenchmarkConfig(name="x", num_episodes=2).is_off
    assert BenchmarkConfig(name="x", num_episodes=0).is_off


def test_one_transfer_episode_has_no_interval():
    with pytest.raises(ValueError, match="benchmark.transfer.num_episodes: 1 is not allowed"):
        transfer(num_episodes=1)


def test_each_domain_of_tau2_bench_is_a_world_of_its_own():
    dataset = DatasetConfig(name="tau2", kind="tau2", is_heldout=True, tau2=Tau2Config())
    assert BenchmarkConfig(name="tau2", dataset=dataset).world == "tau2_airline"
    assert BenchmarkConfig(name="local").world == "local"
