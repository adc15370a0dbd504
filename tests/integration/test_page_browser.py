"""The HTML report in Chromium: one browser and one page for all tests, without any network."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.unit.page.made_up import (
    HOSTILE,
    episode,
    evaluated,
    gathered,
    played,
    trained,
    turn,
)
from tokenizers import Tokenizer

import toolorchestra.model
from toolorchestra.page.document import document
from toolorchestra.types import CallError, ToolResult, Verdict

CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the PATH"),
]
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
TINY = Path(toolorchestra.model.__file__).parent / "tiny" / "tokenizer.json"
NUM_MANY = 10_000


@dataclass
class Lab:
    """A browser's page, what it complained of, and files to open in it."""

    page: object
    folder: Path
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, name: str, place: str = "report", width: int = 1200):
        """The page, once the file's `place` is shown."""
        self.page.goto("about:blank")
        self.complaints.clear()
        self.requests.clear()
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.goto(f"{(self.folder / name).as_uri()}#{place}")
        self.page.wait_for_selector(".report h1" if place == "report" else ".explorer")
        if place != "report":
            filled = self.page.locator(".found", has_text=re.compile("trajector"))
            filled.wait_for(state="attached")
        return self.page


def sampled(text):
    ids = tuple(Tokenizer.from_file(str(TINY)).encode(text, add_special_tokens=False).ids)
    logprobs = (-3.0, *[-0.01] * (len(ids) - 1))  # p = 0.05 is the bound of the third degree
    return turn(text=text, completion_ids=ids, logprobs=logprobs)


def two_runs():
    wrong = Verdict(is_solved=False, decided_by="judge:m", reason="off by one")
    lone = episode(id="lone", question="Who painted the bridge?")
    first = [
        trained(0, rollout=played(sampled("guess the answer"))),
        evaluated("trained", rollout=played(turn(text="a needle in the whole text"))),
        evaluated("trained", episode=lone, verdict=wrong),
    ]
    return gathered(first, [evaluated("trained")], tokenizer=TINY)


def hostile():
    result = ToolResult(call_id="c", name="big", content=HOSTILE, status="ok")
    bad = turn(text=HOSTILE, results=(result,), errors=(CallError(message=HOSTILE, text=HOSTILE),))
    verdict = Verdict(is_solved=None, decided_by=HOSTILE, reason=HOSTILE)
    attempt = evaluated(
        HOSTILE,
        world=HOSTILE,
        episode=episode(id=HOSTILE, question=HOSTILE),
        rollout=played(bad, answer=HOSTILE),
        verdict=verdict,
    )
    return gathered([attempt], title=HOSTILE)


