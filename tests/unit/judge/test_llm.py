import asyncio
import json
import logging
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web
from tests.unit.judge.stand_in import (
    RIGHT,
    USAGE,
    WRONG,
    PlannedModel,
    judged,
    make_judge,
    reply,
    task,
)

from toolorchestra.judge.config import JudgeSamplingConfig
from toolorchestra.judge.unscored import TooManyUnscored
from toolorchestra.provider.fault import ProviderFault
from toolorchestra.types import LedgerEntry


async def test_what_the_matcher_finds_right_asks_nobody():
    model = PlannedModel(WRONG)
    done = await judged("It is Paris.", model)
    assert (done.verdict.is_solved, done.verdict.decided_by) == (True, "match:text")
    assert (done.bill, model.asked) == (None, [])


@pytest.mark.parametrize(
    ("kind", "gold", "answer", "asks"),
    [
        ("text", "Paris", "the French capital", True),
        ("number", "72", "73", False),
        ("number", "many", "72", True),  # the gold answer is no number: the matcher cannot decide
        ("yes_no", "yes", "no", False),
        ("reasoning_gym", "5", "6", False),  # not named by the config
        ("choice", "?", "B", True),
    ],
)
async def test_which_kinds_ask_is_by_config(kind, gold, answer, asks):
    model = PlannedModel(RIGHT)
    done = await judged(answer, model, of=task(kind, gold))
    assert len(model.asked) == asks
    assert done.verdict.decided_by.startswith(
        "judge:GPT-5" if asks else kind if kind == "reasoning_gym" else "match:"
    )


async def test_a_kind_that_never_asks_stays_undecided():
    model = PlannedModel(RIGHT)
    done = await judged(
        "72", model, of=task("number", "many"), asks={"text": "wrong", "number": "never"}
    )
    assert (done.verdict.is_solved, model.asked) == (None, [])


@pytest.mark.parametrize(
    ("text", "is_solved"),
    [
        (RIGHT, True),
        (WRONG, False),
        ('{"reasoning": "No answer.", "verdict": "not_attempted"}', False),
        # case C23, from the judge's reply to the verdict
        ("INCORRECT", False),
        ("incorrect.", False),
        ("not correct", False),
        ("Correct", True),
        ("NOT_ATTEMPTED", False),
    ],
)
async def test_the_judges_word_decides_and_is_named(text, is_solved):
    done = await judged("the French capital", PlannedModel(text))
    assert (done.verdict.is_solved, done.verdict.decided_by) == (is_solved, "judge:GPT-5")


@pytest.mark.parametrize(
    ("planned", "reason"),
    [
        # case C26: cut inside its thoughts, or no answer in time
        (reply("<think>The answer is correct, I", is_cut=True), "cut"),
        (reply(RIGHT, is_cut=True), "cut"),
        ("<think>It is correct, I", "cannot be read"),
        ("", "cannot be read"),
        (ProviderFault("no answer in time", kind="timeout"), "timeout"),
        (ProviderFault("500", kind="server"), "server"),
        (ProviderFault("no key", kind="auth"), "auth"),
    ],
)
async def test_without_a_verdict_an_answer_is_unscored_never_wrong(planned, reason):
    done = await judged("the French capital", PlannedModel(planned))
    assert done.verdict.is_solved is None
    assert reason in done.verdict.reason
    assert done.verdict.decided_by == "judge:GPT-5"
    # a reply that was of no use is paid for all the same
    assert (done.bill is None) == isinstance(planned, Exception)


async def test_a_client_that_heeds_no_deadline_is_cut_off():
    done = await judged("x", PlannedModel(RIGHT, pause=asyncio.Event()), deadline_s=0.05)
    assert (done.verdict.is_solved, done.bill) == (None, None)
    assert "within 0.05 s" in done.verdict.reason


async def test_a_fault_of_the_program_is_no_verdict():
    with pytest.raises(KeyError):
        await judged("x", PlannedModel(KeyError("bug")))


