"""Lightning's strategy for the `trainer` options; DeepSpeed's also on CPUs.

Lightning 2.6 offers DeepSpeed on CUDA alone, in three methods that DeepSpeed itself does not need.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import torch
from lightning.pytorch.accelerators import CPUAccelerator
from lightning.pytorch.strategies import DeepSpeedStrategy, SingleDeviceStrategy, Strategy

from toolorchestra.trainer.config import TrainerConfig

PRECISIONS = {"float32": "32-true", "bfloat16": "bf16-true"}
"""Lightning's names, by the dtype of the weights."""


def check_trainer(config: TrainerConfig, *, dtype: str) -> None:
    """Checks what the machine and the precision allow, before anything is loaded.

    Raises:
        ValueError: says which option to change.
    """
    is_gpu = uses_gpu(config)
    if config.accelerator == "gpu" and not torch.cuda.is_available():
        raise ValueError(
            "trainer.accelerator: 'gpu' is not allowed; this machine has none that torch can use, "
            "use cpu"
        )
    if is_gpu and config.devices > torch.cuda.device_count():
        raise ValueError(
            f"trainer.devices: {config.devices} is not allowed; this machine has "
            f"{torch.cuda.device_count()} GPUs"
        )
    if is_gpu and dtype == "bfloat16" and not torch.cuda.is_bf16_supported():
        raise ValueError("model.dtype: 'bfloat16' is not allowed on this GPU; use float32")
    config.check_dtype(dtype)
    if config.strategy == "deepspeed" and find_spec("deepspeed") is None:
        raise ValueError(
            "trainer.strategy: 'deepspeed' is not installed; pip install 'toolorchestra[deepspeed]'"
            ", or use single"
        )
    if config.optimizer == "adamw_8bit" and (not is_gpu or find_spec("bitsandbytes") is None):
        raise ValueError(
            "trainer.optimizer: 'adamw_8bit' is not allowed; it needs a GPU and bitsandbytes, use "
            "adamw_fused"
        )


def uses_gpu(config: TrainerConfig) -> bool:
    """Whether the ranks compute on GPUs."""
    return config.accelerator != "cpu" and torch.cuda.is_available()


def make_strategy(config: TrainerConfig, *, dtype: str) -> Strategy:
    """The strategy that trains."""
    if config.strategy == "single":
        return SingleDeviceStrategy("cuda:0" if uses_gpu(config) else "cpu")
    if not uses_gpu(config):
        _prepare_for_cpu()
    return OrchestratorDeepSpeed(
        config=deepspeed_config(config, dtype=dtype),
        process_group_backend="nccl" if uses_gpu(config) else "gloo",
    )


def deepspeed_config(config: TrainerConfig, *, dtype: str) -> dict[str, Any]:
    """DeepSpeed's own options, for weights of this precision."""
    zero: dict[str, Any] = {"stage": config.zero_stage}
    if config.offload_optimizer:
        zero["offload_optimizer"] = {"device": "cpu", "pin_memory": uses_gpu(config)}
    options: dict[str, Any] = {
        "zero_optimization": zero,
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
        "gradient_clipping": config.clip_norm,
        "train_micro_batch_size_per_gpu": 1,
    }
    if dtype == "bfloat16":
        # so that a gradient that is not finite is dropped, not applied
        options["bf16"] = {"enabled": True, "check_grad_overflow": True}
        if config.zero_stage > 0:  # stage 0 cannot
            options["data_types"] = {"grad_accum_dtype": "fp32"}
    return options


def _prepare_for_cpu() -> None:
    """Has DeepSpeed compute on the CPU and talk by gloo alone.

    Its own collectives in shared memory take minutes to compile, and hang when a rank dies.
    """
    os.environ["DS_ACCELERATOR"] = "cpu"
    import deepspeed

    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False


@contextmanager
def whole_weights(model: torch.nn.Module, config: TrainerConfig) -> Iterator[None]:
    """Inside, the first rank has the weights undivided; to be entered by all ranks."""
    if config.strategy != "deepspeed" or config.zero_stage < 3:
        yield
        return
    import deepspeed

    with deepspeed.zero.GatheredParameters(list(model.parameters()), modifier_rank=None):
        yield


class OrchestratorDeepSpeed(DeepSpeedStrategy):
    """DeepSpeed on GPUs as Lightning has it, and on CPUs too.

    A step is many passes through the engine, each of which must begin in the engine's own forward:
    so `training_step` is not one.
    """

    def training_step(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the module itself, which passes each micro-batch through the engine."""
        assert self.lightning_module is not None
        return self.lightning_module.training_step(*args, **kwargs)

    def setup_environment(self) -> None:
        """Lightning's refuses a CPU."""
        if not self._is_on_cpu:
            return super().setup_environment()
        assert self.accelerator is not None
        self.accelerator.setup_device(self.root_device)
        self.setup_distributed()

    def setup_distributed(self) -> None:
        """Lightning's compares the indices of CUDA devices."""
        if not self._is_on_cpu:
            return super().setup_distributed()
        self.set_world_ranks()
        self._init_deepspeed_distributed()

    def _setup_model_and_optimizer(
        self, model: torch.nn.Module, optimizer: Any, lr_scheduler: Any = None
    ) -> tuple[Any, Any]:
        """Lightning's passes on the index of a CUDA device."""
        if not self._is_on_cpu:
            return super()._setup_model_and_optimizer(model, optimizer, lr_scheduler)
        import deepspeed

        engine, wrapped, _, _ = deepspeed.initialize(
            config=self.config,
            model=model,
            model_parameters=[p for p in model.parameters() if p.requires_grad],
            optimizer=optimizer,
            lr_scheduler=lr_scheduler,
            dist_init_required=False,
        )
        return engine, wrapped

    @property
    def _is_on_cpu(self) -> bool:
        return isinstance(self.accelerator, CPUAccelerator)
