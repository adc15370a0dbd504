"""How a run is asked to stop: the file that it obeys, and signals that are only taken note of."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from tests.unit.launch.scene import in_a_task

from toolorchestra.entry.stop import Signals, StopFile, Stopped
from toolorchestra.process import STOP_SIGNALS


def test_a_run_that_nobody_asked_goes_on(tmp_path):
    stop = StopFile(tmp_path)
    assert not stop.is_there()
    stop.obey()


def test_a_run_that_was_asked_stops_once_and_says_how_it_goes_on(tmp_path):
    StopFile(tmp_path).ask()
    StopFile(tmp_path).ask()  # twice is no more than once
    stop = StopFile(tmp_path)
    assert stop.is_there() and (tmp_path / "stop").exists()
    with pytest.raises(Stopped, match=r"stopped as asked; .* resume=auto goes on"):
        stop.obey()
    assert not (tmp_path / "stop").exists()
    stop.obey()


def test_a_wish_can_be_taken_back_and_so_can_none(tmp_path):
    stop = StopFile(tmp_path)
    stop.ask()
    stop.remove()
    stop.remove()
    stop.obey()


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_is_taken_note_of_and_does_nothing_else(number):
    before, told = signal.getsignal(number), []
    signal.signal(number, lambda *_: told.append("as before"))
    try:
        with Signals() as signals:
            assert not signals.heard
            os.kill(os.getpid(), number)
            assert signals.heard
        assert told == []
        os.kill(os.getpid(), number)
        assert told == ["as before"], "afterwards, the handlers before act again"
        assert signals.heard, "what was heard is not forgotten"
    finally:
        signal.signal(number, before)


def test_handlers_are_given_back_after_an_exception_too():
    before = [signal.getsignal(number) for number in STOP_SIGNALS]
    with pytest.raises(KeyError), Signals():
        assert [signal.getsignal(number) for number in STOP_SIGNALS] != before
        raise KeyError("x")
    assert [signal.getsignal(number) for number in STOP_SIGNALS] == before


def test_a_signal_within_another_does_not_stop_everything():
    # Slurm sends SIGTERM and SIGUSR2 at once; a lock that the first one holds would be for ever.
    def interrupt(frame, kind, argument):
        os.kill(os.getpid(), signal.SIGUSR2)

    def run():
        with Signals() as signals:
            sys.setprofile(interrupt)  # at each call, so that it comes in the middle of the other
            os.kill(os.getpid(), signal.SIGTERM)
            sys.setprofile(None)
        return signals.heard

    assert in_a_task(run, timeout_s=10)
