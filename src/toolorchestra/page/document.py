"""The HTML file: one template, one style sheet, one script, and blocks of compressed data.

Nothing of a run is markup: all of it is base64, and the script puts it on the page as text. A
content security policy allows this script and this style sheet by their digests and nothing else,
no network either.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from toolorchestra.page.blocks import pack
from toolorchestra.page.gather import Gathered

SCRIPTS = (
    "text",
    "dom",
    "format",
    "data",
    "line",
    "scatter",
    "table",
    "curves",
    "results",
    "usage",
    "overview",
    "tokens",
    "turns",
    "reader",
    "filter",
    "list",
    "main",
)
"""Files of static/, in the order in which they are joined: each uses those before it."""
MARK = '<meta name="generator" content="toolorchestra report">'
"""By which a file is known as a report, which may be written over."""


def document(gathered: Gathered) -> str:
    """The whole file."""
    style = _static("page.css")
    script = "\n".join(_static(f"{name}.js") for name in SCRIPTS)
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(_static("page.html.jinja")).render(
        mark=MARK,
        title=gathered.title.encode("utf-8", "replace").decode("utf-8"),
        style=style,
        style_digest=_digest(style),
        script=script,
        script_digest=_digest(script),
        report=pack(json.dumps({"title": gathered.title, "runs": gathered.runs})),
        index=pack(json.dumps(gathered.index, separators=(",", ":"))),
        chunks=gathered.chunks,
    )


def _static(name: str) -> str:
    return (files(__package__) / "static" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
