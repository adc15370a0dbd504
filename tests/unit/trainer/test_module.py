"""The Lightning module: what it wires, and what it does where there is nothing or nonsense."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from lightning import Trainer
from tests.unit.engine.tiny_model import fresh_model, full_logits

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.trainer.callback import SaveCheckpoints
from toolorchestra.trainer.checkpoint import Checkpoints
from toolorchestra.trainer.collect import StepData
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.module import OrchestratorModule
from toolorchestra.types import Row

GROUP = SimpleNamespace(episode=SimpleNamespace(id="train-000007"))


IDS = (5, 6, 7, 8)


def rows(advantage=1.0):
    """Two samples of one sequence, with the log-probabilities that the untrained policy gives."""
    logprobs = full_logits(IDS).log_softmax(-1)
    row = Row(
        ids=IDS,
        loss_mask=(0, 0, 1, 1),
        logprobs=(0.0, 0.0, float(logprobs[1, 7]), float(logprobs[2, 8])),
        versions=(-1, -1, 0, 0),
    )  # fmt: skip
    return tuple(
        TrainingRow(row=row, advantage=sign * advantage, name=f"e/{i}")
        for i, sign in enumerate((1, -0.5))
    )


class Run:
    """A module under Lightning that remembers what it was asked and what it told."""

    def __init__(self, data=rows, **changes):
        self.collected, self.versions, self.steps = [], [], []
        self.options = TrainerConfig(**({"max_steps": 4, "learning_rate": 1e-3} | changes))
        self._data = data
        self.module = OrchestratorModule(
            fresh_model().train(),
            source=self,
            on_updated=self.load,
            on_step=lambda step, data, metrics: self.steps.append((step, metrics)),
            trainer_config=self.options,
            algorithm=AlgorithmConfig(),
            max_sampled_tokens=16,
        )

    def load(self, version):
        self.versions.append(version)
        return {"engine/logprob_gap": 1e-6}

    def state(self):
        return {"next_episode": len(self.collected), "pending": []}

    def restore(self, state):
        self.restored = state["next_episode"]

    def collect(self, version):
        self.collected.append(version)
        return StepData(rows=self._data(), groups=(GROUP,), metrics={"accuracy": 0.5})

    def fit(self, folder, *, resume_from=None):
        saving = SaveCheckpoints(
            Checkpoints(folder, keep=9),
            every=self.options.checkpoint_every,
            max_steps=self.options.max_steps,
        )
        trainer = Trainer(
            accelerator="cpu", devices=1, max_epochs=1, logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, callbacks=[saving],
        )  # fmt: skip
        trainer.fit(self.module, ckpt_path=resume_from, weights_only=True)
        return self

    def weights(self):
        return torch.cat([p.detach().flatten() for p in self.module.model.parameters()])


def test_each_step_is_collected_trained_on_told_and_counted_once(tmp_path):
    run = Run()
    before = run.weights().clone()
    run.fit(tmp_path)
    assert run.collected == [0, 1, 2, 3]
    assert [step for step, _ in run.steps] == [0, 1, 2, 3]
    assert run.versions == [0, 1, 2, 3, 4], "the engine hears of each update before the next step"
    assert not torch.equal(run.weights(), before)
    metrics = run.steps[-1][1]
    assert {"accuracy", "version", "update/loss", "update/grad_norm", "update/learning_rate",
            "tokens/trained", "time/update_s", "engine/logprob_gap"} <= metrics.keys()  # fmt: skip
    assert metrics["version"] == 4.0


def test_a_step_whose_rollouts_were_all_dropped_changes_nothing_and_is_still_told(tmp_path):
    run = Run(data=lambda: ())
    before = run.weights().clone()
    run.fit(tmp_path)
    assert torch.equal(run.weights(), before)
    assert run.versions == [0] and [m["version"] for _, m in run.steps] == [0.0] * 4
    assert "update/loss" not in run.steps[0][1]


def test_steps_that_are_not_finite_leave_the_weights_alone_and_end_the_run(tmp_path):
    run = Run(data=lambda: rows(float("nan")), max_bad_steps=2)
    before = run.weights().clone()
    with pytest.raises(ValueError, match=r"not finite in 2 steps running.*train-000007; lower"):
        run.fit(tmp_path)
    assert torch.equal(run.weights(), before)
    assert [step for step, _ in run.steps] == [0]


def test_one_good_step_forgives_the_bad_ones_before_it(tmp_path):
    data = iter([rows(float("nan")), rows(), rows(float("nan")), rows()])
    run = Run(data=lambda: next(data), max_bad_steps=2).fit(tmp_path)
    assert run.versions == [0, 1, 2]


def test_a_resumed_module_ends_with_the_weights_of_one_that_never_stopped(tmp_path):
    whole = Run(checkpoint_every=2).fit(tmp_path / "whole")
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert names == ["step_000002.ckpt", "step_000004.ckpt"]
    again = Run(checkpoint_every=2)
    again.fit(tmp_path / "again", resume_from=tmp_path / "whole/step_000002.ckpt")
    assert again.collected == [2, 3]
    assert again.restored == 2, "the source goes on where the checkpoint left it"
    assert again.versions == [2, 3, 4], "the engine hears of the version that was loaded"
    assert torch.equal(again.weights(), whole.weights())


def test_a_finished_module_does_nothing_more(tmp_path):
    Run().fit(tmp_path)
    again = Run().fit(tmp_path / "again", resume_from=tmp_path / "step_000004.ckpt")
    assert again.collected == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"warmup_steps": 0}, [1.0, 1.0, 1.0, 1.0]),
        # rises over three steps: 1/4, 2/4, 3/4, then 1
        ({"warmup_steps": 3}, [0.25, 0.5, 0.75, 1.0]),
        # from 1 down to a tenth at the last of four: 1 - 0.9 * i / 3
        ({"schedule": "linear"}, [1.0, 0.7, 0.4, 0.1]),
    ],
)
def test_the_learning_rate_follows_its_schedule(tmp_path, options, expected):
    run = Run(**options).fit(tmp_path)
    rates = [metrics["update/learning_rate"] / 1e-3 for _, metrics in run.steps]
    assert rates == pytest.approx(expected)
