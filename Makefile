# Everything runs from a virtual environment in .venv that make sets up by itself.
# Choose another interpreter with `make PYTHON=python3.12 …`, more test processes with `WORKERS=4`,
# and pass options on to pytest with `ARGS='-k disk'`.

PYTHON ?= python3
WORKERS ?= 2
ARGS ?=

BIN := .venv/bin
# Constraints reach pip as variables, so that they also pin the isolated build environment.
# -qq keeps errors and drops the rest.
PIP_INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -qq
# Each test process keeps to one thread: processes, not threads, share out the cores.
ONE_THREAD = OPENBLAS_NUM_THREADS=$${OPENBLAS_NUM_THREADS:-1} OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} \
	XLA_FLAGS="$${XLA_FLAGS:---xla_cpu_multi_thread_eigen=false}"
PYTEST = $(ONE_THREAD) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
PYRIGHT = PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --pythonpath $(BIN)/python

.PHONY: help demo test test-long bench docs lint format clean
.NOTPARALLEL:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

demo: .venv/ready-to-run ## solve heat-mixed (minutes); the report is runs/demo/report.html
	@rm -rf runs/demo
	$(BIN)/tengbc run heat-mixed --out runs/demo

test: .venv/ready-to-develop ## run the tests (under 15 minutes on two cores)
	$(PYTEST) $(ARGS)

test-long: .venv/ready-to-develop ## run all tests, the long ones too (hours)
	$(PYTEST) --long --timeout 7200 $(ARGS)

bench: .venv/ready-to-develop ## measure the performance claims
	$(BIN)/python -m benchmarks $(ARGS)

docs: .venv/ready-to-document ## build the documentation, warnings being errors; docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

lint: .venv/ready-to-develop ## check style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(PYRIGHT)
	$(BIN)/lint-imports --no-cache --no-logo

format: .venv/ready-to-develop ## repair imports and layout
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean: ## remove .venv, caches and build products; runs/ and results/ stay
	rm -rf .venv build dist docs/_build .pytest_cache .ruff_cache .hypothesis
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The environment, in three stamps: the interpreter, what a run needs, what development needs.
.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "tengbc needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>/dev/null \
		|| echo missing); install one and name it, for example: make PYTHON=python3.12 demo" >&2; exit 1; }
	@echo "Creating .venv with $$($(PYTHON) --version)."
	@# Some systems ship Python without ensurepip: then their own pip puts pip into .venv.
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || { $(PYTHON) -m venv --without-pip .venv && \
		$(PYTHON) -m pip --python $(BIN)/python install -qq pip; } || { \
		echo "No virtual environment could be made with '$(PYTHON)': it has neither ensurepip nor pip;" \
		"install one of them (on Debian: python3-venv)." >&2; exit 1; }
	@touch $@

.venv/ready-to-run: .venv/created pyproject.toml constraints.txt
	@echo "Installing tengbc and its pinned packages into .venv (once; 0.8 GB, usually a minute or two) …"
	@$(PIP_INSTALL) -e '.[plot]'
	@touch $@

.venv/ready-to-develop: .venv/created pyproject.toml constraints.txt
	@echo "Installing tengbc, its pinned packages and tools into .venv (once; 1.1 GB, usually a minute or two) …"
	@$(PIP_INSTALL) -e '.[dev]'
	@touch $@ .venv/ready-to-run

.venv/ready-to-document: .venv/created pyproject.toml constraints.txt
	@echo "Installing tengbc and what its documentation needs into .venv (once) …"
	@$(PIP_INSTALL) -e '.[docs]'
	@touch $@
