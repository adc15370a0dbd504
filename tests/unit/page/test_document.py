import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

from tests.unit.page.made_up import HOSTILE, episode, evaluated, gathered

import toolorchestra.page.document
from toolorchestra.page.document import SCRIPTS, document


def block(page, name):
    found = re.search(rf'<script type="[^"]*" id="{name}">([^<]*)</script>', page)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def test_nothing_of_a_run_is_markup():
    page = document(gathered([evaluated(episode=episode(question=HOSTILE))], title=HOSTILE))
    assert "window.hacked" in page  # in the title, escaped
    assert "<script>window.hacked" not in page and "<img" not in page
    assert block(page, "chunk-0")["episodes"][0]["task"]["question"] == HOSTILE
    assert block(page, "report")["title"] == HOSTILE
    page.encode("utf-8")


def test_the_policy_allows_this_script_and_this_style_alone():
    page = document(gathered([evaluated()]))
    for tag in ("script", "style"):
        [text] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in page
    assert "default-src 'none'" in page and not re.search(r'(src|href)="http', page)


def test_each_script_that_ships_is_part_of_the_page():
    static = Path(toolorchestra.page.document.__file__).parent / "static"
    assert sorted(path.stem for path in static.glob("*.js")) == sorted(SCRIPTS)


def test_the_same_runs_give_the_same_file():
    assert document(gathered([evaluated()])) == document(gathered([evaluated()]))
