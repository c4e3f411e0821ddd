# `make help` lists what there is. Nothing is needed but Python 3.11 or newer and PyPI.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.set-up
UV_VERSION := 0.13.9

PAGES = README.md $(wildcard docs/*.md docs/*/*.md docs/*/*/*.md)
COG := $(BIN)/cog -U -n utf-8 -I docs -p "import _generate as page" --verbosity=1
EXACT := src/counterfoil/core/*,src/counterfoil/wire/*,src/counterfoil/engine/*
MEASURED := tests/core tests/wire tests/engine tests/laws tests/conformance tests/adapters
SOAK_SECONDS ?= 600
SOAK_KILLS ?= 5000

PAGE_CODE := docs/_generate.py docs/_stores.py docs/_chat.py

export UV_PROJECT_ENVIRONMENT := $(VENV)

.DEFAULT_GOAL := help
.PHONY: help demo test soak bench docs clean
.SILENT:

help: ## list the targets
	grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 8

demo: $(READY) ## check the bundled examples and play the agent; each holds something to find
	echo '== A session of Claude Code: the reply names a line that the file does not have =='
	$(call must_find,examples/claude-session.jsonl)
	echo
	echo '== A thread of our own: the reply cites entries that the thread does not have =='
	$(call must_find,examples/thread.jsonl)
	echo
	echo '== A conversation with an agent: the last reply reports steps that were never done =='
	$(BIN)/counterfoil demo; code=$$?; echo "exit code $$code"; test $$code -eq 1
	echo
	echo '== The same over MCP: what a harness gets for the last prompt =='
	$(BIN)/counterfoil demo --respond; code=$$?; echo "exit code $$code"; test $$code -eq 1

# An example that is checked has to end with 1, no more and no less.
must_find = $(BIN)/counterfoil check $(1); code=$$?; echo "exit code $$code"; \
	test $$code -eq 1 || { echo "$(1): expected exit code 1" >&2; exit 1; }

test: $(READY) ## everything that a change has to pass
	echo '== format' && $(BIN)/ruff format --check . $(PAGE_CODE)
	echo '== lint' && $(BIN)/ruff check . $(PAGE_CODE)
	echo '== import contracts' && $(BIN)/lint-imports --no-logo
	echo '== types (mypy)' && $(BIN)/mypy src tests bench $(PAGE_CODE)
	echo '== types (basedpyright)' && $(BIN)/basedpyright
	echo '== generated pages' && $(COG) --check --diff --check-fail-msg='`make docs` writes them' $(PAGES)
	echo '== tests'
	$(BIN)/coverage erase
	HYPOTHESIS_PROFILE=ci $(BIN)/coverage run -m pytest -q -n 2 $(MEASURED)
	echo '== branches: every one of core, wire and engine'
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --fail-under=100 --include='$(EXACT)'
	echo '== tests of what people and programs meet'
	HYPOTHESIS_PROFILE=ci $(BIN)/pytest -q -n 2 $(patsubst %,--ignore=%,$(MEASURED))

soak: $(READY) ## each fuzz target for SOAK_SECONDS=600; SOAK_KILLS=5000 kills; 2,500 turns
	echo '== fuzz/kills.py' && $(BIN)/python fuzz/kills.py $(SOAK_KILLS)
	echo '== laws' && HYPOTHESIS_PROFILE=soak $(BIN)/pytest -q -n 2 tests/laws
	echo '== bench/turns.py: 2,500 turns' && $(BIN)/python bench/turns.py
	$(BIN)/uv sync --quiet --locked --inexact --group fuzz
	mkdir -p .fuzz
	for target in claude_code codex counterfoil_events references; do \
		echo "== fuzz/$$target.py"; \
		$(BIN)/python fuzz/$$target.py -max_total_time=$(SOAK_SECONDS) -artifact_prefix=.fuzz/ || exit 1; \
	done

bench: $(READY) ## the figures of the README, on this machine
	$(BIN)/python bench/start.py
	$(BIN)/python bench/references.py
	$(BIN)/python bench/read.py --format claude_code
	$(BIN)/python bench/read.py --format codex
	$(BIN)/python bench/pages.py
	$(BIN)/python bench/knowledge.py
	$(BIN)/python bench/search.py
	$(BIN)/python bench/turns.py
	$(BIN)/python bench/turn_pages.py
	$(BIN)/python bench/mcp_server.py

docs: $(READY) ## write what the pages generate from the code
	$(COG) -r $(PAGES)

clean: ## remove the environment and everything that tools left behind
	rm -rf $(VENV) .coverage .coverage.* .hypothesis .mypy_cache .ruff_cache .pytest_cache \
		.import_linter_cache .fuzz build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml uv.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'error: $(PYTHON) is missing or older than 3.11; name another: make PYTHON=python3.12' >&2; exit 1; }
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo 'error: $(PYTHON) cannot make virtual environments; on Debian: apt-get install python3-venv' >&2; exit 1; }
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	test -x $(BIN)/uv || $(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(BIN)/uv sync --quiet --locked
	touch $@