def many():
    """As many trajectories as a long training leaves, eight of an episode."""
    episodes = [episode(id=f"e{n}", question=f"Question {n:04}?") for n in range(NUM_MANY // 8)]
    said = turn(text="4", calls=(), results=())
    rollouts = [played(said, sample=sample) for sample in range(8)]
    attempts = [
        trained(n // 80, episode=episodes[n // 8], rollout=rollouts[n % 8]) for n in range(NUM_MANY)
    ]
    return gathered(attempts)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    playwright = pytest.importorskip("playwright.sync_api")
    folder = tmp_path_factory.mktemp("pages")
    for name, made in (
        ("two.html", two_runs()),
        ("hostile.html", hostile()),
        ("many.html", many()),
    ):
        (folder / name).write_text(document(made), encoding="utf-8")
    (folder / "none.html").write_text(document(gathered([])), encoding="utf-8")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        page = browser.new_page()
        page.set_default_timeout(10_000)
        found = Lab(page=page, folder=folder)
        page.on("console", lambda message: found.complaints.append(message.text))
        page.on("pageerror", lambda error: found.complaints.append(str(error)))
        page.on("request", lambda request: found.requests.append(request.url))
        yield found
        browser.close()


def found(page):
    return page.locator(".found").inner_text()


def wait_for_found(page, text):
    """By a locator: the page's policy forbids the scripts that polling would evaluate in it."""
    page.locator(".found", has_text=re.compile(f"^{re.escape(text)}$")).wait_for()


def test_a_report_opens_with_its_sections_and_asks_no_network(lab):
    page = lab.open("two.html")
    headings = page.locator("h2").all_inner_texts()
    assert headings == [
        "run 0",
        "run 1",
        "Training",
        "Evaluation",
        "By skill and preference",
        "Tools and costs",
        "Faults",
    ]
    assert page.locator("figure svg").count() == 3  # reward; accuracy over cost and latency
    assert page.locator(".runs article").count() == 2
    assert lab.complaints == [] and len(lab.requests) == 1


def test_curves_of_two_runs_lie_over_one_another_and_tables_have_a_column_each(lab):
    page = lab.open("two.html")
    chart = page.locator("#curves figure svg").first
    assert chart.locator("path.line").count() == 2
    assert chart.get_attribute("aria-label") == (
        "reward: A 0.1 at step 0, 0.3 at step 2; B 0.1 at step 0, 1.3 at step 2"
    )
    chart.focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#curves .reading").first.inner_text() == "step 2: A 0.3, B 1.3"
    heads = page.locator("#results thead th").all_inner_texts()
    assert heads[:3] == ["policy", "accuracy A", "accuracy B"]
    cells = page.locator("#results tbody tr").first.locator("td").all_inner_texts()
    assert cells[:2] == ["0.500 ±0.300", "0.600 ±0.200"]


def test_words_are_found_in_the_list_and_in_whole_texts(lab):
    page = lab.open("two.html", "trajectories")
    assert found(page) == "4 trajectories"
    page.keyboard.press("/")
    page.keyboard.type("PAINTED bridge")
    wait_for_found(page, "1 of 4 trajectories")
    page.locator("#search").fill("needle in the whole")
    wait_for_found(page, "0 of 4 trajectories")
    page.locator("#whole").check()
    wait_for_found(page, "1 of 4 trajectories")


def test_trajectories_are_filtered_and_ordered(lab):
    page = lab.open("two.html", "trajectories")
    page.get_by_label("outcome").select_option(label="not solved")
    wait_for_found(page, "1 of 4 trajectories")
    assert "Who painted" in page.locator(".row").inner_text()
    page.get_by_role("button", name="Reset").click()
    page.get_by_label("played").select_option(label="A in training")
    wait_for_found(page, "1 of 4 trajectories")
    page.get_by_role("button", name="Reset").click()
    page.get_by_label("order").select_option(label="lowest reward or utility")
    assert "step 0" in page.locator(".row").first.inner_text()  # 0.75; the others have 1


def test_a_trajectory_is_opened_read_and_left_by_keyboard(lab):
    page = lab.open("two.html", "trajectories")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_selector(".trajectory h2:focus")
    text = page.locator(".trajectory").inner_text()
    assert "a needle in the whole text" in text and "It is 4." in text and "0.8 ¢" in text
    assert 'big({"question":"2 + 2"})' in text and "right, by match:number" in text
    page.keyboard.press("Escape")
    page.wait_for_selector(".list:focus")
    assert page.locator(".trajectory").count() == 0


def test_the_same_episode_of_another_run_opens_beside(lab):
    page = lab.open("two.html", "trajectories/1")
    page.wait_for_selector(".trajectory h2")
    page.keyboard.press("b")
    page.wait_for_selector(".columns.n2")
    assert page.locator(".trajectory .letter").count() == 2
    assert page.evaluate("location.hash") == "#trajectories/1+3"
    page.locator(".close").first.click()
    page.wait_for_selector(".columns.n1")
    assert page.locator(".trajectory .letter").get_attribute("aria-label") == "run B"


def test_tokens_are_coloured_by_log_probability_or_it_is_said_why_not(lab):
    page = lab.open("two.html", "trajectories/0")
    page.locator("#coloured").check()
    tokens = page.locator(".tokens span")
    assert tokens.first.get_attribute("class") == "p4"  # e^-3 = 0.0498, below 0.05
    assert tokens.last.get_attribute("class") == "p0"
    assert page.locator(".tokens").inner_text() == "guess the answer"
    assert (
        "Reward terms: outcome 1.000 + cost −0.250 = 0.750" in page.locator(".terms").inner_text()
    )
    page = lab.open("two.html", "trajectories/1")
    page.locator("#coloured").check()
    page.get_by_text("server gave no log-probabilities").wait_for()


@pytest.mark.parametrize("place", ["report", "trajectories", "trajectories/1+3"])
def test_a_narrow_screen_shows_all_without_scrolling_sideways(lab, place):
    page = lab.open("two.html", place, width=400)
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    if "/" in place:
        page.get_by_role("button", name="Back to the list").click()
        page.locator(".list").wait_for()


def test_hostile_content_stays_text(lab):
    page = lab.open("hostile.html", "trajectories/0")
    page.locator(".trajectory .message").first.wait_for()
    page.locator("#coloured").check()
    shown = page.locator(".trajectory .message").first.inner_text()
    assert "</script><script>window.hacked=1</script><img src=x onerror=" in shown
    assert "&lt;b&gt;" in shown and "{{ 7*7 }} ${7*7} ]]> <!--" in shown
    assert "U+2028U+0000U+202EU+D800" in shown
    lab.page.goto(f"{(lab.folder / 'hostile.html').as_uri()}#report")
    for details in page.locator("details summary").all():
        if details.is_visible():
            details.click()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0 and page.locator("a[href^=javascript]").count() == 0
    assert lab.complaints == [] and len(lab.requests) == 1


def test_ten_thousand_trajectories_are_listed_searched_and_opened(lab):
    page = lab.open("many.html", "trajectories")
    assert found(page) == "10,000 trajectories"
    assert page.locator(".row").count() < 40  # those in view alone
    page.locator(".list").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_selector(".trajectory h2:focus")
    assert page.locator(".trajectory h2").inner_text() == "step 124: e1249 / 7"
    page.locator("#search").fill("question 0077?")
    wait_for_found(page, "8 of 10,000 trajectories")
    page.locator("#whole").check()
    wait_for_found(page, "8 of 10,000 trajectories")
    assert lab.complaints == []


def test_an_empty_run_says_so(lab):
    page = lab.page
    lab.complaints.clear()
    page.goto(f"{(lab.folder / 'none.html').as_uri()}#trajectories")
    page.get_by_text("No trajectory was logged.").wait_for()
    assert lab.complaints == []
