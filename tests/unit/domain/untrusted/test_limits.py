import pytest

from toolorchestra.domain.untrusted.limits import LIMITS, limits_of, options_of


def test_options_make_limits_and_limits_tell_their_options():
    options = {"timeout_s": 2.0, "unsafe": "run_without_sandbox", "max_parallel": 1}
    assert options_of(limits_of(options)) == options
    assert (options_of(LIMITS), limits_of({})) == ({}, LIMITS)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"python": "/bin/sh"}, "sandbox: 'python' is not allowed; use timeout_s, memory_mb"),
        ({"timeout_s": "long"}, "sandbox: {'timeout_s': 'long'} is not allowed: .* not supported"),
        ({"image": 3}, "sandbox: {'image': 3} is not allowed"),
        ({"work_mb": 3}, "sandbox: 'work_mb' is not allowed"),
        ({"timeout_s": -1}, "sandbox.timeout_s: -1 is not allowed"),
        (
            {"unsafe": "yes"},
            'sandbox.unsafe: .yes. is not allowed; use "" or "run_without_sandbox"',
        ),
    ],
)
def test_other_options_and_values_are_refused(options, reason):
    with pytest.raises(ValueError, match=reason):
        limits_of(options)
