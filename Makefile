# Everything runs in an environment of its own, made on first use: only Python (3.10 or newer) and make are needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Bytecode is written for what is used, when it is: most of what is installed is never loaded. It is written also where
# PYTHONDONTWRITEBYTECODE is set, or every process of the tests would translate everything anew.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := $(BIN)/python -m pip install --quiet --no-compile
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.ready-docs
CORE := .venv-core
OLDEST := .venv-oldest
CORE_TOOLS := pytest pytest-xdist hypothesis mpmath
# the core alone: not what needs torch, or Dask, METIS and pyarrow
CORE_TESTS := $(addprefix --ignore=tests/,nn analysis distributed cli/test_filter_cluster.py)
CORE_TESTS += $(addprefix --ignore=cayleygsp/,nn distributed)
# doctests print as the current versions of numpy do; networkx 3.2 warns where there is no pandas
OLDEST_TESTS := -o addopts="--strict-markers --import-mode=importlib" -W ignore::ImportWarning tests

.PHONY: help report docs dist test adversary test-core test-oldest lint pytest format clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

report: $(READY) ## run the main job: out/report.html and out/explorer.html on the built-in graph
	$(BIN)/python -m analysis.report

docs: $(DOCS_READY) ## the site, out/docs/index.html: every example runs, a warning is an error
	$(BIN)/python -m sphinx -b html -j auto -W --keep-going -n -q docs out/docs
	$(BIN)/python docs/check_links.py out/docs

dist: $(READY) ## wheel and sdist of the last commit in out/dist; ADDRESS=https://... is where the README's links lead
	$(PIP_INSTALL) build twine
	rm -rf out/dist out/tree
	mkdir -p out/tree
	git archive HEAD | tar -x -C out/tree
	$(if $(ADDRESS),$(BIN)/python docs/absolute_links.py out/tree/README.md $(ADDRESS))
	$(BIN)/python -m build --outdir out/dist out/tree
	$(BIN)/python -m twine check --strict out/dist/*

# both at once: one fails, all fails
test: $(READY) ## ruff, mypy, the tests and the doctests
	@$(MAKE) --no-print-directory -j2 lint pytest

pytest: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

adversary: $(READY) ## judge what is claimed on N=1000 random hostile cases, in 60 digits
	$(BIN)/python -m tests.adversary $(or $(N),1000)

# nothing is compiled: where a version has no wheel for this Python, pip says so at once
test-core: ## the tests and doctests of the core without torch, on any Python: PYTHON=python3.13
	$(PYTHON) -m venv --clear $(CORE)
	$(CORE)/bin/python -m pip install --quiet --upgrade 'pip>=24'
	$(CORE)/bin/python -m pip install --quiet --only-binary :all: --constraint constraints.txt --editable . $(CORE_TOOLS)
	$(CORE)/bin/python -m pytest -n auto --dist worksteal $(CORE_TESTS) $(PYTEST_ARGS)

test-oldest: ## the same tests with the oldest versions that are supported, on Python 3.12 or older
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade 'pip>=24'
	$(OLDEST)/bin/python -m pip install --quiet --only-binary :all: --constraint constraints-oldest.txt --editable . $(CORE_TOOLS)
	$(OLDEST)/bin/python -m pytest -n auto --dist worksteal $(OLDEST_TESTS) $(CORE_TESTS) $(PYTEST_ARGS)

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

# what only the site needs, on top of the environment of the tests
$(DOCS_READY): $(READY)
	$(PIP_INSTALL) --constraint constraints.txt --editable '.[dev,docs]'
	touch $@

clean: ## remove the environments, the caches, the report and the site
	rm -rf $(VENV) $(CORE) $(OLDEST) out .pytest_cache .mypy_cache .ruff_cache .hypothesis
