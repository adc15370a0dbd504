"""A table from the hub or from local files, by `datasets`: mapped from its cache, never in memory.

Whatever fails does so in one sentence that says what to do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datasets

_BUILDERS = {".parquet": "parquet", ".jsonl": "json", ".json": "json", ".arrow": "arrow"}
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_COMMIT = re.compile(r"[/\\]([0-9a-f]{40})[/\\][^/\\]+$")
_MAX_REASON_CHARS = 200


def load_table(
    path: str, *, split: str = "train", subset: str | None = None, revision: str | None = None
) -> datasets.Dataset:
    """Loads a table.

    Args:
        path: A file, a folder of files, a folder that `datasets` saved, or "owner/name" on the hub.
        split: Of the hub, or of what was saved with splits; plain files are read whole.
        subset: Of a data set of the hub.
        revision: Commit, tag or branch; the hub needs one.

    Raises:
        ValueError: There is no such table, it cannot be read, or it has no rows.
    """
    import datasets
    import httpx2
    from pyarrow import ArrowException

    place = Path(path)
    is_hub = not place.exists()
    if is_hub and (not _HUB_NAME.fullmatch(path) or place.suffix in _BUILDERS):
        raise ValueError(
            f"{path}: no such file or folder; name a table that is there, or owner/name on the hub"
        )
    if is_hub and revision is None:
        raise ValueError(f"{path}: a table of the hub needs a revision; set a commit, or main")
    try:
        if is_hub:
            table = datasets.load_dataset(path, subset, split=split, revision=revision)
        elif (place / "state.json").is_file() or (place / "dataset_dict.json").is_file():
            table = _saved(place, split)
        else:
            builder, files = _files_of(place)
            table = datasets.load_dataset(builder, data_files=files, split="train")
    except (datasets.exceptions.DatasetsError, ArrowException, StopIteration) as error:
        raise ValueError(f"{path}: {_unreadable(error, is_hub=is_hub)}") from error
    except (OSError, RuntimeError, httpx2.HTTPError) as error:
        is_there = isinstance(error, FileNotFoundError)  # the data set is, its files are not
        is_cut_off = is_hub and not is_there
        fault = _unreachable(error) if is_cut_off else _unreadable(error, is_hub=is_hub)
        raise ValueError(f"{path}: {fault}") from error
    except ValueError as error:  # an unknown split or subset, or files without a row
        raise ValueError(
            f"{path}: cannot be loaded with split {split!r} ({_reason(error)}); "
            "use a split that it has, and a file with rows"
        ) from error
    if not len(table):
        raise ValueError(f"{path}: the table has no rows; use one that has")
    return table


def check_columns(table: datasets.Dataset, needed: Sequence[str], *, path: str) -> None:
    """Checks that a table has columns.

    Raises:
        ValueError: It has not; the sentence says which are missing, and which are there.
    """
    if missing := [name for name in needed if name not in table.column_names]:
        raise ValueError(
            f"{path}: the columns {', '.join(missing)} are missing; there are "
            f"{', '.join(table.column_names) or 'none'}; name columns that are there"
        )


def commit_of(table: datasets.Dataset, *, path: str) -> str | None:
    """The commit of the hub that `path` was loaded from; None where it is no table of the hub.

    The library tells it in the folder of its cache alone.
    """
    if Path(path).exists():
        return None
    found = (_COMMIT.search(file["filename"]) for file in table.cache_files)
    match = next(filter(None, found), None)
    return match[1] if match else None


def _saved(folder: Path, split: str) -> datasets.Dataset:
    import datasets

    found = datasets.load_from_disk(str(folder))
    if not isinstance(found, datasets.DatasetDict):
        return found
    if split not in found:
        raise ValueError(f"there are {', '.join(found)}")
    return found[split]


def _files_of(place: Path) -> tuple[str, list[str]]:
    """The files of a table, and what `datasets` calls their form."""
    files = [place] if place.is_file() else sorted(place.iterdir())
    named = [file for file in files if file.suffix in _BUILDERS]
    builders = {_BUILDERS[file.suffix] for file in named}
    if len(builders) != 1:
        raise OSError(
            f"it holds {'several forms' if builders else 'no file'} of {', '.join(_BUILDERS)}"
        )
    return builders.pop(), [str(file) for file in named]


def _unreadable(error: Exception, *, is_hub: bool) -> str:
    reason = _reason(error.__cause__ or error)
    if not is_hub:
        return f"cannot be read ({reason}); mend the files or write them again"
    if "gated" in str(error):
        return (
            "the hub gives it only to those who accepted its terms; accept them on its page and "
            "set HF_TOKEN, or name a local copy"
        )
    return f"cannot be had from the hub ({reason}); check name and revision, or name a local copy"


def _unreachable(error: Exception) -> str:
    return f"the hub cannot be reached ({_reason(error)}); go online, or name a local copy"


def _reason(error: BaseException) -> str:
    """An error as a piece of one line."""
    if isinstance(error, StopIteration):
        return "no rows"
    return " ".join(str(error).split())[:_MAX_REASON_CHARS] or type(error).__name__
