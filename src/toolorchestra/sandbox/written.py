"""What a program wrote, as the host found it: nothing that the program says of it is believed."""

from __future__ import annotations

from dataclasses import dataclass

from toolorchestra.types import Json

_MAX_TOLD = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenFile:
    """A regular file that is new or changed."""

    name: str
    """Relative to the folder where programs start; unprintable characters are escaped."""
    num_bytes: int
    sha256: str
    """Empty where the files together were too big to be read."""
    text: str | None = None
    """The content, where it is small and text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenFiles:
    """All that a program left in its folder."""

    files: tuple[WrittenFile, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    """Name and kind of what is no file, e.g. a symbolic link: never followed, never opened."""
    num_more: int = 0
    """Further entries, beyond the largest number."""

    def to_json(self) -> Json:
        """For a result's metadata: keys only where there is something."""
        told: Json = {}
        if self.files:
            told["files"] = [
                {"name": file.name, "bytes": file.num_bytes, "sha256": file.sha256}
                | ({} if file.text is None else {"text": file.text})
                for file in self.files
            ]
        if self.refused:
            told["refused_files"] = [{"name": name, "kind": kind} for name, kind in self.refused]
        if self.num_more:
            told["num_more_files"] = self.num_more
        return told

    def line(self) -> str:
        """What the policy reads of it, in one line; empty if there is nothing."""
        words = [f"{file.name} ({file.num_bytes} bytes)" for file in self.files[:_MAX_TOLD]]
        num_more = self.num_more + len(self.files[_MAX_TOLD:])
        if num_more:
            words.append(f"{num_more} more")
        lines = ["wrote " + ", ".join(words)] if words else []
        if self.refused:
            kinds = [f"{name} ({kind})" for name, kind in self.refused[:_MAX_TOLD]]
            if num_left := len(self.refused[_MAX_TOLD:]):
                kinds.append(f"{num_left} more")
            lines.append("left out " + ", ".join(kinds))
        return "; ".join(lines)
