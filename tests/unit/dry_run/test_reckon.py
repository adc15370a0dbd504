"""From options to figures: who shares a GPU, what follows what, and what cannot be reckoned."""

from __future__ import annotations

import pytest
from tests.composed import options_of
from tests.unit.dry_run.papers import VLLM, paper, reckoned

from toolorchestra.dry_run.gpus import GIB
from toolorchestra.dry_run.reckon import reckon
from toolorchestra.trainer.memory import always_held, peak_of


def seconds(reckoning):
    return {phase.name: phase.seconds for phase in reckoning.phases}


def test_the_papers_settings_compose_and_are_what_is_reckoned_with():
    options = paper()
    trainer, model = options.trainer, options.model
    assert (trainer.learning_rate, trainer.episodes_per_step) == (1e-6, 16)
    assert options.algorithm.group_size == 8 and options.rollout.max_turns == 50
    assert model.max_context == 24_000 + 8_000 <= trainer.micro_batch_tokens
    assert model.max_new_tokens == 8_000
    assert (trainer.strategy, trainer.zero_stage, trainer.devices) == ("deepspeed", 2, 8)
    work = reckon(options).work
    assert work.num_rollouts == 128
    assert (work.num_tokens, work.num_prompt, work.num_sampled) == (12_000, 3_000, 3_000)


def test_a_rank_of_the_papers_settings_fits_in_80_gb():
    reckoning = reckoned()
    assert reckoning.rank_needs / GIB == pytest.approx(53.9, abs=0.1)
    assert reckoning.rank_needs == peak_of(reckoning.parts)[1] + 4 * GIB
    assert reckoning.worker is None


def test_a_step_is_the_sum_of_its_phases_or_its_longer_half_where_sampling_runs_ahead():
    together = seconds(reckoned(*VLLM))
    assert list(together) == ["prefill", "decode", "tools", "update", "weights to workers"]
    synchronous = reckoned(*VLLM)
    assert synchronous.step_s == pytest.approx(sum(together.values()))
    ahead = reckoned(*VLLM, "rollout.max_staleness=1")
    sampling = together["prefill"] + together["decode"] + together["tools"]
    assert ahead.step_s == pytest.approx(sampling + together["weights to workers"])


def test_without_vllm_only_the_update_is_reckoned():
    assert list(seconds(reckoned())) == ["update"]


def test_servers_that_run_elsewhere_are_counted_by_their_urls():
    urls = "rollout.vllm.urls=[http://a:1,http://b:1]"
    elsewhere = reckoned("rollout.engine=vllm", urls)
    assert elsewhere.worker is not None and elsewhere.worker.taken == 0
    here = reckoned(*VLLM, "rollout.vllm.num_workers=2")
    assert seconds(elsewhere) == seconds(here)


def test_a_worker_that_sleeps_meets_only_what_the_trainer_always_holds():
    shared = (*VLLM, "rollout.vllm.first_gpu=0")
    awake = reckoned(*shared)
    asleep = reckoned(*shared, "rollout.vllm.sleep=true")
    assert awake.worker.taken == pytest.approx(peak_of(awake.parts)[1] + 4 * GIB)
    assert asleep.worker.taken == pytest.approx(always_held(asleep.parts) + 4 * GIB)
    assert asleep.rank_reserve == 8 * GIB, "two processes"


def test_weights_take_the_way_that_is_chosen_at_the_speed_that_is_stated():
    def moved(*more):
        return seconds(reckoned(*VLLM, *more))["weights to workers"]

    assert moved() == pytest.approx(16.38 / 2, rel=0.01)
    assert moved("rollout.vllm.transfer=nccl") == pytest.approx(16.38 / 50, rel=0.01)
    assert moved("dry_run.transfer_gb_per_s=4") == pytest.approx(16.38 / 4, rel=0.01)


def test_fewer_rollouts_at_once_take_longer():
    few = reckoned(*VLLM, "rollout.max_concurrent=32")
    assert seconds(few)["tools"] == 4 * 80


def test_the_shipped_policy_can_be_reckoned_too():
    reckoning = reckon(options_of("dry_run.gpu=a100_80gb"))
    assert reckoning.shape.hidden_size == 160 and reckoning.work.num_tokens == 240
    assert reckoning.rank_needs < 5 * GIB


def test_entropy_in_the_loss_and_a_reference_policy_take_more():
    bare, both = (
        reckoned(*more) for more in ((), ("algorithm.entropy_coef=0.01", "algorithm.kl=k3"))
    )
    names = {part.name for part in both.parts} - {part.name for part in bare.parts}
    assert names == {"reference policy"}
    heads = [
        next(part.num_bytes for part in found.parts if part.name == "output layer")
        for found in (bare, both)
    ]
    assert heads[1] - heads[0] == 3 * 4 * 2**26
    assert seconds(both)["update"] == pytest.approx(seconds(bare)["update"] * 5 / 4)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (("trainer.accelerator=cpu",), "trainer.accelerator: 'cpu' is not allowed with dry_run"),
        (
            ("trainer.strategy=single", "trainer.devices=1"),
            "model.dtype: 'bfloat16' is not allowed with trainer.strategy=single",
        ),
        (("model.lora.rank=8",), "model.lora.rank: 8 is not allowed with dry_run.gpu"),
        (
            ("trainer.micro_batch_tokens=31999",),
            "trainer.micro_batch_tokens: 31999 is not allowed; one rollout may have more, use at "
            "least 32000",
        ),
        (("dry_run.rollout_tokens=32001",), "dry_run.rollout_tokens: 32001 is not allowed; use at"),
        (("dry_run.gpu=tpu",), "dry_run.gpu: 'tpu' is not allowed"),
        (("model.path=Qwen/Qwen3-4B",), "model.path: the shape of 'Qwen/Qwen3-4B' cannot be read"),
        (("model.path=tiny",), "model.shape.num_hidden_layers: 36 is not allowed; 'tiny' has 4"),
    ],
)
def test_what_cannot_be_reckoned_is_refused_in_one_sentence(overrides, message):
    with pytest.raises(ValueError) as caught:
        reckoned(*overrides)
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)
