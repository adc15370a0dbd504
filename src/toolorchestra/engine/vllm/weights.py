"""Weights as a folder that vLLM loads: one a version, complete or absent."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

import torch
from transformers import PreTrainedModel

from toolorchestra.model.weights import whole_folder, write_weights


class WeightFolders:
    """The folders of one run's policy, newest last."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, model: PreTrainedModel, version: int) -> Path:
        """Writes the weights as they are now.

        Raises:
            ValueError: The disk is full, or nothing can be written there.
        """
        path = self._root / f"version_{version:06d}"
        advice = "use a folder with room for twice the model"
        with whole_folder(path, key="rollout.vllm.weights_dir", advice=advice) as aside:
            write_weights(model, aside)
        return path

    def keep_only(self, paths: Collection[Path | None]) -> None:
        """Removes the others, which nobody loads any more."""
        for other in self._root.glob("version_*"):
            if other not in paths:
                shutil.rmtree(other, ignore_errors=True)

    def remove(self) -> None:
        """Removes all of them."""
        shutil.rmtree(self._root, ignore_errors=True)


@torch.inference_mode()
def logprobs_of(model: PreTrainedModel, ids: list[int]) -> list[float]:
    """Log-probabilities of all ids but the first, each given those before it."""
    was_training = model.training
    torch.nn.Module.eval(model)
    row = torch.tensor([ids], device=model.device)
    logits = model(input_ids=row).logits[0, :-1].float()
    model.train(was_training)
    scores: list[float] = (
        torch.log_softmax(logits, dim=-1).gather(-1, row[0, 1:, None]).squeeze(-1).tolist()
    )
    return scores
