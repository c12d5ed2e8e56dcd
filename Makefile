# `make demo` runs an ablation, finds a small set and audits one, `make test` the checks of every day, `make types` mypy, `make test-all` all, `make docs` builds build/site.  All create .venv if it is missing.
VENV   := .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
OUT    := out/demo

# Modules are compiled when they are first imported, a tenth of those that are installed, and kept, also where the environment says not to keep them.
PIP    := $(BIN)/python -m pip install --quiet --no-compile --editable
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo demo-families demo-minimal test types quick rest test-all coverage explore lowest speed docs ratings clean

# Two processes do the whole demo, each a part of it, since the workers of a short command cost as much as its work.
# What the second prints is kept until the first has ended, so that their bars do not mix.
demo: $(VENV)/.installed
	@$(MAKE) --no-print-directory --jobs 2 demo-families demo-minimal; made=$$?; cat $(OUT)/minimal.txt; exit $$made
	@echo "what each family of default is worth: $(OUT)/design.html"
	@echo "the smallest part of minimal:         $(OUT)/smallest/composition.html"
	@echo "the audit of minimal:                 $(OUT)/audit.html"
	@echo "with your chats: $(BIN)/hebbarium import EXPORT --to mine, then $(BIN)/hebbarium data ask mine; the ablation report has the rest"

demo-families: $(VENV)/.installed
	$(BIN)/hebbarium warm --jobs 1
	$(BIN)/hebbarium ablate --design default_families --yes --jobs 1 --out $(OUT)

demo-minimal: $(VENV)/.installed
	@mkdir -p $(OUT)
	$(BIN)/hebbarium audit --set minimal --jobs 1 --out $(OUT) > $(OUT)/minimal.txt 2>&1
	$(BIN)/hebbarium compose --set minimal --dataset demo --folds 3 --jobs 1 --out $(OUT)/smallest >> $(OUT)/minimal.txt 2>&1

# A process runs the tests of a part of the files, so that what they share is made once.
PYTEST := $(BIN)/pytest --numprocesses auto --dist worksteal
# Properties are tried on the same examples on every run, so that a change alone decides whether they pass.
SAME := --hypothesis-seed 0

test: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(MAKE) quick

quick: $(VENV)/.installed-dev
	$(PYTEST) -m "not slow" $(SAME)

# Strict types say nothing of what a memory does, and take more than a minute of CPU in a clone without mypy's cache.
types: $(VENV)/.installed-dev
	$(BIN)/mypy

# What `test` leaves out, and again what it tries on few examples or in plain Python.  mypy has one process, and runs beside the tests.
test-all: test
	$(MAKE) --jobs 2 types rest

rest: $(VENV)/.installed-dev
	$(PYTEST) -m "slow or hypothesis or kernels" --hypothesis-profile all $(SAME)

# Lines and branches that `test` runs, by file: out/coverage/index.html.  TIER= counts all tests.  Machine code of kernels is not seen, plain Python is.
TIER := not slow
coverage: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet 'pytest-cov>=5'
	mkdir -p out && COVERAGE_FILE=out/.coverage $(PYTEST) -m "$(TIER)" $(SAME) --cov engine --cov mechanisms --cov audit --cov benchmarks --cov-branch --cov-report term:skip-covered --cov-report html:out/coverage --cov-report json:out/coverage.json

# Properties on examples that no run has tried yet.
explore: $(VENV)/.installed-dev
	$(PYTEST) -m hypothesis --hypothesis-profile all

# A few tests with the lowest versions of dependencies, in an environment of their own: a minute and a half of CPU.
lowest: $(VENV)/.installed-dev
	$(BIN)/python docs/tools/lowest.py

speed: $(VENV)/.installed-dev
	$(BIN)/pytest benchmarks/speed --benchmark-only

docs: $(VENV)/.installed-docs
	$(BIN)/python docs/tools/build_site.py

ratings: $(VENV)/.installed-dev
	$(BIN)/python docs/tools/ratings_page.py
	$(BIN)/python docs/tools/readme_numbers.py
	$(BIN)/python docs/tools/website/notebooks.py docs/notebooks/4-audit-a-claim.ipynb

# To install all packages takes pip 23.2, which comes with Python 3.11, 104 s of processor time, and pip 26.3 takes 58 s.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP) '.[report]'
	@touch $@

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) '.[docs]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) '.[dev]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-docs

clean:
	rm -rf $(VENV) out build
