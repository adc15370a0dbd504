"""Counts the bytes of all tensors that are alive, and the most that there were at once."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter


class BytesAlive(TorchDispatchMode):
    """Inside, every operation's results are counted until their storage is freed.

    What an operation takes for itself alone is not seen.
    """

    def __init__(self, known: Iterable[Tensor] = ()) -> None:
        """Takes tensors that are there already, and counts them too."""
        super().__init__()
        self._sizes: dict[int, int] = {}
        self.now = self.peak = 0
        for tensor in known:
            self._count(tensor)

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        results = func(*args, **(kwargs or {}))
        for result in tree_iter(results):
            if isinstance(result, Tensor):
                self._count(result)
        return results

    def _count(self, tensor: Tensor) -> None:
        if tensor.device.type == "meta":
            return
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key not in self._sizes:
            self._sizes[key] = storage.nbytes()
            self.now += storage.nbytes()
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self._forget, key)

    def _forget(self, key: int) -> None:
        self.now -= self._sizes.pop(key)


def weights_and_gradients(model: torch.nn.Module) -> list[Tensor]:
    """The model's tensors, and a gradient of each: as from its second micro-batch on."""
    weights = list(model.parameters())
    for weight in weights:
        weight.grad = torch.zeros_like(weight)
    return [*weights, *model.buffers(), *(w.grad for w in weights if w.grad is not None)]
