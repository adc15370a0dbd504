"""Calls in an environment of tau2-bench, for which a small stand-in stands."""

from types import SimpleNamespace as Some

from toolorchestra.domain.tau2.environment import Tau2Environment


class World:
    def __init__(self):
        self.calls = []

    def get_response(self, call):
        self.calls.append(call)
        call.arguments.setdefault("items", []).append("kept")
        is_wrong = call.name == "wrong"
        return Some(content="Error: no such order" if is_wrong else '{"a": 1}', error=is_wrong)


def test_a_result_comes_back_word_for_word_and_a_failure_without_its_mark():
    world = World()
    environment = Tau2Environment(world, Some)
    assert environment.call("right", {}).content == '{"a": 1}'
    failed = environment.call("wrong", {}, by="user")
    assert (failed.is_ok, failed.content) == (False, "no such order")
    assert [call.requestor for call in world.calls] == ["assistant", "user"]


def test_what_a_tool_does_to_its_arguments_changes_no_record():
    arguments = {"items": ["1"]}
    Tau2Environment(World(), Some).call("right", arguments)
    assert arguments == {"items": ["1"]}


def test_powers_of_powers_keep_no_machine_busy():
    world = World()
    told = Tau2Environment(world, Some).call("calculate", {"expression": "9**9**9"})
    assert (told.is_ok, world.calls) == (False, [])
    assert Tau2Environment(world, Some).call("calculate", {"expression": "9*9"}).is_ok
