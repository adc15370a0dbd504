"""A small hub on this machine that speaks as much of the real one's protocol as loading takes."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading

import datasets
import huggingface_hub.constants as hub

COMMIT = "5e" * 20
_BLOB = "b1" * 20


def _handler(content):
    """A hub with owner/name, of one file; owner/empty; and owner/gated, which is refused."""
    file = {"type": "file", "oid": _BLOB, "size": len(content), "path": "data/train.parquet"}
    folder = {"type": "directory", "oid": _BLOB, "size": 0, "path": "data"}

    def answer(path):
        """Status, body and the code of the error."""
        if "gated" in path:
            return 403, b"", "GatedRepo"
        if "/none" in path:
            return 404, b"", "RepoNotFound"
        if "/revision/" in path:
            return 200, json.dumps({"id": "owner/name", "sha": COMMIT, "siblings": []}), ""
        if path.startswith("/api/") and "/tree/" in path and "empty" not in path:
            return 200, json.dumps([file if path.endswith("/data") else folder]), ""
        if path.endswith("/data/train.parquet"):
            return 200, content, ""
        return 404, b"", "EntryNotFound"

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, body, error = answer(self.path.partition("?")[0])
            body = body.encode() if isinstance(body, str) else body
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{_BLOB}"')
            if error:
                self.send_header("X-Error-Code", error)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *args):
            pass

    return Handler


@contextlib.contextmanager
def serving_hub(content, monkeypatch, cache):
    """The hub that `datasets` speaks to within the context, and the folder of its downloads."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(content))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
    url = f"http://127.0.0.1:{server.server_port}"
    template = url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(hub, "ENDPOINT", url)
    monkeypatch.setattr(hub, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(datasets.config, "HF_ENDPOINT", url)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
