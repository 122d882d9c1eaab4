# `make verify` and `make test` do all their own set-up: a virtual environment, the install, the run.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: verify test bench lint wheel install clean

verify: install
	$(BIN)/dpassay verify

test: install
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests

bench: install
	$(BIN)/python -m benchmarks

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p dpassay.reference -p dpassay.attacks -p dpassay.verifiers

# The requirements once, whenever pyproject.toml changes; the package itself every time, as a copy:
# what runs is what a user installs, and a file missing from the package list is missed here too.
install: $(VENV)/.requirements
	@rm -rf build
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall .

$(VENV)/.requirements: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "setuptools>=77" wheel build
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ".[all]"
	@touch $@

wheel: $(VENV)/.requirements
	@rm -rf build dist
	$(BIN)/python -m build --quiet --wheel --no-isolation

clean:
	rm -rf $(VENV) build dist *.egg-info
