"""What a judge's reply decides: correct, incorrect, or nothing that can be read."""

from __future__ import annotations

import re

_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_VERDICT = re.compile(
    r"(?P<negation>\b(?:not|never)\s+(?:\w+\s+)?|n't\s+(?:\w+\s+)?|\bNOT[_ -])?"
    r"\b(?P<word>in[- ]?correct|correct|wrong)\b(?!\s+answer\b)",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"\b(?:correct|judge?ment|verdict|decision)\s*[*_]*\s*[:=]\s*[*_]*\s*"
    r"(?P<value>yes|no|true|false|not[_ ]attempted)\b",
    re.IGNORECASE,
)
_ALONE = re.compile(r"\W*(?P<value>yes|no|true|false|not[_ ]attempted)\W*", re.IGNORECASE)
_MARKED = re.compile(r"\b(?:judge?ment|verdict|decision|grade)\s*[*_]*\s*[:=]", re.IGNORECASE)


def _says_correct(text: str) -> bool | None:
    """True or False where all verdicts in `text` agree, else None."""
    labelled = {match["value"].lower() in ("yes", "true") for match in _LABELLED.finditer(text)}
    if labelled:
        return labelled.pop() if len(labelled) == 1 else None
    said = set()
    for match in _VERDICT.finditer(text):
        is_positive = match["word"].lower() == "correct"
        if match["negation"] and not is_positive:
            return None  # "not incorrect" may mean anything
        said.add(is_positive and not match["negation"])
    return said.pop() if len(said) == 1 else None


def parse_judgement(reply: str) -> bool | None:
    """Whether a judge found an answer correct.

    Whole words count, so that INCORRECT is not CORRECT and "not correct" is incorrect. Thinking is
    not read. A reply that says both decides by its last marked line ("Judgement: CORRECT"), or by
    its first or last line where that is a verdict alone.

    Returns:
        None where nothing can be read, which leaves the answer unscored, never wrong.
    """
    text = _THINKING.sub(" ", reply).strip()
    if alone := _ALONE.fullmatch(text):
        return alone["value"].lower() in ("yes", "true")
    if marks := list(_MARKED.finditer(text)):
        marked = text[marks[-1].start() :].split("\n")[0]
        if (verdict := _says_correct(marked)) is not None:
            return verdict
    if (verdict := _says_correct(text)) is not None:
        return verdict
    lines = [line for line in text.split("\n") if line.strip()]
    for line in [*lines[-1:], *lines[:1]]:
        match = _VERDICT.fullmatch(line.strip(" \t*_.!#"))
        if match:
            return _says_correct(line)
    return None
