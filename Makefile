# Set-up, demo and tests.  Needs Python 3 with venv and headers, a C++ compiler
# and make; everything else comes from PyPI into .venv.
#
#   make demo         identify a simulated robot through live ROS 2 nodes
#   make test         linters, types, architecture, pages, tests
#   make benchmark    the goals beside their peers, about ten minutes
#   make mutants      small faults of the modules on which safety depends: which do tests find?  hours
#   make schema       the parts of config/schema that tables say, after a table has changed
#   make docs         the pages of docs/ as HTML, in docs/build
#   make PYTHON=...   with another Python (3.10 to 3.13); "make clean" first
#
# Where a ROS 2 is sourced that $(PYTHON) can import, that one is used;
# otherwise the wheels of ROS 2 that pyproject.toml and setup.py pin.

# Tests of nodes mostly wait for a robot that moves.
WORKERS ?= $(shell echo $$(($$(nproc) * 2)))

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# "yes" where a ROS 2 is sourced.  One that came as wheels is no such thing: it
# belongs to the virtual environment that holds it.
ROS_IS_SOURCED := import rclpy, importlib.metadata as m; \
  print("" if any(m.distributions(name="ros-rclpy")) else "yes")
SOURCED_ROS := $(if $(AMENT_PREFIX_PATH),$(shell $(PYTHON) -c '$(ROS_IS_SOURCED)' 2>/dev/null))

# What pip has to build with, from pyproject.toml; Python 3.10 has no tomllib.
BUILD_REQUIREMENTS := import sys; \
  from importlib import import_module as load; \
  toml = load("tomllib" if sys.version_info >= (3, 11) else "pip._vendor.tomli"); \
  print("\n".join(toml.load(open("pyproject.toml", "rb"))["build-system"]["requires"]))

# What the package and its tests need, from setup.py.
DEPENDENCIES := import setuptools; from distutils.core import run_setup; \
  package = run_setup("setup.py", stop_after="init"); \
  print(*package.install_requires, *package.extras_require["test"], sep="\n")

ifeq ($(SOURCED_ROS),yes)
export ROBOT_IDENTIFICATION_ROS := sourced
VENV_OPTIONS := --system-site-packages
# Compiled parts of the sourced ROS need the NumPy that they were built with.
PINS := "numpy==$$($(PYTHON) -c 'import numpy; print(numpy.__version__)')"
REQUIREMENTS_FILTER := grep -v '^ros-'
# As sourcing .venv/share/robot_identification/local_setup.bash would.
export AMENT_PREFIX_PATH := $(CURDIR)/$(VENV):$(AMENT_PREFIX_PATH)
export LD_LIBRARY_PATH := $(CURDIR)/$(VENV)/lib:$(LD_LIBRARY_PATH)
else
REQUIREMENTS_FILTER := cat
endif

PYTEST_OPTIONS ?=
BENCHMARK_OPTIONS ?=
MUTANT_OPTIONS ?= --sample 40

.PHONY: all venv package dependencies demo test compiled collected schema docs lint format \
  benchmark mutants soak clean
all: venv

# Two steps, so that a change of an interface costs seconds: the second builds
# with what the first installed.
venv: $(VENV)/built

# Unchanged requirements keep their date, so that other changes of pyproject.toml cost nothing.
$(VENV)/requirements.txt: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV_OPTIONS) $(VENV)
	@$(BIN)/python -c '$(BUILD_REQUIREMENTS)' | $(REQUIREMENTS_FILTER) >$@.new
	@cmp -s $@.new $@ || { \
	  echo 'Setting up $(VENV): $(PYTHON), ROS 2 $(if $(SOURCED_ROS),as sourced,from PyPI) ...' && \
	  $(PIP) install --quiet --requirement $@.new $(PINS) && mv $@.new $@; }

$(VENV)/built: $(VENV)/requirements.txt setup.py package.xml CMakeLists.txt \
    $(wildcard cmake/*) msg srv action \
    $(wildcard msg/*.msg srv/*.srv action/*.action)
	@echo 'Building the interfaces and installing the package ...'
	@$(MAKE) --no-print-directory --jobs=2 package dependencies
	@touch $@

# Side by side: both take a minute or two of one processor.
package:
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .

dependencies:
	@$(BIN)/python -c '$(DEPENDENCIES)' >$(VENV)/dependencies.txt
	@$(PIP) install --quiet --requirement $(VENV)/dependencies.txt $(PINS)

demo: venv
	$(BIN)/robot-identification demo

# The memory of large arrays stays with a process: given back, it would be cleared for each of them.
KEEP_MEMORY := MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=536870912 MALLOC_TOP_PAD_=16777216
PYTEST := PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest

# Side by side: each takes one processor.
test: venv
	@$(MAKE) --no-print-directory --jobs=2 lint compiled collected docs
	$(KEEP_MEMORY) $(PYTEST) --numprocesses $(WORKERS) --dist loadfile $(PYTEST_OPTIONS)

# pytest rewrites what tests assert and keeps that as byte code, which every worker would do anew.
collected: venv
	@$(PYTEST) --collect-only -qq >$(VENV)/collected.txt || { cat $(VENV)/collected.txt; exit 1; }

# Otherwise every process of the tests would compile the same, where Python keeps no byte code.
compiled: venv
	$(BIN)/python -m compileall -q robot_identification
	$(BIN)/robot-identification compile

lint: venv
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

schema: venv
	$(BIN)/python test/schema_tables.py

docs: venv
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/build
	@echo "docs/build/index.html"

format: venv
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# The goals beside their peers, in one run; the other studies are listed in benchmarks/README.md.
benchmark: $(VENV)/benchmark
	$(BIN)/python benchmarks/run_goals.py $(BENCHMARK_OPTIONS)

$(VENV)/benchmark: $(VENV)/built
	@$(PIP) install --quiet 'robot_identification[benchmark]' $(PINS)
	@touch $@

# The whole of it with MUTANT_OPTIONS=; benchmarks/README.md tells the others.
mutants: $(VENV)/mutants compiled
	$(BIN)/python benchmarks/mutants.py $(MUTANT_OPTIONS)

$(VENV)/mutants: $(VENV)/built
	@$(PIP) install --quiet 'robot_identification[mutants]' $(PINS)
	@touch $@

soak: venv
	$(BIN)/python benchmarks/soak.py --output soak.json

clean:
	rm -rf $(VENV) build install log *.egg-info
