"""Builds the tiny policy's tokenizer: byte-level BPE over the words that its world uses.

The fixed pieces of the chat format are tokens of their own. That keeps a prompt at about two
hundred tokens and a call at five, so that a policy of a million parameters trains in minutes. A
rating such as "math 5" is one token, the same in a tool's description and in a thought, and a
tool's name follows the same token in the prompt and in a call: that is what copying goes by.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TAGS = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>")
PIECES = (
    "<think>\n",
    "\n</think>\n\n",
    "<tool_call>\n",
    '{"name": "',
    '", "arguments": {}}\n</tool_call>',
    '{"type": "function", "function": ',
    '", "description": "',
    '", "parameters": {"type": "object", "properties": {}}}}',
    "\n<tool_response>\n",
    "\n</tool_response>",
)
"""Pieces that recur in prompts, calls and results."""

_WORDS = (
    r"[,.] (?=\p{L}+ \p{N}(?:[,.]|$))|\p{L}+ \p{N}(?=[,.]|$)|(?:answer|Preference):"
    r"| ?[a-z0-9]*_[a-z0-9_]+| ?\p{L}+| ?\p{N}{1,2}|\n| ?[^\s\p{L}\p{N}]|\s"
)
"""Ratings and what parts them; what answers and wishes begin with; names with underscores, words,
pairs of digits, single marks, with the space before."""


def build_tokenizer(
    texts: Iterable[str], *, preamble: tuple[str, ...], vocab_size: int
) -> PreTrainedTokenizerFast:
    """Trains the vocabulary.

    Args:
        texts: prompts and results of the world, without the chat format.
        preamble: the template's long fixed texts, each to become one token.
        vocab_size: entries before the added tokens.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(CONTROL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens([AddedToken(t, normalized=False) for t in (*TAGS, *PIECES, *preamble)])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        clean_up_tokenization_spaces=False,
    )


def entries(tokenizer: PreTrainedTokenizerFast) -> dict[int, str]:
    """The text of every token of the trained vocabulary, control tokens left out, by id."""
    ids = range(len(CONTROL), tokenizer.vocab_size)
    return {token: str(tokenizer.decode([token])) for token in ids}
