"""What Hydra's launcher hands on: each point's config as its own job would compose it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode

from hydra_plugins.toolorchestra_launcher import SubmititLauncher
from toolorchestra import sweep


@pytest.fixture
def launcher(tmp_path):
    """The plugin as Hydra sets it up for a small config."""
    conf = tmp_path / "conf"
    (conf / "toolset").mkdir(parents=True)
    (conf / "train.yaml").write_text(
        "defaults: [_self_, {toolset: local}]\n"
        "seed: 1\ndouble: ${seed}${seed}\noutput_dir: ${hydra:runtime.output_dir}\n"
    )
    for name in ("local", "unseen"):
        (conf / f"toolset/{name}.yaml").write_text(f"name: {name}\n")
    before = HydraConfig.instance().cfg
    with initialize_config_dir(str(conf), version_base="1.3"):
        hydra = GlobalHydra.instance().hydra
        config = hydra.compose_config(
            "train", [f"hydra.sweep.dir={tmp_path}/sweep"], RunMode.MULTIRUN
        )
        made = SubmititLauncher()
        context = SimpleNamespace(config_loader=hydra.config_loader)
        made.setup(hydra_context=context, task_function=None, config=config)
        yield made
    HydraConfig.instance().cfg = before


@pytest.fixture
def launched(monkeypatch):
    """What is handed on; the exit status is `status`."""
    calls = SimpleNamespace(status=0)

    def launch(configs, overrides, sweep_dir):
        calls.configs, calls.overrides, calls.sweep_dir = configs, overrides, sweep_dir
        return calls.status

    monkeypatch.setattr(sweep, "launch", launch)
    return calls


def test_every_point_is_composed_and_resolved_with_a_folder_of_its_own(
    launcher, launched, tmp_path
):
    words = [["toolset=unseen", "seed=2"], ["toolset=local", "seed=3"]]
    assert launcher.launch(words, 0) == []
    assert launched.configs == [
        {"toolset": {"name": "unseen"}, "seed": 2, "double": "22",
         "output_dir": f"{tmp_path}/sweep/0"},
        {"toolset": {"name": "local"}, "seed": 3, "double": "33",
         "output_dir": f"{tmp_path}/sweep/1"},
    ]  # fmt: skip
    assert launched.overrides == words
    assert launched.sweep_dir == tmp_path / "sweep"


def test_a_sweep_of_which_some_point_did_not_finish_ends_the_process_with_its_status(
    launcher, launched
):
    launched.status = 1
    with pytest.raises(SystemExit) as ended:
        launcher.launch([["seed=2"]], 0)
    assert ended.value.code == 1
