import pytest

from toolorchestra.trainer.config import TrainerConfig


def test_the_defaults_and_the_least_values_pass():
    TrainerConfig()
    TrainerConfig(max_steps=0, warmup_steps=0, num_threads=0, clip_norm=0, weight_decay=0, beta1=0)


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("episodes_per_step", 0, "a whole number from 1"),
        ("micro_batch_tokens", 0, "a whole number from 1"),
        ("max_bad_steps", 0, "a whole number from 1"),
        ("checkpoint_every", 0, "a whole number from 1"),
        ("keep_checkpoints", 0, "a whole number from 1"),
        ("max_steps", -1, "a whole number from 0"),
        ("warmup_steps", -1, "a whole number from 0"),
        ("num_threads", -1, "a whole number from 0"),
        ("weight_decay", -0.1, "a finite number from 0"),
        ("clip_norm", float("inf"), "a finite number from 0"),
        ("clip_norm", float("nan"), "a finite number from 0"),
        ("beta1", 1.0, "a number from 0, below 1"),
        ("beta2", -0.1, "a number from 0, below 1"),
        ("learning_rate", 0.0, "a number above 0"),
        ("learning_rate", float("nan"), "a number above 0"),
        ("learning_rate", float("inf"), "a number above 0"),
        ("schedule", "cosine", "constant or linear"),
    ],
)
def test_values_out_of_range_are_refused_by_name(key, value, allowed):
    with pytest.raises(ValueError, match=rf"trainer.{key}: .* is not allowed; use {allowed}"):
        TrainerConfig(**{key: value})
