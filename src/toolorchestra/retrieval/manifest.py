"""What an index's folder holds, said in `manifest.json`, and whether it still does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toolorchestra.codec import from_json, to_json
from toolorchestra.retrieval.config import CorpusConfig, EncoderConfig, IndexConfig

MANIFEST = "manifest.json"
FORMAT = 1
"""Of the folder; another one is refused."""
ALWAYS_HASHED_BYTES = 64 * 2**20
"""Files up to this size are read whole at every opening; of larger ones the size is compared."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileRecord:
    """One file of the folder."""

    num_bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """How an index was built, and from what."""

    format: int
    corpus: CorpusConfig
    num_documents: int
    num_passages: int
    corpus_sha256: str
    """Of all passages' ids, titles and texts, in order."""
    encoder: EncoderConfig
    encoder_fingerprint: str
    dimension: int
    index: IndexConfig
    """As it was built: `nlist` is a number where lists were made."""
    faiss_version: str
    built_at: str
    """UTC."""
    files: Mapping[str, FileRecord]


def record_files(folder: Path) -> dict[str, FileRecord]:
    """Size and hash of every file of a folder."""
    return {
        path.name: FileRecord(num_bytes=path.stat().st_size, sha256=sha256_of(path))
        for path in sorted(folder.iterdir())
    }


def sha256_of(path: Path) -> str:
    """Of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Writes it, which makes the folder complete."""
    text = json.dumps(to_json(manifest), indent=1) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an index.

    Raises:
        ValueError: There is none, or it is not one of this version's; one sentence says so.
    """
    try:
        fields = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise ValueError(
            f"{folder} is no complete index: {MANIFEST} is missing; build one with "
            f"python -m toolorchestra.retrieval build corpus=wiki out={folder}"
        ) from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder / MANIFEST} cannot be read: {error}") from error
    found = fields.get("format") if isinstance(fields, dict) else None
    if found != FORMAT:
        raise ValueError(
            f"{folder} has the format {found!r}, but this version reads {FORMAT}; build it anew"
        )
    return from_json(Manifest, fields, str(folder / MANIFEST))


def check_files(folder: Path, manifest: Manifest, *, is_thorough: bool = False) -> None:
    """Compares the files with the manifest.

    Args:
        folder: The index.
        manifest: Its manifest.
        is_thorough: Whether large files are read whole too.

    Raises:
        ValueError: One is missing or differs.
    """
    for name, record in manifest.files.items():
        path = folder / name
        if not path.is_file():
            raise ValueError(f"{folder}: the manifest names {name}, which is missing")
        if (size := path.stat().st_size) != record.num_bytes:
            raise ValueError(
                f"{path} has {size} bytes, but the manifest says {record.num_bytes}; build it anew"
            )
        is_hashed = is_thorough or record.num_bytes <= ALWAYS_HASHED_BYTES
        if is_hashed and sha256_of(path) != record.sha256:
            raise ValueError(f"{path} is not what the manifest says it is; build it anew")
