# Everything runs in .venv, which is made on first use and renewed when pyproject.toml changes.
.DEFAULT_GOAL := help
PYTHON := .venv/bin/python
.PHONY: help setup demo check test test-all native ecosystem jax jax-oldest fuzz lint bench clean

help:       ## show this list
	@sed -n 's/^\([a-z-]*\):.*## */\1: /p' Makefile

setup:      ## make .venv, or bring it up to date
	@.ci/venv .venv dev,native,examples

demo: setup ## stage and convert real code, run it on real data, and check the answers
	$(PYTHON) examples/demo.py

QUICK := tests/syntax tests/converters tests/operators tests/dispatch tests/test_layers.py tests/test_docs.py \
	tests/test_limits.py tests/test_corpus.py tests/test_staged_corpus.py
check: setup ## a part of the tests, for while one works (about a minute on 2 cores)
	$(PYTHON) -m pytest -q -n auto --dist worksteal $(QUICK) \
		-k "not test_staged_corpus or test_staged[loops or test_staged[branches or test_staged[mutation."

test: setup ## all tests that take seconds each (about 15 minutes on 2 cores)
	@echo "This takes about 15 minutes on 2 cores; 'make check' runs a part of it in about one."
	@begin=$$(date +%s); $(PYTHON) -m pytest -q -n auto --dist worksteal --ignore tests/ecosystem; status=$$?; \
	echo "make test took $$(( ($$(date +%s) - begin) / 60 )) minutes"; exit $$status

test-all: setup ## every test and sweep, with more generated programs, under every Python found (takes long)
	@status=0; export AUTOGRAPH_FUZZ=400; \
	.ci/each-python -m pytest -q -n auto --dist worksteal -m "" --ignore tests/ecosystem || status=1; \
	unset AUTOGRAPH_FUZZ; \
	$(MAKE) --no-print-directory ecosystem || status=1; \
	$(MAKE) --no-print-directory jax WITH_JAX="$(WITH_JAX) $(wildcard tests/runtime/autodiff/test_*_jax.py)" || status=1; \
	$(MAKE) --no-print-directory jax-oldest || status=1; \
	for sweep in tests/sweeps/*.py; do \
	    if [ -e "$$sweep" ]; then .ci/each-python "$$sweep" || status=1; fi; \
	done; \
	$(MAKE) --no-print-directory native || status=1; exit $$status

STAGED := tests/laws tests/test_staged_corpus.py tests/test_staged_fuzz.py tests/test_gradient_fuzz.py \
	tests/runtime/autodiff/test_*gradients*.py tests/runtime/dispatch/test_staged_function.py
native: setup ## the corpus, laws, drawn programs and gradients with machine code: always, where it pays, and in tiers
	@status=0; \
	for engine in native auto; do \
	    AUTOGRAPH_ENGINE=$$engine $(PYTHON) -m pytest -q -n auto --dist worksteal -m "" $(STAGED) || status=1; \
	done; \
	AUTOGRAPH_ENGINE=auto AUTOGRAPH_TIERS= $(PYTHON) -m pytest -q -n auto --dist worksteal -m "" \
	    $(filter-out tests/runtime/dispatch/%,$(STAGED)) || status=1; exit $$status

ecosystem:  ## pandas, scikit-learn, joblib and so on with staged functions, in an environment of its own
	@.ci/venv .venvs/ecosystem dev,native,ecosystem
	@status=0; \
	for tiers in off "" random:1; do \
	    if [ "$$tiers" = off ]; then unset AUTOGRAPH_ENGINE; else export AUTOGRAPH_ENGINE=auto; fi; \
	    AUTOGRAPH_ECOSYSTEM=1 AUTOGRAPH_TIERS=$$tiers \
	        .venvs/ecosystem/bin/python -m pytest -q -n auto --dist worksteal tests/ecosystem || status=1; \
	done; exit $$status

WITH_JAX := tests/backends tests/test_docstrings.py tests/test_docs.py
jax:        ## tests of backends with JAX, in an environment of its own, with the newest Python: it has the newest JAX
	@.ci/venv .venvs/jax dev,native,examples,jax "$$(.ci/python --newest)"
	.venvs/jax/bin/python -m pytest -q -n auto --dist worksteal $(WITH_JAX)

jax-oldest: ## the same with the oldest JAX that is supported
	@.ci/venv .venvs/jax-oldest dev,native,examples,jax "$$(.ci/python 3.11)"
	@.venvs/jax-oldest/bin/python -m pip install --quiet 'jax==0.10.0'
	.venvs/jax-oldest/bin/python -m pytest -q -n auto --dist worksteal $(WITH_JAX)

FUZZ ?= 10000
GUARDS := $(firstword $(wildcard /lib/*/libc_malloc_debug.so.0 /usr/lib/*/libc_malloc_debug.so.0 /lib64/libc_malloc_debug.so.0))
fuzz: setup ## run 10,000 drawn programs plain, staged and as machine code, and compare (or FUZZ=N programs)
	AUTOGRAPH_FUZZ=$(FUZZ) $(PYTHON) -m pytest -q -s -o faulthandler_timeout=0 \
		tests/test_staged_fuzz.py tests/test_gradient_fuzz.py tests/test_sequence_fuzz.py tests/test_tier_fuzz.py \
		tests/saving/test_hostile.py
	# The C library and Python look at what stands around each of their blocks.
	LD_PRELOAD=$(GUARDS) MALLOC_CHECK_=3 PYTHONMALLOC=debug AUTOGRAPH_FUZZ=$(FUZZ) $(PYTHON) -m pytest -q -s \
		-o faulthandler_timeout=0 tests/test_native_fuzz.py tests/test_everyday_fuzz.py

lint: setup ## ruff, and mypy --strict
	$(PYTHON) -m ruff check autograph tests benchmarks examples docs
	$(PYTHON) -m mypy

bench: setup ## how fast converting, staging and running are, beside plain Python and others
	@.ci/venv .venv dev,native,examples,bench || echo "Going on without what is to be compared against."
	$(PYTHON) benchmarks/run.py

clean:      ## remove the virtual environments and caches
	rm -rf .venv .venvs build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
