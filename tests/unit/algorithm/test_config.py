import re
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from toolorchestra.algorithm.config import AlgorithmConfig

OPTIONS = sorted((Path(__file__).parents[3] / "conf" / "algorithm").glob("*.yaml"))


@pytest.mark.parametrize("path", OPTIONS, ids=lambda path: path.stem)
def test_every_option_fits_the_schema_and_bears_its_own_name(path: Path):
    config = OmegaConf.merge(OmegaConf.structured(AlgorithmConfig), OmegaConf.load(path))
    assert OmegaConf.to_object(config).name == path.stem
    assert path.read_text().startswith("# ")


def test_the_default_has_no_kl_and_no_entropy_term():
    config = AlgorithmConfig()
    assert (config.kl, config.kl_coef, config.entropy_coef) == ("none", 0.0, 0.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"loss": "ppo"},
            "algorithm.loss: 'ppo' is not allowed; use one of grpo, gspo, cispo",
        ),
        (
            {"old_policy": "engine"},
            "algorithm.old_policy: 'engine' is not allowed; use one of sampler, trainer",
        ),
        ({"group_size": 0}, "algorithm.group_size: 0 is not allowed; use a whole number from 1 up"),
        ({"dual_clip": 0.5}, "algorithm.dual_clip: 0.5 is not allowed; use 0 or a number above 1"),
        (
            {"homogeneity_std": -0.1},
            "algorithm.homogeneity_std: -0.1 is not allowed; use a number from 0 up",
        ),
        (
            {"clip_low": float("nan")},
            "algorithm.clip_low: nan is not allowed; use a number above 0, at most 1",
        ),
        (
            {"kl_coef": 1e-3},
            "algorithm.kl: 'none' is not allowed; use k1, k2 or k3 with kl_coef",
        ),
    ],
)
def test_a_bad_option_names_key_value_and_what_is_allowed(changes, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        AlgorithmConfig(**changes)
