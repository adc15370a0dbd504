"""A random Qwen3 of a few thousand weights, saved as an embedding model is on the hub."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3Model

END = "<|endoftext|>"


def save_tiny_qwen3(folder: Path, *, seed: int = 0) -> str:
    """Its tokenizer, of bytes, ends every text with a token of its own, as Qwen3-Embedding's."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: i for i, letter in enumerate([END, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {END}", special_tokens=[(END, 0)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=END
    ).save_pretrained(folder)
    torch.manual_seed(seed)
    Qwen3Model(
        Qwen3Config(
            vocab_size=len(vocabulary),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=16,
            max_position_embeddings=512,
        )
    ).save_pretrained(folder)
    return str(folder)