@pytest.mark.parametrize("answer", [None, "", "  ", "<think>Paris</think>", "<think>Paris"])
async def test_nothing_said_is_wrong_without_asking(answer):
    model = PlannedModel(RIGHT)
    assert (await judged(answer, model)).verdict.is_solved is False
    assert model.asked == []


@pytest.mark.parametrize(
    ("num_words", "limit", "asks"), [(500, 500, 1), (501, 500, 0), (501, 0, 1)]
)
async def test_more_words_than_the_limit_are_wrong_without_asking(num_words, limit, asks):
    model = PlannedModel(RIGHT)
    done = await judged("word " * num_words, model, max_words=limit)
    assert len(model.asked) == asks
    if not asks:
        assert (done.verdict.is_solved, done.verdict.decided_by) == (False, "max_words")
        assert "501 words" in done.verdict.reason


async def test_the_bill_is_the_models_usage_at_its_price():
    done = await judged("x", PlannedModel(RIGHT))
    # 1,000 input tokens at $1 and 100 output tokens at $10 a million
    assert done.bill == LedgerEntry(
        kind="judge",
        name="GPT-5",
        priced_as=("GPT-5",),
        usage=USAGE,
        cost_usd=0.002,
        latency_s=2.0,
        turn=3,
    )


async def test_a_fault_whose_attempts_were_counted_is_paid_for():
    fault = ProviderFault("503 after a reply was begun", kind="server")
    fault.usage = USAGE
    done = await judged("x", PlannedModel(fault))
    assert (done.verdict.is_solved, done.bill.cost_usd) == (None, 0.002)


async def test_aliases_are_shown_to_the_judge():
    model = PlannedModel(RIGHT)
    await judged("x", model, of=task(aliases=["Lutetia"]))
    assert "Paris\nor: Lutetia" in model.asked[0][1].content


async def test_thoughts_are_not_shown_to_the_judge():
    model = PlannedModel(RIGHT)
    await judged("<think>Is it Rome?</think>The French capital", model)
    assert "Rome" not in model.asked[0][1].content


async def test_the_same_is_judged_once_and_paid_for_once():
    model = PlannedModel(RIGHT, WRONG)
    judge = make_judge(model)
    first, second = [await judge.judge(task(), "x", turn=0) for _ in range(2)]
    assert first.verdict == second.verdict
    assert (first.bill is None, second.bill) == (False, None)
    assert (await judge.judge(task(), "y", turn=0)).verdict.is_solved is False
    assert len(model.asked) == 2
    await judge.close()


async def test_a_later_run_finds_the_judgements_of_an_earlier_one(tmp_path):
    cache = str(tmp_path / "judgements.sqlite")
    first = await judged("x", PlannedModel(RIGHT), cache=cache)
    model = PlannedModel(WRONG)
    again = await judged("x", model, cache=cache)
    assert (again.verdict, model.asked) == (first.verdict, [])
    # another prompt, another model: another judgement
    await judged("x", model, cache=cache, system="Judge well.")
    await judged("x", model, cache=cache, model="GPT-5-mini")
    assert len(model.asked) == 2


async def test_what_gave_no_verdict_is_asked_anew():
    model = PlannedModel("?", RIGHT)
    judge = make_judge(model)
    verdicts = [(await judge.judge(task(), "x", turn=0)).verdict.is_solved for _ in range(2)]
    assert verdicts == [None, True]
    await judge.close()


async def until(condition):
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0)


async def test_those_who_ask_the_same_at_once_share_one_call_and_one_bill():
    pause = asyncio.Event()
    model = PlannedModel(RIGHT, pause=pause)
    judge = make_judge(model)
    waiting = [asyncio.create_task(judge.judge(task(), "x", turn=i)) for i in range(5)]
    await until(lambda: model.asked)
    waiting[0].cancel()  # the others still get their verdict
    pause.set()
    done = await asyncio.gather(*waiting[1:])
    assert len(model.asked) == 1
    assert [item.verdict.is_solved for item in done] == [True] * 4
    assert sum(item.bill is not None for item in done) == 1
    await judge.close()


