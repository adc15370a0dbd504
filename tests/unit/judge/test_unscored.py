import pytest

from toolorchestra.judge.unscored import TooManyUnscored, UnscoredWatch


def note(watch, words):
    for is_scored in words:
        watch.note(is_scored=is_scored == "+", reason="503")


def test_few_judgements_are_too_few_to_stop_a_run():
    note(UnscoredWatch(max_share=0.1, window=10), "-" * 9)


def test_the_share_itself_is_allowed_and_one_more_is_not():
    watch = UnscoredWatch(max_share=0.2, window=10)
    note(watch, "++++++++--")
    with pytest.raises(TooManyUnscored, match="3 of the last 10 judgements gave no verdict.*503"):
        note(watch, "-")


def test_a_judge_that_fails_late_is_found_out():
    watch = UnscoredWatch(max_share=0.5, window=10)
    note(watch, "+" * 1000 + "-" * 5)
    with pytest.raises(TooManyUnscored):
        note(watch, "-")


def test_old_failures_are_forgotten():
    note(UnscoredWatch(max_share=0.2, window=10), ("--" + "+" * 10) * 20)


def test_share_1_never_stops():
    note(UnscoredWatch(max_share=1.0, window=2), "-" * 50)


def test_share_0_allows_none():
    watch = UnscoredWatch(max_share=0.0, window=1)
    with pytest.raises(TooManyUnscored):
        note(watch, "+++-")
