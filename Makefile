# Everything runs in an environment of its own, made on first use: only Python (3.10 or newer) and make are needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Bytecode is written for what is used, when it is: most of what is installed is never loaded. It is written also where
# PYTHONDONTWRITEBYTECODE is set, or every process of the tests would translate everything anew.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := $(BIN)/python -m pip install --quiet --no-compile
READY := $(VENV)/.ready

.PHONY: help report test lint pytest format clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

report: $(READY) ## run the main job: out/report.html and out/explorer.html on the built-in graph
	$(BIN)/python -m analysis.report

# both at once: one fails, all fails
test: $(READY) ## ruff, mypy, the tests and the doctests
	@$(MAKE) --no-print-directory -j2 lint pytest

pytest: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## let ruff rewrite the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) 'pip>=24'
	$(PIP_INSTALL) --constraint constraints.txt --editable '.[dev]'
	touch $@

clean: ## remove the environment, the caches and the report
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis
