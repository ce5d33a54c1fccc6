# Everything here works on a machine that has Python 3.11+, pip and the package registries, and nothing else of ours.
# The first target you run makes .venv in this checkout; later ones reuse it until pyproject.toml or this file changes.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# What may be set on the command line or in the environment:
PYTHON    ?= python3# the interpreter that .venv is made from
TORCH     ?=# 1: have PyTorch in .venv, so that the tests that need it run
EXTRA_PIP ?=# more pip requirements for .venv
PYTEST    ?=# more pytest arguments, such as PYTEST="tests/layout -k divide"
WORKERS   ?= auto# pytest processes
FUZZ      ?= --count 100000# what the fuzzer is asked for
CI        ?=# true: whatever cannot be checked is a failure

TORCH_SPEC := torch==2.13.0
PYCUTE     := nvidia-cutlass==4.2.0.0# pycute; its dependencies are heavy and not needed

VENV := .venv
PY   := $(VENV)/bin/python
PIP  := PIP_DISABLE_PIP_VERSION_CHECK=1 $(PY) -m pip install --quiet --no-warn-conflicts

export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1# it asks the registry for a newer version otherwise

# Every core has a pytest process; a second thread of NumPy's or torch's waits for work in a loop on another's core.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

EXTRAS := $(strip $(if $(filter 1 true yes on,$(TORCH)),$(TORCH_SPEC)) $(EXTRA_PIP))

# ---------------------------------------------------------------------------------------------------------------------
# The environment. The stamp holds the path of the checkout: a .venv that was moved or copied here is made anew.

STAMP := $(VENV)/flydsl-ready
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(CURDIR))
$(STAMP): FORCE
endif

$(STAMP): pyproject.toml Makefile
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "flydsl needs Python 3.11 or newer, and '$(PYTHON)' is not: run make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@if [ -s $(STAMP) ] && [ "$$(cat $(STAMP))" != "$(CURDIR)" ] || ! $(PY) -c '' 2>/dev/null; then \
	  echo "making $(VENV) with $$("$(PYTHON)" --version)"; rm -rf $(VENV); \
	  "$(PYTHON)" -m venv $(VENV) >/dev/null 2>&1 || { \
	    rm -rf $(VENV); "$(PYTHON)" -m venv --without-pip $(VENV); \
	    "$(PYTHON)" -m pip --python $(PY) install --quiet pip; }; \
	fi
	@echo "installing flydsl and its development tools into $(VENV)"
	@$(PIP) --editable '.[dev]' --config-settings editable_mode=compat # a path, found quicker at every start than a hook
	@$(PIP) --no-deps '$(PYCUTE)'
	@command -v node >/dev/null || $(PIP) 'pyright[nodejs]'
	@printf '%s' '$(CURDIR)' > $(STAMP)

# Asked for with TORCH=1 or EXTRA_PIP=…; pip itself knows what is there already.
.PHONY: environment
environment: $(STAMP)
	@$(if $(EXTRAS),$(PIP) $(foreach spec,$(EXTRAS),'$(spec)'),:)

# ---------------------------------------------------------------------------------------------------------------------
# What to run

.PHONY: help
help: ## this list
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 14

.PHONY: demo
demo: environment ## run every example, up to the first that does not end with PASS
	@shopt -s nullglob; examples=(examples/*.py); log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	[ $${#examples[@]} -gt 0 ] || { echo "examples/ holds no example" >&2; exit 1; }; \
	for example in "$${examples[@]}"; do \
	  echo "== $$example"; \
	  $(PY) "$$example" </dev/null 2>&1 | tee "$$log" || { echo "$$example failed" >&2; exit 1; }; \
	  tail -n 1 "$$log" | grep -qw PASS || { echo "$$example did not end with PASS" >&2; exit 1; }; \
	done; \
	echo "== $${#examples[@]} examples, all PASS"

# Types are checked on one core, for a minute: beside the tests, and shown after them. pytest rewrites the asserts of tests
# so that failures show values, for seven seconds in each process: here only those that failed run so, once more.
.PHONY: test
test: style bytecode ## lint, and the whole test suite
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; wrong=; \
	$(MAKE) --no-print-directory types >"$$log" 2>&1 & types=$$!; \
	$(MAKE) --no-print-directory pytest HOW=--assert=plain || { wrong=1; \
	  $(MAKE) --no-print-directory pytest HOW="--last-failed --last-failed-no-failures none"; }; \
	wait $$types || wrong=1; cat "$$log"; [ -z "$$wrong" ]

.PHONY: pytest
pytest: bytecode ## the test suite alone, and its slowest tests; PYTEST="tests/layout -k divide" narrows it
	@$(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) --dist worksteal --durations 20 --durations-min 2 $(HOW) $(PYTEST)

.PHONY: emulated
emulated: bytecode ## kernel tests for AMD by machine code, interpreted; PYTEST="tests/kernels/test_rows.py -k gfx942" names some
	@$(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) --dist worksteal -p tests.emulator.calls $(or $(PYTEST),tests/kernels -k gfx)

.PHONY: fuzz
fuzz: environment ## random kernels for hours, on three virtual targets; FUZZ="--count 50000 --seed 1"
	@FLYDSL_RUNTIME_ENABLE_CACHE=0 $(PY) -m tests.fuzz.kernels $(FUZZ)

# Tests start two hundred processes. Where PYTHONDONTWRITEBYTECODE is set, each would read 400 files of Python anew, and
# every process of pytest all tests.
.PHONY: bytecode
bytecode: environment
	@$(PY) -m compileall -q -j 0 python/flydsl tests

.PHONY: thorough
thorough: bytecode ## the test suite with every case of its largest tables
	@FLYDSL_TEST_ALL=1 $(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) --dist worksteal $(PYTEST)

.PHONY: lint
lint: style types ## ruff, pyright and the import layers

.PHONY: style
style: environment
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -c 'from importlinter.cli import lint_imports_command as main; main()' --no-logo --no-cache

.PHONY: types
types: environment
	@if $(PY) -m pyright --version >/dev/null 2>&1; then $(PY) -m pyright; \
	elif [ "$(CI)" = true ]; then echo "pyright does not start, and CI needs it" >&2; $(PY) -m pyright --version; exit 1; \
	else echo "NOTICE: pyright does not start on this machine (it needs Node.js); types were not checked"; fi

.PHONY: format
format: environment ## let ruff rewrite the sources
	@$(PY) -m ruff check --fix
	@$(PY) -m ruff format

.PHONY: wheel
wheel: environment ## build the wheel, and import it in an empty environment beside the other package called kernels
	@rm -rf build/wheel build/empty
	@$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	@$(PY) -m venv --without-pip build/empty
	@$(PY) -m pip --python build/empty/bin/python install --quiet --disable-pip-version-check build/wheel/*.whl kernels
	@cd build/wheel && ../empty/bin/python -c 'import kernels, flydsl.kernels.norm.softmax as ours; \
	  assert "flydsl" in ours.__file__ and "flydsl" not in kernels.__file__, (ours, kernels)'
	@build/empty/bin/python examples/01-vectorAdd.py

.PHONY: bench
bench: environment ## run every benchmark; each prints a table
	@for benchmark in $$(grep -l '^Run it: ' benchmarks/*.py); do echo "== $$benchmark"; $(PY) "$$benchmark"; done

.PHONY: clean
clean: ## remove build products and caches; .venv stays
	@rm -rf build dist .pytest_cache .ruff_cache .hypothesis python/*.egg-info
	@find . -name __pycache__ -not -path './.*' -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## remove .venv as well
	@rm -rf $(VENV) .triton-venv

.PHONY: FORCE
FORCE:
