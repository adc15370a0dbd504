"""Stands for a server of any kind; files in its folder say how it fails while it runs.

"silent": health is not answered; "broken": it answers 503; "no_start": it ends at once. Each start
adds its process, and its child's, to the file "pids". POST waits for ever.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--host", required=True)
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--folder", type=Path, required=True)
parser.add_argument(
    "--deaf", action="store_true", help="ignores SIGTERM, and has a child that does"
)
options = parser.parse_args()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        while (options.folder / "silent").exists():
            time.sleep(0.02)
        is_well = self.path == "/health" and not (options.folder / "broken").exists()
        self.send_response(200 if is_well else 503)
        self.end_headers()

    def do_POST(self) -> None:
        time.sleep(600)

    def log_message(self, *arguments: object) -> None:
        pass


pids = [os.getpid()]
if options.deaf:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # which a child inherits
    pids.append(subprocess.Popen(["sleep", "600"]).pid)
with (options.folder / "pids").open("a") as file:
    file.write("".join(f"{pid}\n" for pid in pids))
if (options.folder / "no_start").exists():
    sys.exit(3)
ThreadingHTTPServer((options.host, options.port), Handler).serve_forever()
