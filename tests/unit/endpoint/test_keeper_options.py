"""What a keeper's command line allows, and what it makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolorchestra.endpoint.keeper_options import KeeperOptions, parse


def options(**changes):
    given = {"service": "m", "registry": Path("servers"), "command": ("sleep", "{port}")}
    return KeeperOptions(**given | changes)


def test_the_command_line_names_every_option():
    line = (
        "--service m --registry servers --port 81 --bind 127.0.0.1 --host node7 --health /ping "
        "--beat-s 1 --stall-s 2 --patience-s 3 --end-s 4 --max-restarts 5 -- sleep 9 --host 1 -- x"
    )
    assert parse(line.split(), description="") == KeeperOptions(
        service="m",
        registry=Path("servers"),
        command=("sleep", "9", "--host", "1", "--", "x"),
        port=81,
        bind="127.0.0.1",
        host="node7",
        health="/ping",
        beat_s=1.0,
        stall_s=2.0,
        patience_s=3.0,
        end_s=4.0,
        max_restarts=5,
    )


def test_only_the_service_the_registry_and_the_command_must_be_said(capsys):
    line = ["--service", "m", "--registry", "servers"]
    assert parse([*line, "--", "sleep", "{port}"], description="") == options()
    with pytest.raises(SystemExit, match="2"):
        parse(line[:2], description="")
    assert "--registry" in capsys.readouterr().err


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"beat_s": 0.0}, "--beat-s must be positive; got 0"),
        ({"patience_s": -1.0}, "--patience-s must be positive; got -1"),
        ({"max_restarts": -1}, "--max-restarts must not be negative; got -1"),
        ({"port": 65536}, "--port must be 0 to 65535; got 65536"),
        ({"health": "ping"}, "--health must begin with /; got ping"),
        ({"command": ()}, "an installed program must follow --; got nothing"),
        ({"command": ("sleep", "8000")}, "put {port} where the command takes its port"),
    ],
)
def test_what_is_not_allowed_is_named_with_its_value(changes, told):
    with pytest.raises(ValueError, match=told):
        options(**changes)


def test_a_command_is_told_where_to_listen_and_keeps_its_other_braces():
    command = ("sleep", "--at={host}:{port}", '{"a": {"b": 1}}', "{other}")
    told = options(command=command).command_at(81)
    assert told == ["sleep", "--at=0.0.0.0:81", '{"a": {"b": 1}}', "{other}"]
    assert options(command=("sleep",), port=81).command_at(81) == ["sleep"]


def test_others_reach_the_machine_by_the_name_that_was_given_or_by_the_clusters(monkeypatch):
    monkeypatch.setenv("SLURMD_NODENAME", "node7")
    assert options().public_host == "node7"
    assert options(host="gpu.example.org").public_host == "gpu.example.org"
    assert options(bind="127.0.0.1").public_host == "127.0.0.1", "the others cannot anyway"
    monkeypatch.delenv("SLURMD_NODENAME")
    assert options().public_host


def test_the_keeper_asks_for_health_at_an_address_of_its_own_machine():
    assert options().own_host == "127.0.0.1"
    assert options(bind="10.0.0.7").own_host == "10.0.0.7"
