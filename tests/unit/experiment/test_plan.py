"""Which runs are made: shared ones once, stale ones anew, with what they build on."""

import json

import pytest
from tests.unit.experiment.declared import YAML, write_experiment
from tests.unit.experiment.kept import kept

from toolorchestra.experiment.declared import read_experiment
from toolorchestra.experiment.extract import write_extract
from toolorchestra.experiment.plan import plan, to_make

OTHER = YAML.replace("second:", "third:").replace("run: second", "run: third")


def digest(command, words):
    return json.dumps([command, *words])


@pytest.fixture
def planned(tmp_path):
    experiments = [
        read_experiment(write_experiment(tmp_path / "a")),
        read_experiment(
            write_experiment(tmp_path / "b", OTHER.replace('["model', '["x=1", "model'))
        ),
    ]

    def make(scale="full", digest=digest):
        return plan(experiments, digest=digest, scale=scale, root=tmp_path / "runs")

    return make


def keep(job):
    for result in job.results:
        write_extract(result.path, kept({}, key=job.key))


def finish(job):
    job.run_dir.mkdir(parents=True)
    (job.run_dir / "summary.json").touch()


def test_a_run_that_two_tables_need_is_made_once(planned):
    jobs = list(planned().values())
    assert [job.name for job in jobs] == ["a/first", "a/second", "b/third"]
    assert [f"{r.experiment}/{r.run}" for r in jobs[0].results] == ["a/first", "b/first"]
    assert jobs[1].after == jobs[2].after == [jobs[0].key]
    assert jobs[1].words == [f"model.path={jobs[0].run_dir}/model"]


def test_results_under_the_same_key_need_nothing(planned):
    jobs = planned()
    assert to_make(jobs) == list(jobs.values())
    for job in jobs.values():
        keep(job)
    assert to_make(planned()) == []


def test_another_config_makes_a_run_and_what_builds_on_it_stale(planned):
    for job in planned().values():
        keep(job)

    def changed(command, words):
        return digest(command, words) + ("!" if command == "train" else "")

    assert [job.name for job in to_make(planned(digest=changed))] == [
        "a/first", "a/second", "b/third",
    ]  # fmt: skip


def test_what_a_stale_run_builds_on_is_made_anew_only_if_its_folder_is_gone(planned):
    first, second, third = planned().values()
    keep(first)
    keep(third)
    assert [job.name for job in to_make(planned())] == ["a/first", "a/second"]
    finish(first)
    assert [job.name for job in to_make(planned())] == ["a/second"]


def test_the_tiny_scale_ends_every_command_line(planned):
    first, second, _ = planned(scale="tiny").values()
    assert first.words[-1] == second.words[-1] == "benchmark.num_episodes=2"
    assert first.key != next(iter(planned()))


def test_the_starting_policy_is_compared_with_itself(tmp_path):
    text = YAML.replace("minutes: 4}", "minutes: 4, relative_to: itself}").replace(
        "minutes: 1}", "minutes: 1, relative_to: first}"
    )
    experiment = read_experiment(write_experiment(tmp_path / "a", text))
    first, second = plan([experiment], digest=digest, scale="full", root=tmp_path).values()
    assert (first.start, first.after) == (first.key, [])
    assert (second.start, second.after) == (first.key, [first.key])


def test_the_second_world_is_tiny_too_where_there_is_one(tmp_path):
    text = YAML.replace("[seed=1]", "[benchmark.transfer.num_episodes=150]")
    experiment = read_experiment(write_experiment(tmp_path / "a", text))
    first, second = plan([experiment], digest=digest, scale="tiny", root=tmp_path).values()
    assert first.words[-1] == "benchmark.transfer.num_episodes=2"
    assert second.words[-1] == "benchmark.num_episodes=2"


def test_a_run_that_needs_a_missing_package_is_left_out(tmp_path):
    text = YAML.replace("minutes: 1}", "minutes: 1, needs: no_such_package}")
    experiment = read_experiment(write_experiment(tmp_path / "a", text))
    jobs = plan([experiment], digest=digest, scale="full", root=tmp_path)
    assert [job.name for job in to_make(jobs)] == ["a/first"]
