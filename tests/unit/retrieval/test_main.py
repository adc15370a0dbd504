"""The commands, as processes."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import aiohttp
import pytest
from tests.unit.retrieval.scene import built, config_of, documents

from toolorchestra.endpoint.registry import Registry
from toolorchestra.process import free_port
from toolorchestra.retrieval.__main__ import CONF, compose_build
from toolorchestra.retrieval.build import build
from toolorchestra.retrieval.client import Remote
from toolorchestra.retrieval.record import Query

COMMAND = (sys.executable, "-m", "toolorchestra.retrieval")


def run(*words):
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_the_wiki_is_built_and_checked_by_two_commands(tmp_path):
    out = tmp_path / "index"
    status, _, told = run("build", "corpus=wiki", "index=ivf", "index.nlist=4", f"out={out}")
    assert status == 0, told
    assert "passages encoded: 1,000" in told
    status, printed, _ = run("check", "--index", str(out))
    assert status == 0 and json.loads(printed)["num_passages"] == 1000
    with (out / "passages.arrow").open("ab") as file:
        file.write(b"x")
    status, _, told = run("check", "--index", str(out))
    assert status == 1 and told.startswith("error: ") and "passages.arrow" in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["out=x", "index=tree"], "Could not find 'index/tree'"),
        (["out=x", "index.kind=tree"], "index.kind: 'tree' is not allowed; use flat, ivf, hnsw"),
        (["out=x", "index.nprob=3"], "'nprob'"),
        (["out=x", "index.nprobe=many"], "'many' .* could not be converted to Integer"),
        (["out=x", "corpus=jsonl"], "corpus.path: '' is not allowed"),
        ([], "out: '' is not allowed; use the folder"),
    ],
)
def test_a_word_that_is_not_allowed_is_refused_in_one_sentence(words, message):
    with pytest.raises(ValueError, match=message) as refusal:
        compose_build(words)
    assert "\n" not in str(refusal.value)


NEEDED = {"jsonl": ["corpus.path=x"], "dataset": ["corpus.path=x"], "hf": ["encoder.model=x"]}


@pytest.mark.parametrize(
    ("group", "name"),
    [(p.parent.name, p.stem) for p in sorted(CONF.glob("*/*.yaml"))],
)
def test_every_option_composes(group, name):
    config = compose_build(["out=x", f"{group}={name}", *NEEDED.get(name, [])])
    assert getattr(config, group).kind == ("hf" if name.startswith("qwen3") else name)


def test_a_server_that_cannot_begin_ends_with_a_sentence(tmp_path):
    status, _, told = run("serve", "--index", str(tmp_path), "--port", "8900")
    assert status == 1 and "is no complete index" in told.splitlines()[-1]
    status, _, told = run("serve", "--index", str(tmp_path), "--port", "0")
    assert (status, told) == (1, "error: --port: 0 is not allowed; use 1 to 65535\n")


async def is_up(url, num_passages):
    try:
        async with aiohttp.ClientSession() as http, http.get(f"{url}/health") as answer:
            return (await answer.json())["num_passages"] == num_passages
    except aiohttp.ClientError:
        return False


async def until_up(url, num_passages):
    async with asyncio.timeout(60):
        while not await is_up(url, num_passages):
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR2])
async def test_a_server_loads_anew_on_sighup_and_ends_in_peace_on_a_signal(tmp_path, number):
    folder, port = built(tmp_path / "index"), free_port()
    process = subprocess.Popen([*COMMAND, "serve", "--index", str(folder), "--port", str(port)])
    try:
        await until_up(url := f"http://127.0.0.1:{port}", 3)
        build(config_of(folder, documents(5), overwrite=True))
        process.send_signal(signal.SIGHUP)
        await until_up(url, 5)
        process.send_signal(number)
        assert await asyncio.to_thread(process.wait, 60) == 0
    finally:
        process.kill()


async def test_a_keeper_starts_the_server_and_a_client_finds_it_by_its_service(tmp_path):
    folder, registry = built(tmp_path / "index"), tmp_path / "servers"
    keeper = subprocess.Popen(
        [sys.executable, "-m", "toolorchestra.endpoint.keeper", "--service", "search"]
        + ["--registry", str(registry), "--bind", "127.0.0.1", "--", *COMMAND, "serve"]
        + ["--index", str(folder), "--host", "{host}", "--port", "{port}"],
        stderr=subprocess.DEVNULL,
        env=os.environ,
    )
    client = Remote(service="search", registry=registry, deadline_s=60.0)
    try:
        hits = await client.search(Query(text="mayor of Kelbis", top_k=1))
        assert hits[0].id == "d1"
        keeper.terminate()
        assert await asyncio.to_thread(keeper.wait, 60) == 0
        assert Registry(registry).read() == ()
    finally:
        keeper.kill()
        await client.close()
