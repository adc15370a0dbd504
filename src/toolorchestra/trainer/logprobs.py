"""Log-probabilities of a micro-batch's loss tokens, and only of those.

The output layer runs where loss is, and there in chunks: logits over a large vocabulary would dwarf
all other memory.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from toolorchestra.algorithm.segments import upcast
from toolorchestra.model.attention import hidden_states
from toolorchestra.trainer.activations import CHUNK_LOGITS
from toolorchestra.trainer.attention import lay_out
from toolorchestra.trainer.batch import MicroBatch

# L: tokens of the line, N: loss tokens, U: tokens that predict any, V: vocabulary, D: width


class TokenScores(NamedTuple):
    """What the policy thinks of the loss tokens, in row order.

    A tuple, as DeepSpeed has to find the tensors in it.
    """

    logprobs_N: Tensor
    entropy_N: Tensor
    """In nats."""
    embedded_LD: Tensor
    """The tokens as they went in: where gradients that are not finite can be seen to come out."""


def score_tokens(
    model: PreTrainedModel, batch: MicroBatch, *, chunk_logits: int = CHUNK_LOGITS
) -> TokenScores:
    """Scores every loss token of the micro-batch under the model, with gradient.

    Args:
        model: A decoder of transformers whose attention can be exchanged.
        batch: Rows.
        chunk_logits: Most logits in memory at once.
    """
    chunk_size = max(chunk_logits // int(model.config.vocab_size), 1)
    device, tree = model.device, batch.tree
    embedded_LD = model.get_input_embeddings()(torch.from_numpy(tree.ids_L).to(device))
    if torch.is_grad_enabled() and not embedded_LD.requires_grad:  # embeddings are not trained
        embedded_LD.requires_grad_()
    positions_L = torch.from_numpy(tree.positions_L).to(device)
    hidden_LD = hidden_states(
        model, lay_out(tree, device), positions_L, inputs_embeds=embedded_LD[None]
    )
    predictors_U, owner_N = torch.unique(batch.predictors_N.to(device), return_inverse=True)
    logprobs_N, entropy_N = _score(
        model.lm_head,
        hidden_LD.index_select(0, predictors_U),
        owner_N,
        batch.targets_N.to(device),
        chunk_size=chunk_size,
        num_chunks=-(-batch.most_loss_tokens // chunk_size),
    )
    return TokenScores(logprobs_N=logprobs_N, entropy_N=entropy_N, embedded_LD=embedded_LD)


def _score(
    head: torch.nn.Module,
    hidden_UD: Tensor,
    owner_N: Tensor,
    targets_N: Tensor,
    *,
    chunk_size: int,
    num_chunks: int,
) -> tuple[Tensor, Tensor]:
    """Scores predictors chunk by chunk; with more than one, logits are computed again backward.

    Empty chunks fill up `num_chunks`.
    """
    logprobs, entropies, members = [], [], []
    chunks = [*torch.split(hidden_UD, chunk_size)]
    chunks += [hidden_UD[:0]] * (num_chunks - len(chunks))
    for number, chunk in enumerate(chunks):
        first = number * chunk_size
        inside = torch.nonzero((owner_N >= first) & (owner_N < first + chunk_size)).flatten()
        arguments = (head, chunk, owner_N[inside] - first, targets_N[inside])
        logprobs_n, entropy_n = (
            _score_chunk(*arguments)
            if len(chunks) == 1
            else checkpoint(_score_chunk, *arguments, use_reentrant=False)
        )
        logprobs.append(logprobs_n)
        entropies.append(entropy_n)
        members.append(inside)
    order_N = torch.argsort(torch.cat(members))
    return torch.cat(logprobs)[order_N], torch.cat(entropies)[order_N]


def _score_chunk(
    head: torch.nn.Module, hidden_UD: Tensor, owner_N: Tensor, targets_N: Tensor
) -> tuple[Tensor, Tensor]:
    logprobs_UV = torch.log_softmax(upcast(head(hidden_UD)), dim=-1)
    entropy_U = -(logprobs_UV.exp() * logprobs_UV).sum(-1)
    return logprobs_UV[owner_N, targets_N], entropy_U[owner_N]
