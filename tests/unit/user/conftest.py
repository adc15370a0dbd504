import pytest
from tests.unit.user.scene import install


@pytest.fixture(autouse=True)
def locker(monkeypatch):
    return install(monkeypatch)
