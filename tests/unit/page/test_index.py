from tests.unit.page.made_up import episode, evaluated, played, trained, turn

from toolorchestra.page.index import MOST_CHARS, Index
from toolorchestra.types import CallError, ToolResult


def index_of(*rows):
    index = Index()
    for run, attempt in rows:
        index.add(run, attempt, chunk=0, position=0)
    return index.to_json()


def test_one_episode_has_one_number_in_all_runs_and_policies():
    content = index_of(
        (0, evaluated("start")),
        (1, evaluated("trained")),
        (1, evaluated("trained", episode=episode(question="Another with the same id?"))),
    )
    assert content["columns"]["episode"] == [0, 0, 1]
    assert content["episodes"][0] == ["e", "math", "frugal", "What is 2 + 2?", "4"]
    assert [source["run"] for source in content["sources"]] == [0, 1]


def test_a_row_has_the_amounts_that_lists_show():
    refused = ToolResult(
        call_id="c", name="small", content="no", status="policy_error", metadata={"malformed": True}
    )
    bad = turn(results=(refused,), errors=(CallError(message="no JSON", text="{"),))
    columns = index_of((0, trained(7, rollout=played(turn(), bad))))["columns"]
    row = {name: column[0] for name, column in columns.items()}
    # two results and one error; the refused call and the error are faults; only "big" ran
    assert (row["step"], row["turns"], row["calls"], row["faults"]) == (7, 2, 3, 2)
    assert (row["points"], row["cents"], row["seconds"], row["solved"]) == (0.75, 1.0, 3.0, 1)
    assert row["tools"] == [0]


def test_long_questions_are_shortened_in_the_list():
    [row] = index_of((0, evaluated(episode=episode(question="x" * 1000))))["episodes"]
    assert len(row[3]) == MOST_CHARS and row[3].endswith("…")


def test_tools_go_by_the_names_of_tables():
    assert index_of((0, evaluated()))["tools"] == ["sim/Big"]
