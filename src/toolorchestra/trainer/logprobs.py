"""Log-probabilities of a micro-batch's loss tokens, and only of those.

Two passes share one graph: prompts first, whose keys and values are kept; then the rows, each
attending to its own prompt. The output layer runs on loss tokens alone, as logits over a large
vocabulary would dwarf all other memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedModel

from toolorchestra.algorithm.segments import upcast
from toolorchestra.trainer.batch import MicroBatch

# P: prompts, R: rows, K: longest prompt, T: longest rest of a row, N: loss tokens, V: vocabulary


class _PromptMemory:
    """Keeps the prompts' keys and values with their gradient, and hands each row its own."""

    def __init__(self) -> None:
        self._kept: list[tuple[Tensor, Tensor]] = []
        self.owner_R: Tensor | None = None

    def update(
        self, keys: Tensor, values: Tensor, layer: int, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """First pass: keeps a layer's prompts. Second pass: puts them before the rows."""
        if self.owner_R is None:
            self._kept.append((keys, values))
            return keys, values
        prompt_keys, prompt_values = self._kept[layer]
        return (
            torch.cat([prompt_keys[self.owner_R], keys], dim=2),
            torch.cat([prompt_values[self.owner_R], values], dim=2),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenScores:
    """What the policy thinks of the loss tokens, in row order."""

    logprobs_N: Tensor
    entropy_N: Tensor
    """In nats."""


def score_tokens(model: PreTrainedModel, batch: MicroBatch) -> TokenScores:
    """Scores every loss token of the micro-batch under the model, with gradient.

    The masks are boolean, which torch's own attention (sdpa) alone reads as meant.
    """
    attention = model.config._attn_implementation
    assert attention == "sdpa", f"the model's attention must be sdpa, not {attention}"
    hidden_RTD = _hidden(model, batch)
    target_mask = batch.loss_mask_RT[:, 1:]
    predictors_ND = hidden_RTD[:, :-1][target_mask]
    logits_NV = upcast(model.lm_head(predictors_ND))
    logprobs_NV = torch.log_softmax(logits_NV, dim=-1)
    targets_N = batch.ids_RT[:, 1:][target_mask]
    entropy_N = -(logprobs_NV.exp() * logprobs_NV).sum(-1)
    return TokenScores(
        logprobs_N=logprobs_NV.gather(-1, targets_N[:, None]).squeeze(-1), entropy_N=entropy_N
    )


def _hidden(model: PreTrainedModel, batch: MicroBatch) -> Tensor:
    memory = _PromptMemory()
    width_K, width_T = batch.prompt_ids_PK.shape[1], batch.ids_RT.shape[1]
    places_K, places_T = torch.arange(width_K), torch.arange(width_T)
    causal_KK = places_K[None, :] <= places_K[:, None]
    model.model(
        input_ids=batch.prompt_ids_PK,
        attention_mask=causal_KK.expand(len(batch.prompt_ids_PK), 1, -1, -1),
        position_ids=places_K.expand(len(batch.prompt_ids_PK), -1),
        past_key_values=memory,
        use_cache=True,
    )
    memory.owner_R = batch.owner_R
    prompt_lengths_R = batch.prompt_lengths_P[batch.owner_R]
    sees_prompt_RK = places_K[None, :] < prompt_lengths_R[:, None]
    causal_TT = places_T[None, :] <= places_T[:, None]
    mask = torch.cat(
        [
            sees_prompt_RK[:, None, None, :].expand(-1, 1, width_T, -1),
            causal_TT.expand(len(batch.ids_RT), 1, -1, -1),
        ],
        dim=-1,
    )
    hidden: Tensor = model.model(
        input_ids=batch.ids_RT,
        attention_mask=mask,
        position_ids=prompt_lengths_R[:, None] + places_T,
        past_key_values=memory,
        use_cache=True,
    ).last_hidden_state
    return hidden
