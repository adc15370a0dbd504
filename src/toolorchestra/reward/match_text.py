"""Whether a text gives a name or a word: whole words, whatever case, accents and punctuation."""

from __future__ import annotations

import re
import unicodedata

from toolorchestra.reward.match_extract import final_answer

_ARTICLES = frozenset(["a", "an", "the"])
_NEGATIONS = frozenset(
    ["not", "never", "neither", "nor", "no", "isn", "wasn", "aren", "cannot", "without", "except"]
)
_FILLER_TEXT = """
    it its is was are were be been he she they this that i we of in on at to by for from with as and
    so therefore thus hence then think believe would will must should can has have had does do did
    answer final correct result called name named city town place person which who what where when
    how there here now yes
"""
_FILLERS = frozenset(_FILLER_TEXT.split())
_MAX_WORDS = 40
_LETTERS_WITHOUT_PARTS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe"})
_ACCENT = re.compile("[\u0300-\u036f]")
_ORDINAL_TEXT = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first
"""
_ORDINALS = _ORDINAL_TEXT.split()
_CENTURY = re.compile(rf"\b({'|'.join(reversed(_ORDINALS))})(?=[ -]centur(?:y|ies)\b)")
_RANGE = re.compile(r"(?<=\d)\s+to\s+(?=\d)")
_INITIALS = re.compile(r"\b(?:[^\W\d_]\. )+[^\W\d_]\.|\b(?:[^\W\d_]\.)+[^\W\d_]\b\.?")
_WORD = re.compile(r"(?:(?<!\w)-(?=\d))?[^\W_]+(?:(?<=\d)[.,](?=\d)[^\W_]+)*[+#%]*")
"""Signs, decimals and endings such as in "C++" and "50%" are part of a word: they change it."""


def words_of(text: str) -> list[str]:
    """The words of `text`: compatibility forms, case and accents folded, punctuation to spaces,
    initials joined ("J. R. R."), articles dropped unless nothing else is left."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS_WITHOUT_PARTS)
    folded = _RANGE.sub("-", _CENTURY.sub(_as_digits, folded))
    folded = _INITIALS.sub(lambda match: re.sub(r"[. ]", "", match[0]) + " ", folded)
    letters = _ACCENT.sub("", unicodedata.normalize("NFD", folded))
    words = _WORD.findall(unicodedata.normalize("NFC", letters))
    return [word for word in words if word not in _ARTICLES] or words


def _as_digits(match: re.Match[str]) -> str:
    number = _ORDINALS.index(match[1]) + 1
    suffix = "th" if 3 < number < 21 else {1: "st", 2: "nd", 3: "rd"}[number % 10]
    return f"{number}{suffix}"


def _places(words: list[str], wanted: list[str]) -> list[int]:
    last = len(words) - len(wanted)
    return [i for i in range(last + 1) if words[i : i + len(wanted)] == wanted]


def match_text(gold: str, answer: str, *, question: str = "") -> bool | None:
    """Whether `answer` is `gold`, or a short sentence in which `gold` is the only candidate.

    Every other word of such a sentence must be a filler ("it", "is") or come from the question, so
    that "Paris or London" and "not Paris" give nothing, and "Parisian" is not "Paris".

    Returns:
        None where `gold` holds no letter or digit to compare.
    """
    wanted = words_of(gold)
    if not wanted:
        return None
    words = words_of(final_answer(answer).text)
    if words == wanted:
        return True
    places = _places(words, wanted)
    if not places or len(words) > _MAX_WORDS:
        return False
    covered = {place + i for place in places for i in range(len(wanted))}
    others = {word for i, word in enumerate(words) if i not in covered}
    return not others & _NEGATIONS and others <= _FILLERS | set(words_of(question))
