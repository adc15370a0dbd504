"""The place where a transformer's attention is exchanged for one that knows more about its tokens.

Everything else a decoder does, it does token by token. So the tokens of many sequences can stand in
one line, without padding, as long as attention knows who may see whom. The trainer's token trees
and the engine's rollout memory both come in here.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

# L: tokens in line, H: heads (keys and values may have fewer), D: size of a head, M: model width

NAME = "toolorchestra"
"""What transformers knows the exchangeable attention by."""


class Attend(Protocol):
    """Attention of one layer over a line of tokens."""

    def __call__(
        self, layer: int, query_HLD: Tensor, key_HLD: Tensor, value_HLD: Tensor, scale: float
    ) -> Tensor:
        """Returns [L, H, D]."""
        ...


def exchange_attention(model: PreTrainedModel) -> None:
    """Makes the model attend as it is told, and as before where it is told nothing."""
    if model.config._attn_implementation != NAME:
        model.set_attn_implementation(NAME)


def hidden_states(
    model: PreTrainedModel, attend: Attend, positions_L: Tensor, **tokens: Tensor
) -> Tensor:
    """The decoder's last hidden states [L, M] of a line of tokens.

    Args:
        model: A decoder of transformers whose attention can be exchanged.
        attend: The attention of every layer.
        positions_L: Of each token in its own sequence.
        tokens: `input_ids` [1, L] or `inputs_embeds` [1, L, M].
    """
    exchange_attention(model)
    # a mask of four dimensions, so that transformers makes none of its own
    mask = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=positions_L.device)
    hidden: Tensor = model.model(
        position_ids=positions_L[None], attention_mask=mask, use_cache=False, attend=attend,
        **tokens,
    ).last_hidden_state[0]  # fmt: skip
    return hidden


def _exchanged(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    attend: Attend | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention as transformers calls it: in [1, H, L, D], out [1, L, H, D]; as ever without."""
    if attend is None:
        out, _ = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **kwargs
        )
        return out, None
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    layer = cast(int, module.layer_idx)
    return attend(layer, query[0], key[0], value[0], scale)[None], None


AttentionInterface.register(NAME, cast(Any, _exchanged))
AttentionMaskInterface.register(NAME, sdpa_mask)
