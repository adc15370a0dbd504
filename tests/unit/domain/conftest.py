import shutil
import sys
from pathlib import Path

import pytest

from toolorchestra.domain.domain import Domain
from toolorchestra.domain.load import load_package

_SHOP = Path(__file__).parent / "shop"
_USER_FUNCTIONS = '''
from toolorchestra.domain.database import Database


def look(db: Database, customer_id: str) -> str:
    """Look into the basket.

    Args:
        customer_id: Whose basket.
    """
    return f"pears of {db.get('customers', customer_id)['email']}"


def take(db: Database, customer_id: str) -> str:
    """Take what is in the basket.

    Args:
        customer_id: Whose basket.
    """
    db.update("customers", customer_id, tags=["took"])
    return "taken"


FUNCTIONS = (look, take)
'''


class ShopCopy:
    """A copy of the shop's folder as a package of its own, to be damaged and then loaded."""

    def __init__(self, parent: Path) -> None:
        self.name = f"shop_{parent.name}".replace("-", "_")
        self.folder = parent / self.name
        shutil.copytree(_SHOP, self.folder, ignore=shutil.ignore_patterns("__pycache__"))

    def replace(self, file: str, old: str, new: str) -> None:
        path = self.folder / file
        text = path.read_text()
        assert text.count(old) >= 1, f"{old!r} is not in {file}"
        path.write_text(text.replace(old, new, 1))

    def append(self, file: str, line: str) -> None:
        with (self.folder / file).open("a") as stream:
            stream.write(line + "\n")

    def load(self, **options: bool) -> Domain:
        return load_package(self.name, **options)


@pytest.fixture
def shop_copy(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    copy = ShopCopy(tmp_path)
    yield copy
    for name in [name for name in sys.modules if name.split(".")[0] == copy.name]:
        del sys.modules[name]


@pytest.fixture
def shop(shop_copy):
    return shop_copy.load()


@pytest.fixture
def market(shop_copy):
    """A copy of the shop whose user has two functions."""
    (shop_copy.folder / "user_functions.py").write_text(_USER_FUNCTIONS)
    return shop_copy
