"""A folder of experiments, by hand."""

from __future__ import annotations

from pathlib import Path

YAML = """
title: Table 9
claim: It is better.
paper: paper.csv
real:
  commands: [python evaluate.py experiment=table9]
  columns: [{name: HLE, measure: accuracy, worlds: [hle]}]
  rows: {"Basic tools / Big": {model: big}}
local:
  note: A note.
  runs:
    first: {command: train, words: [seed=1], minutes: 4}
    second: {command: evaluate, words: ["model.path={first}/model"], minutes: 1}
  columns:
    - {name: "solved, %", measure: accuracy}
    - {name: gain, measure: gain, digits: 3}
  rows:
    - {label: start, run: first, policy: start}
    - {label: trained, run: second, policy: policy, reference: first}
"""

PAPER = """group,row,column,value,source
No tool,Small,HLE,–∗,"Table 9, row Small"
Basic tools,Big,HLE,35.1,"Table 9, row Big"
Basic tools,Big,Cost,30.2,"Table 9, row Big"
"""


def write_experiment(folder: Path, text: str = YAML, paper: str = PAPER) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "experiment.yaml").write_text(text, encoding="utf-8")
    (folder / "paper.csv").write_text(paper, encoding="utf-8")
    return folder
