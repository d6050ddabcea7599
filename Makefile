# The front door. Every target installs what it needs, says what it does and is safe to repeat.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

# What Debian 12 has to provide. Compilers and headers are for the build alone.
APT := bird2 clang cmake curl ethtool iproute2 libbpf-dev libelf-dev llvm nftables \
	openvswitch-switch python3-venv zlib1g-dev

C := $(wildcard bpf/*.c bpf/*.h src/core/*.c src/core/*.h bench/*/*.c)
SOURCES := pyproject.toml CMakeLists.txt $(wildcard bpf/*.c bpf/*.h src/core/*.c src/core/*.h)

.DEFAULT_GOAL := help
.PHONY: help demo test lint format bench bench-exhaustive bench-split docs install wheel clean

help: ## what can be done here
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: install ## set up, then watch requests cross router, instances and backends (two minutes)
	@$(SUDO) $(BIN)/turnout demo

test: install ## set up, then run every test
	@$(SUDO) $(BIN)/python -m pytest $(PYTEST_ARGS)

lint: install ## layers, style, types, C
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/clang-format --dry-run --Werror $(C)
	@echo "lint: clean (the C was compiled with -Wall -Wextra -Werror by the build)"

format: install ## put Python and C into shape
	@$(BIN)/ruff check --fix-only -q .
	@$(BIN)/ruff format -q .
	@$(BIN)/clang-format -i $(C)

bench: install ## speed, as ratios to a reference in the same run
	@$(SUDO) $(BIN)/python -m bench

bench-exhaustive: install ## every split of up to 32 addresses, held to trying everything
	@$(BIN)/python -m bench.exhaustive

bench-split: install ## the papers' experiments on splits, tables and figures
	@$(BIN)/python -m bench.split

docs: install ## the manual, into docs/_build/html, and man pages, into docs/_build/man
	@$(BIN)/pip install -q --group docs
	@$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html
	@$(BIN)/python -m sphinx -W -q -b man docs docs/_build/man
	@echo "docs: docs/_build/html/index.html; man docs/_build/man/turnout.1, turnout.yaml.5"

install: $(VENV)/.installed ## packages and the build, into .venv

$(VENV)/.apt: Makefile
	@missing=$$(dpkg-query -W -f='$${db:Status-Status} $${Package}\n' $(APT) 2>&1 | awk '$$1 != "installed" {print $$NF}'); \
	if [ -n "$$missing" ]; then \
		echo "setup: installing Debian packages: $(APT)"; \
		$(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(APT) >/dev/null; \
	fi
	@mkdir -p $(VENV) && touch $@

$(VENV)/.venv: $(VENV)/.apt
	@echo "setup: Python environment in $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -q --upgrade 'pip>=25.1' 'scikit-build-core>=1.1' ninja
	@touch $@

$(VENV)/.installed: $(VENV)/.venv $(SOURCES)
	@echo "setup: building the C and installing Turnout"
	@$(BIN)/pip install -q --no-build-isolation -e '.[plot]' --group test --group lint
	@touch $@

wheel: install ## the package with everything compiled, into dist/
	@$(BIN)/pip wheel -q --no-deps --no-build-isolation -w dist .

clean: ## remove what was built
	rm -rf build dist docs/_build $(VENV)
