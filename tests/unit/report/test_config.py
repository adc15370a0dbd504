import pytest

from toolorchestra.report.config import LoggerConfig


def test_the_default_needs_no_key():
    assert LoggerConfig().mode == "offline"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "on"}, "logger.mode: 'on' is not allowed; use offline, online, disabled"),
        ({"project": ""}, "logger.project: '' is not allowed"),
        ({"project": "me/x"}, "logger.project: 'me/x' is not allowed"),
        ({"trajectories_per_step": -1}, "logger.trajectories_per_step: -1 is not allowed"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        LoggerConfig(**options)
