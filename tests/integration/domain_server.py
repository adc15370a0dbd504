"""A server that plays recorded answers to the requests of `synthesize.py domain=demo`.

The answers are the files of `domain_script/`, as they are: STAGE/PLACE.NUMBER.txt is the reply to a
request, NUMBER counting what the model has said before in the conversation; in solving/ the place
ends with the attempt.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from aiohttp import web
from benchmarks.provider.stand_in import StandIn, behaviour

ANSWERS = Path(__file__).parent / "domain_script"
STAGES = {
    "You plan a domain": "subjects",
    "You design the database": "schema",
    "You invent records": "entries",
    "You are shown records": "validation",
    "You plan the functions": "outline",
    "You write one Python function": "functions",
    "You name what users": "intents",
    "You turn what users": "tasks",
    "You make a task": "evolution",
    "You serve a user": "solving",
}
PLACES = {
    "entries": r"^Collection (\w+):(?s:.*)This is request (\d+) of",
    "validation": r'^Collection (\w+):(?s:.*)The records:\n\{"\w+": "(\w+)"',
    "functions": r"^Write (\w+): ",
    "intents": r"^Subject: (\w+):",
    "tasks": r"^What users come with: (.+)\.$",
    "evolution": r'^The task:\n\{"instruction": "(\w+)',
    "solving": r"^(\w+)",
}
"""What in a request says which answer is meant; stages without an entry ask once."""


def stage_of(messages: list[dict[str, str]]) -> str:
    """The stage that asks."""
    (stage,) = {
        stage for words, stage in STAGES.items() if messages[0]["content"].startswith(words)
    }
    return stage


def place_of(stage: str, text: str) -> str:
    """What of the stage is asked for."""
    if stage not in PLACES:
        return "demo"
    found = re.search(PLACES[stage], text, re.MULTILINE)
    assert found, f"a request of {stage} that says not what it is about: {text}"
    place = "-".join(found.groups()).replace(" ", "_")
    return place if stage in ("validation", "functions") else place.lower()


class Answers:
    """Which answer comes next; attempts at a task have equal requests, so they are counted."""

    def __init__(self) -> None:
        self.given = Counter[str]()

    def next(self, messages: list[dict[str, str]]) -> str:
        """The answer to a request."""
        stage = stage_of(messages)
        place = place_of(stage, messages[1]["content"])
        number = sum(message["role"] == "assistant" for message in messages)
        if stage == "solving":
            request = json.dumps(messages)
            self.given[request] += 1
            place = self._attempt(place, self.given[request])
        return (ANSWERS / stage / f"{place}.{number}.txt").read_text()

    def _attempt(self, place: str, number: int) -> str:
        """An attempt that is not recorded goes as the one before."""
        recorded = [
            n for n in range(1, number + 1) if (ANSWERS / f"solving/{place}.{n}.0.txt").exists()
        ]
        return f"{place}.{recorded[-1]}"


class AnsweringServer(StandIn):
    """A stand-in with answers."""

    answers: Answers


@behaviour
async def recorded(server: AnsweringServer, request: web.Request) -> web.Response:
    """What is recorded for the request."""
    body = await request.json()
    assert body["response_format"]["json_schema"]["strict"] is True
    reply = server.reply(body)
    reply["choices"][0]["message"]["content"] = server.answers.next(body["messages"])
    return web.json_response(reply)


@behaviour
async def wrong_key_for_outline(server: AnsweringServer, request: web.Request) -> web.Response:
    """The key is withdrawn once the outline is asked for."""
    body = await request.json()
    if stage_of(body["messages"]) == "outline":
        return web.json_response({"error": {"message": "this key was withdrawn"}}, status=401)
    return await recorded(server, request)
