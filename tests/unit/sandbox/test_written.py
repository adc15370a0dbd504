from __future__ import annotations

from toolorchestra.sandbox.written import WrittenFile, WrittenFiles


def written(num_files: int) -> tuple[WrittenFile, ...]:
    return tuple(WrittenFile(name=f"f{n}", num_bytes=n, sha256="0") for n in range(num_files))


def test_nothing_written_says_nothing() -> None:
    assert WrittenFiles().to_json() == {}
    assert WrittenFiles().line() == ""


def test_the_metadata_hold_every_file_and_the_text_of_small_ones() -> None:
    file = WrittenFile(name="a", num_bytes=2, sha256="12", text="hi")
    told = WrittenFiles(files=(file, *written(1)), refused=(("l", "pipe"),), num_more=3)
    assert told.to_json() == {
        "files": [
            {"name": "a", "bytes": 2, "sha256": "12", "text": "hi"},
            {"name": "f0", "bytes": 0, "sha256": "0"},
        ],
        "refused_files": [{"name": "l", "kind": "pipe"}],
        "num_more_files": 3,
    }


def test_the_policy_reads_one_short_line() -> None:
    assert WrittenFiles(files=written(2)).line() == "wrote f0 (0 bytes), f1 (1 bytes)"
    many = WrittenFiles(files=written(20), refused=(("l", "symbolic link"),) * 9, num_more=5)
    assert "f7 (7 bytes), 17 more; left out l (symbolic link)" in many.line()
    assert many.line().endswith("l (symbolic link), 1 more")
    assert WrittenFiles(num_more=4).line() == "wrote 4 more"
