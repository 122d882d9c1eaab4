# `make verify` and `make test` do all their own set-up: a virtual environment, the install, the run.
VENV ?= .venv
PYTHON ?= python3
WORKERS ?= 2
QUICK := -m "not slow" --hypothesis-profile=quick
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# compiled tests are kept, which the processes that they start read too
export PYTHONDONTWRITEBYTECODE =

.PHONY: verify test test-all coverage bench lint docs wheel clean runtime develop

verify: runtime
	$(BIN)/dpassay verify

# what is marked slow is left to test-all, and said at the end; so are two in three of the examples
# that Hypothesis tries
test: develop
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -rs $(QUICK) tests

test-all: develop
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -rs tests

# all of it, and how much of the code it runs, against the floor in pyproject.toml
coverage: develop
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -rs --cov --cov-report=term:skip-covered tests

bench: develop
	$(BIN)/python -m benchmarks

lint: develop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p dpassay.reference -p dpassay.attacks -p dpassay.verifiers
	$(BIN)/mypy -p benchmarks
	$(BIN)/mypy conftest.py
	cd tests && $(abspath $(BIN))/mypy .

# the pages as a site, in build/site; a dead link or an undocumented public name ends it
docs: runtime $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/site

wheel: $(VENV)/.develop
	@rm -rf build dist
	$(BIN)/python -m build --wheel --no-isolation --quiet

# Requirements are installed when pyproject.toml changes, the package itself every time, as a copy:
# what runs is what a user installs, so a file missing from the package list is missed here too.
runtime: $(VENV)/.runtime
	@rm -rf build && $(PIP) install --no-deps --no-build-isolation --force-reinstall .

develop: $(VENV)/.develop
	@rm -rf build && $(PIP) install --no-deps --no-build-isolation --force-reinstall .

$(VENV)/.runtime: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install "setuptools>=77" .
	@touch $@

$(VENV)/.develop: $(VENV)/.runtime
	$(PIP) install build ".[all]"
	@touch $@

$(VENV)/.docs: $(VENV)/.runtime
	$(PIP) install ".[docs]"
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
