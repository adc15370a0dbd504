"""The Lightning module: what it wires, and what it does where there is nothing or nonsense."""

from __future__ import annotations

import resource
import shutil
from types import SimpleNamespace

import pytest
import torch
from tests.unit.engine.tiny_model import fresh_model, full_logits

from toolorchestra.algorithm.config import AlgorithmConfig
from toolorchestra.trainer.batch import TrainingRow
from toolorchestra.trainer.checkpoint import STATE, Checkpoints
from toolorchestra.trainer.collect import StepData
from toolorchestra.trainer.config import TrainerConfig
from toolorchestra.trainer.fit import fit
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
        self.source, self.is_resting, self.results = self, False, 0
        self.module = OrchestratorModule(
            fresh_model().train(),
            outside=self,
            trainer_config=self.options,
            algorithm=AlgorithmConfig(),
            max_sampled_tokens=16,
        )

    def take_weights(self, version):
        self.versions.append(version)
        return {"engine/logprob_gap": 1e-6}

    def needs_weights(self):
        return self.is_resting

    def record(self, step, data, metrics):
        self.steps.append((step, metrics))

    def take_result(self):
        self.results += 1

    def state(self):
        return {"next_episode": len(self.collected), "pending": []}

    def restore(self, state):
        self.restored = state["next_episode"]

    def collect(self, version):
        self.collected.append(version)
        return StepData(rows=self._data(), groups=(GROUP,), metrics={"accuracy": 0.5})

    def fit(self, folder, *, resume_from=None):
        fit(
            self.module,
            self.options,
            dtype="float32",
            checkpoints=Checkpoints(folder, keep=9, writer={}),
            resume_from=resume_from,
        )
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
    told = r"not finite \(e/0, e/1\) in 2 steps running; lower trainer.learning_rate"
    with pytest.raises(ValueError, match=told):
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
    assert names == ["step_000002", "step_000004"]
    again = Run(checkpoint_every=2)
    again.fit(tmp_path / "again", resume_from=tmp_path / "whole/step_000002")
    assert again.collected == [2, 3]
    assert again.restored == 2, "the source goes on where the checkpoint left it"
    assert again.versions == [2, 3, 4], "the engine hears of the version that was loaded"
    assert torch.equal(again.weights(), whole.weights())


def test_an_engine_that_rests_gets_the_weights_again_after_a_step_that_updated_nothing(tmp_path):
    run = Run(data=lambda: (), max_steps=2)
    run.is_resting = True
    run.fit(tmp_path)
    assert run.versions == [0, 0, 0]


def test_the_result_is_handed_over_once_at_the_end(tmp_path):
    assert Run().fit(tmp_path).results == 1


def test_a_damaged_checkpoint_is_told_from_a_fault_in_training(tmp_path):
    Run(max_steps=2).fit(tmp_path)
    state = tmp_path / "step_000002" / STATE
    state.write_bytes(b"x" * state.stat().st_size)  # of the right length, but not what it was
    with pytest.raises(ValueError, match=r"resume: .*step_000002 cannot be read .*delete it"):
        Run(max_steps=4).fit(tmp_path, resume_from=tmp_path / "step_000002")


def test_a_disk_that_is_full_is_one_sentence_and_leaves_the_last_checkpoint(tmp_path):
    Run(max_steps=2, checkpoint_every=1).fit(tmp_path)
    shutil.rmtree(tmp_path / "step_000002")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(ValueError, match=r"the disk is full.*then use resume=auto"):
            Run(max_steps=2).fit(tmp_path, resume_from=tmp_path / "step_000001")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    checkpoints = Checkpoints(tmp_path, keep=1, writer={})
    assert checkpoints.newest() == tmp_path / "step_000001"


def test_memory_that_runs_out_is_told_with_what_to_lower(tmp_path, monkeypatch):
    run = Run()

    def fail(batch):
        raise torch.OutOfMemoryError("tried to allocate")

    monkeypatch.setattr(run.module, "forward", fail)
    with pytest.raises(ValueError, match=r"micro_batch_tokens: 32768 do not fit.*lower it"):
        run.fit(tmp_path)


def test_a_finished_module_does_nothing_more(tmp_path):
    Run().fit(tmp_path)
    again = Run().fit(tmp_path / "again", resume_from=tmp_path / "step_000004")
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
