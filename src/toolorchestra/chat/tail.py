"""The end of a text, counted in tokens: what is newest stands last, and is kept."""

from __future__ import annotations

from transformers import PreTrainedTokenizerBase

from toolorchestra.chat.config import MAX_CHARS_PER_TOKEN
from toolorchestra.chat.encoder import encodable


class Tail:
    """Cuts texts from their start."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        """Takes the tokenizer that counts: a fast one, which knows where tokens begin."""
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return len(self._starts(encodable(text)))

    def __call__(self, text: str, max_tokens: int) -> str:
        """The last `max_tokens` tokens of a text, as they stand there; below 1 none."""
        if max_tokens < 1:
            return ""
        text = encodable(text)
        if len(text.encode()) <= max_tokens:  # no token is shorter than a byte
            return text
        text = text[-MAX_CHARS_PER_TOKEN * max_tokens :]
        starts = self._starts(text)
        return text if len(starts) <= max_tokens else text[starts[-max_tokens] :]

    def _starts(self, text: str) -> list[int]:
        spelt = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return [start for start, _ in spelt["offset_mapping"]]
