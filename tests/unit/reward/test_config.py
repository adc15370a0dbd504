import re
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from toolorchestra.reward.config import RewardConfig, TermWeights

OPTIONS = sorted((Path(__file__).parents[3] / "conf" / "reward").glob("*.yaml"))


@pytest.mark.parametrize("path", OPTIONS, ids=lambda path: path.stem)
def test_every_option_fits_the_schema_and_bears_its_own_name(path: Path):
    config = OmegaConf.merge(OmegaConf.structured(RewardConfig), OmegaConf.load(path))
    assert OmegaConf.to_object(config).name == path.stem
    assert path.read_text().startswith("# ")


def test_the_default_is_the_papers_reward():
    assert RewardConfig() == RewardConfig(
        name="paper",
        rule="paper",
        preference="episode",
        weights=TermWeights(outcome=1, cost=1, latency=1, tools=1),
    )


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: RewardConfig(rule="sum"),
            "reward.rule: 'sum' is not allowed; use one of paper, gdpo",
        ),
        (
            lambda: RewardConfig(tool_use="twice"),
            "reward.tool_use: 'twice' is not allowed; use one of count, once",
        ),
        (
            lambda: RewardConfig(preference="mine"),
            "reward.preference: 'mine' is not allowed; use one of episode, fixed",
        ),
        (
            lambda: RewardConfig(preference="fixed"),
            "reward.weights.tools: 1.0 is not allowed; use 0 with reward.preference=fixed",
        ),
        (
            lambda: TermWeights(cost=-0.1),
            "reward.weights.cost: -0.1 is not allowed; use a number from 0 to 1",
        ),
        (
            lambda: TermWeights(outcome=float("nan")),
            "reward.weights.outcome: nan is not allowed; use a number from 0 to 1",
        ),
    ],
)
def test_a_bad_option_names_key_value_and_what_is_allowed(build, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        build()
