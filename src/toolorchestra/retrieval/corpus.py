"""Documents by kind of corpus, one after the other: no corpus is ever held in memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from toolorchestra.domain.wiki import load_wiki
from toolorchestra.retrieval.config import CorpusConfig
from toolorchestra.retrieval.record import Document


def read_documents(config: CorpusConfig) -> Iterator[Document]:
    """All documents of a corpus, in a fixed order.

    Raises:
        ValueError: A document lacks text or id, or there is no such data; the message says which.
        OSError: The file cannot be read.
    """
    return SOURCES[config.kind](config)


def _read_wiki(config: CorpusConfig) -> Iterator[Document]:
    for fact in load_wiki().facts:
        name = fact.entity.name
        yield Document(id=f"{name}/{fact.relation.name}", title=name, text=fact.sentence)


def _read_jsonl(config: CorpusConfig) -> Iterator[Document]:
    with Path(config.path).open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _from_line(line, f"{config.path}, line {number}")


def _from_line(line: str, place: str) -> Document:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{place}: it is no JSON ({error.msg})") from error
    if not isinstance(fields, dict):
        raise ValueError(f"{place}: expected an object; got {type(fields).__name__}")
    for key in ("id", "text"):
        if key not in fields:
            raise ValueError(f"{place}: key {key!r} is missing")
    return _document(fields["id"], fields["text"], fields.get("title"), place)


def _read_dataset(config: CorpusConfig) -> Iterator[Document]:
    rows = _load(config)
    columns = [config.text_column, config.title_column, config.id_column]
    for number, row in enumerate(rows):
        place = f"{config.path}, row {number}"
        if missing := [name for name in columns if name is not None and name not in row]:
            raise ValueError(f"{place}: no column {missing[0]!r}; use {', '.join(row)}")
        title = row[config.title_column] if config.title_column is not None else None
        name = row[config.id_column] if config.id_column is not None else number
        yield _document(name, row[config.text_column], title, place)


def _load(config: CorpusConfig) -> Any:
    import datasets
    from datasets.exceptions import DatasetNotFoundError

    folder = Path(config.path)
    try:
        if (folder / "state.json").is_file() or (folder / "dataset_dict.json").is_file():
            found = datasets.load_from_disk(config.path)
            return found[config.split] if isinstance(found, datasets.DatasetDict) else found
        # streamed: the cache would hold all of it a second time
        return datasets.load_dataset(
            config.path,
            config.name,
            split=config.split,
            revision=config.revision,
            data_files=list(config.data_files) or None,
            streaming=True,
        )
    except (KeyError, DatasetNotFoundError, ConnectionError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"corpus: {config.path!r} with split {config.split!r} cannot be loaded: {reason}"
        ) from error


def _document(name: object, text: object, title: object, place: str) -> Document:
    if isinstance(name, bool) or not isinstance(name, int | str) or name == "":
        raise ValueError(f"{place}: the id must be a text or a whole number; got {name!r}")
    if not isinstance(text, str):
        raise ValueError(f"{place}: the text must be a text; got {type(text).__name__}")
    if title is not None and not isinstance(title, str):
        raise ValueError(f"{place}: the title must be a text; got {type(title).__name__}")
    # halves of surrogate pairs cannot be written
    clean = [part.encode(errors="replace").decode() for part in (str(name), text, title or "")]
    return Document(id=clean[0], text=clean[1], title=clean[2])


SOURCES: Mapping[str, Callable[[CorpusConfig], Iterator[Document]]] = {
    "wiki": _read_wiki,
    "jsonl": _read_jsonl,
    "dataset": _read_dataset,
}
"""By kind of corpus: a new one is a function and a line here, and its name in `config.CORPORA`."""
