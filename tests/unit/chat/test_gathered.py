from dataclasses import replace

from tests.unit.chat.fronts import fronted, turn

from toolorchestra.chat.gathered import Program, Tried, gather
from toolorchestra.types import CallError

EPISODE = fronted()


def test_results_are_sorted_by_what_their_function_gives():
    found = gather(
        EPISODE,
        [
            turn("search", "search-1", "Paris is a city.\n"),
            turn(
                "enhance_reasoning", "reasoner-1", "answer: 4\n", metadata={"wrote": "print(2 + 2)"}
            ),
            turn("answer", "answer-2", " answer: 4 "),
        ],
    )
    assert found.documents == ("Paris is a city.",)
    assert found.programs == (Program(code="print(2 + 2)", output="4"),)
    assert found.answers == (Tried(model="answer-2", answer="answer: 4"),)
    assert found.notes == ()


def test_the_best_of_several_documents_stands_last_and_none_stands_twice():
    hits = {"documents": ["best", "second", "known"]}
    found = gather(
        EPISODE,
        [turn("search", "search-1", "known"), turn("search", "search-2", "x", metadata=hits)],
    )
    assert found.documents == ("known", "second", "best")


def test_what_found_or_printed_nothing_leaves_a_note_alone():
    found = gather(
        EPISODE,
        [
            turn("search", "search-1", "no answer", status="abstained"),
            turn("enhance_reasoning", "reasoner-1", " "),
        ],
    )
    assert (found.documents, found.programs) == ((), ())
    assert found.notes == (
        "search by search-1: no answer",
        "enhance_reasoning by reasoner-1: nothing",
    )


def test_faults_of_the_policy_leave_notes_and_nothing_else():
    unknown = turn("ask", "answer-1", "error: there is no tool", status="policy_error")
    no_json = replace(
        turn("search", "search-1", ""),
        calls=(),
        results=(),
        errors=(CallError(message="no JSON", text="{"),),
    )
    found = gather(EPISODE, [unknown, no_json])
    assert found.notes == ("error: there is no tool", "error: no JSON")
    assert not (found.documents or found.programs or found.answers)


def test_a_tool_that_fails_in_answering_has_not_answered():
    failed = turn("answer", "answer-1", "error: too long", status="policy_error")
    assert gather(EPISODE, [failed]).answers == ()


def test_an_answer_that_abstains_is_an_answer_all_the_same():
    silent = turn("answer", "answer-1", "no answer", status="abstained")
    assert gather(EPISODE, [silent]).answers == (Tried(model="answer-1", answer="no answer"),)