async def test_no_more_judgements_are_in_flight_than_allowed():
    model = PlannedModel(RIGHT)
    judge = make_judge(model, max_concurrent=2)
    await asyncio.gather(*(judge.judge(task(), f"x{i}", turn=0) for i in range(8)))
    assert (model.most_running, len(model.asked)) == (2, 8)
    await judge.close()


async def test_closing_ends_what_is_under_way():
    model = PlannedModel(RIGHT, pause=asyncio.Event())
    judge = make_judge(model)
    waiting = asyncio.create_task(judge.judge(task(), "x", turn=0))
    await until(lambda: model.asked)
    await judge.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert model.num_running == 0


async def test_a_run_stops_where_the_judge_fails_too_often():
    model = PlannedModel(RIGHT, RIGHT, "?", "?")
    judge = make_judge(model, max_unscored_share=0.25, unscored_window=4)
    for i in range(3):
        await judge.judge(task(), f"x{i}", turn=0)
    with pytest.raises(TooManyUnscored, match="2 of the last 4 .*max_unscored_share=0.25"):
        await judge.judge(task(), "x3", turn=0)
    await judge.close()


async def test_what_judging_came_to_is_told_at_the_end(caplog):
    judge = make_judge(PlannedModel(RIGHT, "?"))
    with caplog.at_level(logging.INFO):
        for answer in ("x", "x", "y"):
            await judge.judge(task(), answer, turn=0)
        await judge.close()
    assert (
        "GPT-5 judged 3 answers, 2 of them asked anew, 1 without a verdict, for $0.0040"
        in caplog.text
    )


async def test_a_schema_is_asked_for_where_the_config_says_so():
    for is_structured in (True, False):
        model = PlannedModel(RIGHT)
        options = JudgeSamplingConfig(is_structured=is_structured, max_tokens=77)
        judge = make_judge(model, sampling=options)
        await judge.judge(task(), "x", turn=0)
        await judge.close()
        schema = model.samplings[0].json_schema
        assert model.samplings[0].max_tokens == 77
        if is_structured:
            assert schema["properties"]["verdict"]["enum"] == [
                "correct",
                "incorrect",
                "not_attempted",
            ]
            assert list(schema["properties"]) == ["reasoning", "verdict"]
        else:
            assert schema is None


class HttpStandIn:
    """A stand-in that speaks to a real local server of chat completions, without retries."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def complete(self, messages, *, sampling, deadline_s):
        body = {"messages": [{"role": m.role, "content": m.content} for m in messages]}
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=deadline_s)) as http,
                http.post(self.url, json=body) as answered,
            ):
                if answered.status != 200:
                    raise ProviderFault(f"status {answered.status}", kind="server")
                said = await answered.json(content_type=None)
                choice = said["choices"][0]
        except (aiohttp.ClientError, ValueError) as error:
            raise ProviderFault(type(error).__name__, kind="broken") from error
        is_cut = choice["finish_reason"] == "length"
        return reply(choice["message"]["content"], is_cut=is_cut)


@pytest.fixture
async def server() -> AsyncIterator[tuple[str, list]]:
    """A server that answers each request with the next of the planned ones."""
    planned: list = []

    async def answer(request: web.Request) -> web.Response:
        await request.json()
        status, content, reason = planned.pop(0)
        choice = {"message": {"content": content}, "finish_reason": reason}
        text = json.dumps({"choices": [choice]}) if content is not None else "{"
        return web.Response(status=status, text=text)

    app = web.Application()
    app.router.add_post("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    yield f"http://127.0.0.1:{port}/", planned
    await runner.cleanup()


async def test_replies_over_http_decide_or_leave_unscored(server):
    url, planned = server
    planned += [
        (200, RIGHT, "stop"),
        (200, WRONG, "stop"),
        (200, "<think>It is correct", "length"),
        (503, "busy", "stop"),
        (200, None, ""),
    ]
    judge = make_judge(HttpStandIn(url))
    verdicts = [(await judge.judge(task(), f"x{i}", turn=0)).verdict.is_solved for i in range(5)]
    assert verdicts == [True, False, None, None, None]
    await judge.close()
