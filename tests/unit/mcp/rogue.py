"""An MCP server over stdio that misbehaves on demand; it speaks the protocol by hand.

That of the `mcp` package keeps its tools away from its standard output, and takes a second to
start. Run as: rogue.py FOLDER [how to start]. FOLDER/starts gets its process id at each start;
FOLDER/tools.json, where it exists, holds the tools that it says it has. What it does is the name of
the tool that is called; with the argument "once" it does so the first time alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

TOOLS = ("echo", "die", "hang", "flood", "babble", "close", "refuse", "fail", "hire", "stay")
ANY = {"type": "object", "properties": {"once": {"type": "boolean"}}}


def say(text: str) -> None:
    os.write(1, text.encode() + b"\n")


def tools(folder: Path) -> list[dict[str, object]]:
    if (folder / "tools.json").exists():
        return json.loads((folder / "tools.json").read_text())
    return [{"name": name, "description": "", "inputSchema": ANY} for name in TOOLS]


def text(words: str) -> dict[str, object]:
    return {"result": {"content": [{"type": "text", "text": words}]}}


def call(name: str, arguments: dict[str, object], folder: Path) -> dict[str, object]:
    done = folder / f"done_{name}"
    if arguments.get("once") and done.exists():
        return text("well again")
    done.touch()
    match name:
        case "die":
            print(f"struck by {os.environ.get('ROGUE_KEY')}", file=sys.stderr, flush=True)
            os._exit(7)
        case "hang":
            time.sleep(1000)
        case "flood":
            return text("x" * 10_000_000)
        case "babble":
            say("Traceback: what a day")
        case "close":
            os.close(1)
            time.sleep(1000)
        case "refuse":
            return {"error": {"code": -32602, "message": "title must be a book"}}
        case "fail":
            return {"error": {"code": -32603, "message": "out of order"}}
        case "hire":
            child = subprocess.Popen(["sleep", "1000"])
            return text(f"{os.getpid()} {child.pid}")
    return text(f"{name} by {os.getpid()}")


def main() -> None:
    folder, how = Path(sys.argv[1]), sys.argv[2:]
    with (folder / "starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    if "mute" in how:
        time.sleep(1000)
    if "fails" in how:
        sys.exit(f"no licence for {os.environ.get('ROGUE_KEY')}")
    if "banner" in how:
        say("Rogue 1.0 is ready")
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                version = message["params"]["protocolVersion"]
                about = {"name": "rogue", "version": "1"}
                reply = {"protocolVersion": version, "capabilities": {}, "serverInfo": about}
                answer: dict[str, object] = {"result": reply}
            case "tools/list":
                answer = {"result": {"tools": tools(folder)}}
            case "tools/call":
                params = message["params"]
                answer = call(params["name"], params.get("arguments", {}), folder)
            case _:
                answer = {"error": {"code": -32601, "message": "no such method"}}
        if "id" in message:
            say(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}))
    if "stays" in how:
        time.sleep(1000)


main()
