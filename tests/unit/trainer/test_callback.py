"""When checkpoints are written: every few steps, after the last, and where the run is to stop."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.unit.trainer.test_module import Run

from toolorchestra.trainer.callback import SaveCheckpoints
from toolorchestra.trainer.checkpoint import Checkpoints
from toolorchestra.trainer.fit import fit


def train(tmp_path, *, stop_after=None, resume_from=None, **changes):
    """Trains, and asks to stop once so many steps are done; the run, and the checkpoints kept."""
    run = Run(**changes)
    fit(
        run.module,
        run.options,
        dtype="float32",
        checkpoints=Checkpoints(tmp_path, keep=9, writer={}),
        resume_from=resume_from,
        is_to_stop=lambda: stop_after is not None and run.module.next_step >= stop_after,
    )
    return run, sorted(path.name for path in tmp_path.iterdir())


def test_a_run_that_nobody_stops_saves_every_few_steps_and_at_the_end(tmp_path):
    run, kept = train(tmp_path, max_steps=5, checkpoint_every=2)
    assert run.collected == [0, 1, 2, 3, 4]
    assert kept == ["step_000002", "step_000004", "step_000005"]


def test_a_run_that_is_to_stop_ends_after_its_step_with_a_checkpoint_of_it(tmp_path):
    run, kept = train(tmp_path, stop_after=3, checkpoint_every=10)
    assert run.collected == [0, 1, 2]
    assert [step for step, _ in run.steps] == [0, 1, 2]
    assert kept == ["step_000003"]


def test_a_run_that_was_stopped_goes_on_as_if_it_never_had(tmp_path):
    whole, _ = train(tmp_path / "whole", checkpoint_every=10)
    _, kept = train(tmp_path / "cut", stop_after=1, checkpoint_every=10)
    again, _ = train(tmp_path / "cut", resume_from=tmp_path / "cut" / kept[0], checkpoint_every=10)
    assert again.collected == [1, 2, 3]
    assert (again.weights() == whole.weights()).all()


def test_a_run_that_was_to_stop_and_is_resumed_is_not_stopped_by_the_wish_of_before(tmp_path):
    train(tmp_path, stop_after=1, checkpoint_every=10)
    run, kept = train(tmp_path, resume_from=tmp_path / "step_000001", checkpoint_every=10)
    assert kept == ["step_000001", "step_000004"] and run.collected == [1, 2, 3]


def test_the_first_rank_alone_is_asked_and_the_others_do_as_it_says(tmp_path):
    saved = []

    class Others:
        """What the first rank says reaches this one."""

        def __init__(self, said):
            self.from_first = lambda own: said

    def step(said):
        module = Run().module
        module.ranks, module.next_step = Others(said), 1
        trainer = SimpleNamespace(
            should_stop=False, is_global_zero=False, save_checkpoint=saved.append,
            strategy=SimpleNamespace(barrier=lambda: None),
        )  # fmt: skip
        checkpoints = Checkpoints(tmp_path, keep=1, writer={})
        SaveCheckpoints(
            checkpoints, every=10, max_steps=20, is_to_stop=lambda: not said
        ).on_train_batch_end(trainer, module, None, None, 0)
        return trainer.should_stop

    assert step(said=False) is False and saved == []
    assert step(said=True) is True and len(saved) == 1


@pytest.mark.parametrize("step", [1, 4])
def test_a_wish_to_stop_where_a_checkpoint_is_due_anyway_makes_one_not_two(tmp_path, step):
    run, kept = train(tmp_path, stop_after=step, checkpoint_every=1)
    assert kept == [f"step_{n:06d}" for n in range(1, step + 1)]
    assert len(run.collected) == step
