import os

import pytest

from toolorchestra.domain.fault import BadDomain
from toolorchestra.domain.folder import read_texts, texts_digest


def texts(folder, *, follows_links=False):
    return read_texts(folder, follows_links=follows_links)


def test_only_the_files_that_a_domain_may_have_are_read(tmp_path):
    (tmp_path / "policy.md").write_text("rules\r\n")
    (tmp_path / "notes.md").write_bytes(b"\xff")
    (tmp_path / "database").mkdir()
    (tmp_path / "database" / "loans.jsonl").write_text("{}")
    (tmp_path / "database.jsonl").write_text("not this one, as there is a folder")
    assert texts(tmp_path) == {"policy.md": "rules\n", "database/loans.jsonl": "{}"}


def test_a_digest_depends_on_names_and_texts_alone(tmp_path):
    (tmp_path / "policy.md").write_text("rules")
    first = texts_digest(texts(tmp_path))
    os.utime(tmp_path / "policy.md", (1, 1))
    assert texts_digest(texts(tmp_path)) == first
    (tmp_path / "policy.md").write_text("rules ")
    assert texts_digest(texts(tmp_path)) != first
    assert texts_digest({"a": "b"}) != texts_digest({"b": "a"})


def test_what_is_no_text_is_refused_by_name(tmp_path):
    (tmp_path / "policy.md").write_bytes(b"\xff")
    with pytest.raises(BadDomain, match=r"policy.md: not read: .* can't decode"):
        texts(tmp_path)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path, make):
    make(tmp_path / "tasks.jsonl")
    with pytest.raises(BadDomain, match=r"tasks.jsonl: not read: it is no regular file"):
        texts(tmp_path)


def test_a_file_that_is_too_big_is_refused_before_it_is_read_whole(tmp_path):
    with (tmp_path / "tasks.jsonl").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(BadDomain, match=r"tasks.jsonl: is too big: .* 64 MB"):
        texts(tmp_path)


def test_links_are_followed_only_where_the_folder_is_trusted(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("token")
    folder = tmp_path / "domain"
    folder.mkdir()
    (folder / "policy.md").symlink_to(secret)
    assert texts(folder, follows_links=True) == {"policy.md": "token"}
    with pytest.raises(BadDomain, match=r"^policy.md: is a symbolic link"):
        texts(folder)


def test_a_linked_folder_of_records_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "domain").mkdir()
    (tmp_path / "domain" / "database").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadDomain, match=r"^database: is a symbolic link"):
        texts(tmp_path / "domain")
