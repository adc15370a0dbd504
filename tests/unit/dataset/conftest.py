"""What tests of tables share: the library's cache lies in the test's own folder."""

import datasets
import pytest


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))
