"""Weights from the trainer's GPU to the workers', by vLLM's own transfer: no disk in between.

Weights may be sent only while nobody changes them. A worker that is started anew in the midst of an
update therefore waits for its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor
from transformers import PreTrainedModel

from toolorchestra.engine.base import EngineFault
from toolorchestra.engine.vllm.probe import Send
from toolorchestra.model.weights import plain_weights
from toolorchestra.process import free_port

MakeSender = Callable[[str, "Source"], Callable[[], None]]
"""Makes what sends all weights of a source to the server at an address, at every call."""


class Source:
    """The weights of a policy, in the order in which they are sent."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model

    def __iter__(self) -> Iterator[tuple[str, Tensor]]:
        """Name and tensor of each."""
        return plain_weights(self.model)


class GpuTransfer:
    """Sends weights to servers, each by a sender of its own that is made when first needed."""

    def __init__(self, make_sender: MakeSender) -> None:
        self._make_sender = make_sender
        self._senders: dict[str, Callable[[], None]] = {}
        self._settled = asyncio.Event()
        self._source: Source | None = None
        self._busy = asyncio.Lock()

    def settle(self, model: PreTrainedModel) -> Send:
        """Says that a model's weights stay as they are for now; returns what sends them."""
        if self._source is None:
            self._source = Source(model)
        self._source.model = model
        self._settled.set()
        return self._send

    def unsettle(self) -> None:
        """Says that the weights are about to change."""
        self._settled.clear()

    async def _send(self, url: str) -> None:
        await self._settled.wait()
        assert self._source is not None, "settled"
        async with self._busy:
            try:
                await asyncio.to_thread(self._send_now, url, self._source)
            except Exception as error:  # of vLLM, NCCL or CUDA, whatever they raise
                self._senders.pop(url, None)
                raise EngineFault(f"sending weights to {url} failed: {error!r}") from error

    def _send_now(self, url: str, source: Source) -> None:
        if url not in self._senders:
            self._senders[url] = self._make_sender(url, source)
        self._senders[url]()


def vllm_sender(backend: str, *, num_gpus: int) -> MakeSender:
    """Makes senders of vLLM's "nccl" or "ipc" backend to servers of `num_gpus` GPUs each."""

    def make(url: str, source: Source) -> Callable[[], None]:
        from vllm.distributed.weight_transfer import base, clients, factory

        class Adapter(base.WeightSource):  # type: ignore[misc]
            def metadata(self) -> list[Any]:
                return [base.ParamMeta(n, t.dtype, tuple(t.shape)) for n, t in source]

            def __iter__(self) -> Iterator[tuple[str, Tensor]]:
                return iter(source)

        sender = factory.WeightTransferTrainerFactory.trainer_init(
            _init_info(backend, num_gpus),
            client=clients.HTTPVLLMWeightSyncClient(url),
            source=Adapter(),
        )
        send: Callable[[], None] = sender.send_weights
        return send

    return make


def _init_info(backend: str, num_gpus: int) -> Any:
    if backend == "ipc":
        from vllm.distributed.weight_transfer.ipc_engine import IPCTrainerInitInfo

        return IPCTrainerInitInfo(rank=0, packed=True)
    from vllm.distributed.weight_transfer.nccl_engine import NCCLTrainerInitInfo

    return NCCLTrainerInitInfo(
        rank=0, master_address="127.0.0.1", master_port=free_port(), world_size=1 + num_gpus
    )
