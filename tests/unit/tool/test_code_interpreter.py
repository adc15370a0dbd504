from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from toolorchestra.sandbox.config import SandboxConfig
from toolorchestra.tool.base import CallContext, Tool
from toolorchestra.tool.code_interpreter import PARAMETERS, CodeInterpreter
from toolorchestra.types import Episode, Task, ToolResult, Usage

pytestmark = pytest.mark.sandbox

Ask = Callable[..., Any]


def build(**changes: Any) -> CodeInterpreter:
    options = SandboxConfig(**({"timeout_s": 3.0} | changes))
    return CodeInterpreter("code_interpreter", latency_s=2.0, compute_s=0.5, options=options)


@pytest.fixture
def ask(make_episode: Callable[..., Episode]) -> Ask:
    """`await ask(tool, "1 + 1")`: one call; without code, the tool is asked the question."""

    async def ask_tool(
        tool: Tool,
        code: str | None = None,
        *,
        question: str = "6 * 7",
        session: str = "s",
        files: Any = None,
    ) -> ToolResult:
        metadata = {} if files is None else {"files": files}
        task = Task(id="t", skill="code", question=question, answer="42", metadata=metadata)
        context = CallContext(
            episode=make_episode(task=task), call_id="c1", call_number=0, session=session
        )
        return await tool.call({} if code is None else {"code": code}, context)

    return ask_tool


async def test_an_answer_is_the_stripped_output_behind_one_word(ask: Ask) -> None:
    result = await ask(build(), "print(sum(range(5)))")
    assert result == ToolResult(
        call_id="c1",
        name="code_interpreter",
        content="answer: 10",
        status="ok",
        usage=Usage(compute_s=0.5),
        latency_s=2.0,
        metadata={"sandbox_status": "ok"},
    )


async def test_without_code_the_question_is_run(ask: Ask) -> None:
    assert (await ask(build())).content == "answer: 42"


async def test_output_of_several_lines_is_kept_and_none_is_named(ask: Ask) -> None:
    tool = build()
    assert (await ask(tool, "print('a\\nb\\n')")).content == "answer: a\nb"
    assert (await ask(tool, "x = 1")).content == "answer: (no output)"


@pytest.mark.parametrize(
    ("code", "content", "kind"),
    [
        ("Who was it?", "error: SyntaxError: invalid syntax (line 1)", "error"),
        ("1 / 0", "error: ZeroDivisionError: division by zero", "error"),
        ("while True: pass", "error: ran longer than 0.5 s", "timeout"),
        ("bytearray(10**9)", "error: needed more than 128 MB of memory", "memory"),
        ("print('x' * 500)", "error: printed more than 400 bytes", "output_limit"),
    ],
)
async def test_a_failure_is_the_policys_and_takes_one_line(
    ask: Ask, code: str, content: str, kind: str
) -> None:
    result = await ask(build(timeout_s=0.5, memory_mb=128, max_output_bytes=400), code)
    assert (result.status, result.content) == ("policy_error", content)
    assert result.metadata == {"sandbox_status": kind}
    assert result.usage.compute_s == 0.5


async def test_a_long_message_is_shortened(ask: Ask) -> None:
    content = (await ask(build(), "raise ValueError('x' * 5000)")).content
    assert len(content) == len("error: ") + 200
    assert content.endswith("xxx...")


async def test_a_failing_sandbox_is_the_providers_fault(ask: Ask) -> None:
    tool = build()
    object.__setattr__(tool._sandbox._launch, "bwrap", "/nowhere/bwrap")
    result = await ask(tool, "1")
    assert result.status == "provider_error"
    assert result.content.startswith("error: the sandbox does not start")


async def test_state_is_kept_by_rollout_only_where_configured(ask: Ask) -> None:
    plain, stateful = build(), build(is_stateful=True)
    for tool in (plain, stateful):
        await ask(tool, "x = 5", session="one")
    assert (await ask(plain, "x", session="one")).status == "policy_error"
    assert (await ask(stateful, "x", session="one")).content == "answer: 5"
    assert (await ask(stateful, "x", session="two")).status == "policy_error"
    await stateful.close_session("one")
    assert (await ask(stateful, "x", session="one")).status == "policy_error"
    await stateful.close()
    await plain.close_session("one")
    await plain.close()


async def test_a_restart_is_told_behind_the_answer(ask: Ask) -> None:
    tool = build(is_stateful=True)
    await ask(tool, "import os; os._exit(0)")
    content = (await ask(tool, "3")).content
    assert content == "answer: 3\n(the interpreter was restarted: earlier variables are gone)"
    await tool.close()


async def test_a_missing_package_is_told_behind_the_error(ask: Ask) -> None:
    content = (await ask(build(), "import numpy")).content
    assert content == (
        "error: ModuleNotFoundError: No module named 'numpy'\n"
        "(there is no module numpy here, only the standard library)"
    )


async def test_a_tasks_files_come_in_and_written_ones_are_told(ask: Ask) -> None:
    tool = build(work_mb=4)
    result = await ask(tool, "open('b', 'w').write(open('a').read())", files={"a": "hi"})
    assert result.content == "answer: 2\n(wrote b (2 bytes))"
    (file,) = result.metadata["files"]
    assert (file["name"], file["bytes"], file["text"]) == ("b", 2, "hi")
    other = await ask(tool, "open('b', 'w').write(open('a').read())", files={"a": "other"})
    assert other.content == "answer: 5\n(wrote b (5 bytes))"  # Not the remembered result.


async def test_without_a_folder_a_tasks_files_stay_out(ask: Ask) -> None:
    result = await ask(build(), "import os; os.path.exists('a')", files={"a": "hi"})
    assert (result.content, result.metadata) == ("answer: False", {"sandbox_status": "ok"})


async def test_files_of_a_task_that_are_wrong_are_not_the_policys_fault(ask: Ask) -> None:
    result = await ask(build(work_mb=4), "1", files={"../a": "hi"})
    assert result.status == "provider_error"
    assert result.content.startswith("error: task.metadata.files: '../a' is not allowed")


@pytest.mark.parametrize("is_stateful", [False, True])
async def test_a_warm_tool_answers_alike_and_at_the_configured_latency(
    ask: Ask, is_stateful: bool
) -> None:
    plain, warm = build(is_stateful=is_stateful), build(is_stateful=is_stateful, warm_workers=2)
    for code in ("1 + 1", "1 / 0"):
        assert await ask(warm, code) == await ask(plain, code)
    for tool in (plain, warm):
        await tool.close()
    assert not warm._sandbox._warm._starts


def test_one_tool_serves_several_event_loops(ask: Ask) -> None:
    tool = build(max_parallel=1)

    async def ask_many(first: int) -> list[str]:
        results = await asyncio.gather(*(ask(tool, f"{n}") for n in range(first, first + 4)))
        return [result.content for result in results]

    assert asyncio.run(ask_many(0)) == [f"answer: {n}" for n in range(4)]
    assert asyncio.run(ask_many(9)) == [f"answer: {n}" for n in range(9, 13)]


def test_a_session_that_outlives_its_event_loop_is_replaced_and_can_be_closed(ask: Ask) -> None:
    tool = build(is_stateful=True)
    assert asyncio.run(ask(tool, "x = 1")).status == "ok"
    assert "restarted" in asyncio.run(ask(tool, "2")).content
    asyncio.run(tool.close())


def test_every_argument_is_optional() -> None:
    assert PARAMETERS["required"] == []
    assert PARAMETERS["additionalProperties"] is False
