"""What a keeper is told: options of its command line, checked before anything starts."""

from __future__ import annotations

import argparse
import os
import shutil
import socket
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class KeeperOptions:
    """What to keep up, where it is registered, and how patiently."""

    service: str
    registry: Path
    command: tuple[str, ...]
    port: int = 0
    bind: str = "0.0.0.0"
    host: str = ""
    health: str = "/health"
    job_id: str = ""
    beat_s: float = 2.0
    stall_s: float = 10.0
    patience_s: float = 600.0
    end_s: float = 10.0
    max_restarts: int = 3

    def __post_init__(self) -> None:
        for name in ("beat_s", "stall_s", "patience_s", "end_s"):
            if not getattr(self, name) > 0:
                raise ValueError(f"--{_flag(name)} must be positive; got {getattr(self, name):g}")
        if self.max_restarts < 0:
            raise ValueError(f"--max-restarts must not be negative; got {self.max_restarts}")
        if not 0 <= self.port < 65536:
            raise ValueError(f"--port must be 0 to 65535; got {self.port}")
        if not self.health.startswith("/"):
            raise ValueError(f"--health must begin with /; got {self.health}")
        if not self.command or shutil.which(self.command[0]) is None:
            named = self.command[0] if self.command else "nothing"
            raise ValueError(f"an installed program must follow --; got {named}")
        if not self.port and not any("{port}" in word for word in self.command):
            raise ValueError("put {port} where the command takes its port, or give it by --port")

    @property
    def public_host(self) -> str:
        """Name by which others reach this machine."""
        if self.host or self.bind.startswith("127."):
            return self.host or self.bind
        return os.environ.get("SLURMD_NODENAME") or socket.getfqdn()

    @property
    def own_host(self) -> str:
        """Address by which this machine reaches the server."""
        return "127.0.0.1" if self.bind in ("0.0.0.0", "::") else self.bind

    def command_at(self, port: int) -> list[str]:
        """The command, told where to listen."""
        places = {"{host}": self.bind, "{port}": str(port)}
        words = list(self.command)
        for name, value in places.items():  # not str.format: words of JSON have braces too
            words = [word.replace(name, value) for word in words]
        return words


HELP = {
    "service": "what it serves, e.g. Qwen/Qwen3-32B",
    "registry": "folder that all machines share",
    "port": "where it listens; 0: a free one, another at each start (default 0)",
    "bind": "address it listens at; 127.0.0.1 keeps other machines out (default 0.0.0.0)",
    "host": "name of this machine for others (default: $SLURMD_NODENAME, or its full name)",
    "health": "path that answers 200 while all is well (default /health)",
    "job_id": "of the cluster job, for humans (default: $SLURM_JOB_ID)",
    "beat_s": "time between beats; a death is noticed within three (default 2)",
    "stall_s": "silence that a busy server is allowed before it no longer beats (default 10)",
    "patience_s": "silence, at its start or later, before it is started anew (default 600)",
    "end_s": "time it may take to end before it is killed (default 10)",
    "max_restarts": "in a row (default 3)",
}
"""Of each option; -- COMMAND ... follows them, with {host} and {port} where those go."""


def parse(arguments: Sequence[str], *, description: str) -> KeeperOptions:
    """Reads a command line.

    Raises:
        SystemExit: It is wrong, or asks for help.
    """
    parser = argparse.ArgumentParser(
        prog="python -m toolorchestra.endpoint.keeper",
        usage="%(prog)s --service NAME --registry DIR [options] -- COMMAND ... {host} {port}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kinds = {"Path": Path, "int": int, "float": float, "str": str}
    for field in fields(KeeperOptions):
        if field.name != "command":
            parser.add_argument(
                f"--{_flag(field.name)}",
                type=kinds[str(field.type)],
                required=field.name in ("service", "registry"),
                default=argparse.SUPPRESS,
                help=HELP[field.name],
            )
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    given = vars(parser.parse_args(arguments[:cut]))
    try:
        return KeeperOptions(**given, command=tuple(arguments[cut + 1 :]))
    except ValueError as error:
        parser.error(str(error))


def _flag(name: str) -> str:
    return name.replace("_", "-")
