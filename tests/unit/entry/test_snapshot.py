"""The copy of the code: what goes into it, what it says of itself, and what is refused."""

from __future__ import annotations

import json
import subprocess

import pytest

from toolorchestra.entry import snapshot
from toolorchestra.entry.snapshot import DIFF, FOLDER, RECORD, read_origin, take_snapshot

OURS = {RECORD, DIFF}


def git(folder, *words):
    command = ["git", "-c", "user.name=N", "-c", "user.email=n@n", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return done.stdout.decode().strip()


def put(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@pytest.fixture
def tree(tmp_path):
    """A checkout with one commit."""
    root = tmp_path / "project"
    put(
        root,
        {
            "train.py": b"old\n",
            "src/a/b.py": b"b\n",
            "gone.py": b"gone\n",
            ".gitignore": b"outputs/\n*.log\n",
        },
    )
    git(root.parent, "init", "-q", str(root))
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


def names(folder):
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return found - OURS


def test_what_git_tracks_or_would_track_is_copied_as_it_is_now(tree, tmp_path):
    put(
        tree,
        {
            "train.py": b"new\n",
            "new/c d.py": b"new too\n",
            "outputs/run/weights": b"ignored",
            "x.log": b"ignored",
        },
    )
    (tree / "gone.py").unlink()
    copy = take_snapshot(tree, tmp_path / "sweep")
    assert copy == tmp_path / "sweep" / FOLDER
    assert names(copy) == {".gitignore", "train.py", "src/a/b.py", "new/c d.py"}
    assert (copy / "train.py").read_text() == "new\n"
    assert (copy / "new/c d.py").read_text() == "new too\n"


def test_a_program_stays_one_and_a_link_becomes_the_file_that_it_names(tree, tmp_path):
    (tree / "train.py").chmod(0o755)
    (tree / "link.py").symlink_to(tree / "src/a/b.py")
    (tree / "nowhere.py").symlink_to(tree / "none.py")
    copy = take_snapshot(tree, tmp_path / "sweep")
    assert (copy / "train.py").stat().st_mode & 0o111 == 0o111
    assert (copy / "link.py").read_text() == "b\n" and not (copy / "link.py").is_symlink()
    assert "nowhere.py" not in names(copy)


def test_a_later_edit_of_the_tree_does_not_reach_the_copy(tree, tmp_path):
    copy = take_snapshot(tree, tmp_path / "sweep")
    (tree / "src/a/b.py").write_text("edited\n")
    assert (copy / "src/a/b.py").read_text() == "b\n"


def test_the_copy_tells_its_commit_and_what_differs_from_it(tree, tmp_path):
    clean = take_snapshot(tree, tmp_path / "clean")
    commit = git(tree, "rev-parse", "HEAD")
    assert json.loads((clean / RECORD).read_text()) == {"git_commit": commit, "is_git_dirty": False}
    assert (clean / DIFF).read_text() == ""

    (tree / "train.py").write_text("new\n")
    changed = take_snapshot(tree, tmp_path / "changed")
    assert read_origin(changed) == {"git_commit": commit, "is_git_dirty": True}
    assert "-old\n+new\n" in (changed / DIFF).read_text()


def test_the_kept_diff_makes_the_changed_files_from_the_commit_byte_for_byte(tree, tmp_path):
    changed = {"train.py": b"caf\xe9\r\nnew\r\n", "src/a/b.py": b"\x00\xff\x00"}
    put(tree, changed)
    copy = take_snapshot(tree, tmp_path / "sweep")
    git(tree, "checkout", "-q", ".")
    git(tree, "apply", str(copy / DIFF))
    assert {name: (tree / name).read_bytes() for name in changed} == changed


def test_a_name_that_is_no_unicode_is_copied(tree, tmp_path):
    name = b"caf\xe9.py".decode(errors="surrogateescape")
    put(tree, {name: b"c\n"})
    assert name in names(take_snapshot(tree, tmp_path / "sweep"))


def test_a_copy_inside_another_checkout_still_tells_of_its_own_origin(tree, tmp_path):
    other = tmp_path / "other"
    put(other, {"readme": b"x\n"})
    git(tmp_path, "init", "-q", str(other))
    git(other, "add", ".")
    git(other, "commit", "-q", "-m", "another")
    copy = take_snapshot(tree, other / "sweep")
    assert git(copy, "rev-parse", "HEAD") == git(other, "rev-parse", "HEAD"), "as git sees it"
    origin = {"git_commit": git(tree, "rev-parse", "HEAD"), "is_git_dirty": False}
    assert read_origin(copy) == read_origin(tree) == origin


def test_without_git_all_is_copied_but_outputs_and_what_is_hidden_or_built(tmp_path):
    root = tmp_path / "archive"
    put(
        root,
        {
            "train.py": b"a\n",
            "src/b.py": b"b\n",
            "outputs/run/weights": b"w",
            "src/__pycache__/b.pyc": b"c",
            "src/x.egg-info/PKG-INFO": b"i",
            ".venv/bin/python": b"p",
        },
    )
    copy = take_snapshot(root, tmp_path / "sweep")
    assert names(copy) == {"train.py", "src/b.py"}
    assert read_origin(copy) == {"git_commit": "", "is_git_dirty": False}
    assert (copy / DIFF).read_text() == ""


def test_without_git_a_sweep_in_the_tree_does_not_become_part_of_itself(tmp_path):
    root = tmp_path / "archive"
    put(root, {"train.py": b"a\n", "mine/old/code/train.py": b"o\n"})
    copy = take_snapshot(root, root / "mine/new")
    assert names(copy) == {"train.py", "mine/old/code/train.py"}


def test_a_file_too_large_to_be_code_is_named_with_what_to_do(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot, "TOO_LARGE_BYTES", 2_000_000)
    put(tree, {"data.bin": bytes(2_000_000)})
    take_snapshot(tree, tmp_path / "fits")
    put(tree, {"data.bin": bytes(2_600_000)})
    with pytest.raises(ValueError) as caught:
        take_snapshot(tree, tmp_path / "sweep")
    assert str(caught.value) == (
        f"launcher: {tree / 'data.bin'} is too large to be copied as code (3 MB); move it "
        "elsewhere, or add it to .gitignore"
    )
