"""Weights of a worker on a GPU: sent from GPU to GPU, and back after sleep."""

import pytest
import torch
from tests.integration.vllm_lab import open_lab, policy, true_logprobs
from tests.unit.engine.tiny_model import make_request

from toolorchestra.engine.vllm.config import VllmConfig
from toolorchestra.engine.vllm.transfer import GpuTransfer, vllm_sender

pytestmark = pytest.mark.gpu

BOUND = 1e-3


def check_loads(lab, device):
    """Several versions, tied and untied: what is sampled has the trainer's log-probabilities."""
    for version in range(4):
        model = policy(version, is_tied=version % 2 == 0)
        lab.load(model.to(device), version)
        request = make_request(range(5, 45), f"e{version}/0", max_tokens=12)
        (completion,) = lab.sample([request])
        true = true_logprobs(model.cpu(), request, completion.ids)
        assert completion.version == version
        assert completion.logprobs == pytest.approx(true, abs=BOUND)
        lab.run(lab.engine.rest())


@pytest.mark.parametrize("backend", ["ipc", "nccl"])
def test_weights_that_are_sent_from_gpu_to_gpu_are_the_trainers(tmp_path, backend):
    num_gpus = torch.cuda.device_count()
    if backend == "nccl" and num_gpus < 2:
        pytest.skip("NCCL takes a GPU for each side")
    config = VllmConfig(
        transfer=backend, first_gpu=int(backend == "nccl"), extra_args=["--enforce-eager"],
        kv_cache_gib=1.0,
    )  # fmt: skip
    transfer = GpuTransfer(vllm_sender(backend, num_gpus=1))
    with open_lab(tmp_path, end_id=0, config=config, num_gpus=num_gpus, transfer=transfer) as lab:
        check_loads(lab, "cuda:0")


def test_a_worker_that_slept_has_the_new_weights(tmp_path):
    config = VllmConfig(sleep=True, kv_cache_gib=1.0, extra_args=["--enforce-eager"])
    num_gpus = torch.cuda.device_count()
    with open_lab(tmp_path, end_id=0, config=config, num_gpus=num_gpus) as lab:
        check_loads(lab, "cuda:0")
