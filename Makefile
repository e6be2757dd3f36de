# Every job of the project, for people and for CI alike. `make` lists them.
# Needs: python3 (3.11 or later), make, git. Everything else is installed into .venv and build/.

.DEFAULT_GOAL := help
SHELL := /bin/sh
UV := build/uv/bin/uv
BIN := .venv/bin
SETUP := build/setup.stamp
SITE := build/setup-site.stamp
ALL := build/setup-all.stamp
NODE := build/node.stamp
ACTIONLINT := build/actionlint
ACT := build/act
STAND_INS := $(addprefix tests/workflow_runs/stand_ins/,apt-get checkout chown gh measured-machine sudo timeout uv)

# Tests start hundreds of Pythons, which without it would compile everything that they import each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help site serve test test-all strangers live-kernels workflows setup setup-site setup-all measure bench scale lint format clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

site: $(SITE) ## build the site into build/site
	$(BIN)/probe-effect build

serve: $(SITE) ## show the site on http://localhost:1313/, with live reload
	$(BIN)/probe-effect serve

# What tests use of Debian's packages, where it is missing and may be installed.
PACKAGES := chromium-headless-shell gcc libc6-dev bpftrace linux-perf strace trace-cmd systemtap-sdt-dev \
	clang libbpf-dev cpio gcc-aarch64-linux-gnu babeltrace2 liblttng-ust-dev lttng-tools systemtap uftrace \
	bpftool btop htop sqlite3 sysstat gdb ltrace valgrind

# Three workers on two CPUs: while one waits for a guest, a tracer or a page, the others work. Threads of numpy's in each
# would only wait for each other, busily.
RUN_TESTS := OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 3 --dist loadgroup --no-loadscope-reorder

test: $(ALL) $(NODE) ## what proves the project on this machine (9 minutes on two CPUs)
	@sh .ci/packages $(PACKAGES)
	$(UV) lock --check
	$(RUN_TESTS)

test-all: $(ALL) $(NODE) ## everything that CI checks: make test, what is deep, and strangers (40 minutes)
	@sh .ci/packages $(PACKAGES)
	$(UV) lock --check
	$(RUN_TESTS) --deep
	$(MAKE) --no-print-directory strangers

strangers: $(ALL) ## a fast part of the tests as others and elsewhere: not root, no network, another CPU (2 minutes)
	PYTHONPATH=tests $(BIN)/python -m strangers

KERNELS := bullseye bookworm trixie trixie-backports
ARCHES := amd64 arm64

live-kernels: $(ALL) ## the tests of our BPF code in emulated kernels (2 minutes each; or some: KERNELS=trixie ARCHES=arm64)
	PYTHONPATH=tests $(BIN)/python -m live_kernels $(foreach arch,$(ARCHES),$(addsuffix /$(arch),$(KERNELS)))

lint: $(ALL) $(ACTIONLINT) ## style, types, prose and workflows
	$(BIN)/ruff format --check generator tests site .ci
	$(BIN)/ruff check generator tests site .ci
	$(BIN)/mypy
	PYTHONPATH=tests $(BIN)/python -m helpers.unused
	PYTHONPATH=tests $(BIN)/python -m helpers.prose
	$(BIN)/zizmor --offline --quiet --strict-collection --persona auditor --config .github/zizmor.yml \
		.github .github/examples/*.yml
	PATH="$(CURDIR)/$(BIN):$$PATH" $(ACTIONLINT) .github/workflows/*.yml .github/examples/*.yml
	$(BIN)/zizmor --offline --quiet --strict-collection --persona auditor tests/workflow_runs/actions
	$(BIN)/shellcheck .ci/packages .ci/propose .ci/release-files .ci/run .ci/tracers data/suites/*/*.sh \
		tests/live_kernels/cc $(STAND_INS)

format: $(ALL) ## rewrite the code in the project's style
	$(BIN)/ruff format generator tests site .ci
	$(BIN)/ruff check --fix generator tests site .ci

workflows: $(ALL) $(ACT) ## run the workflows here, with a GitHub of our own (minutes; or some: make workflows CASES="sound bench")
	PYTHONPATH=tests $(BIN)/python -m workflow_runs $(CASES)

setup: $(SETUP) ## what measuring needs, in .venv

setup-site: $(SITE) ## what building the site needs

setup-all: $(ALL) ## everything, for tests and tools

measure: $(SETUP) ## measure this machine (as root)
	$(BIN)/probe-effect measure

bench: $(ALL) ## the truth of our intervals, and our method against hyperfine (as root, 15 minutes)
	PYTHONPATH=tests $(BIN)/python -m evidence.coverage
	PYTHONPATH=tests $(BIN)/python -m evidence.against_hyperfine

scale: $(ALL) ## what a site of 1 000 more submissions takes, into tests/evidence/RESULTS.md (hours; SCALE=--resume goes on)
	PYTHONPATH=tests $(BIN)/python -m evidence.scale $(SCALE)

clean: ## remove everything generated
	rm -rf build .venv tests/html/node_modules

# uv makes the environment from the lock; it comes from the Python package index with its hashes checked.
$(UV): .ci/uv.txt
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "python3 is older than 3.11. Install Python 3.11 or later."; exit 3; }
	@python3 -c 'import ensurepip, venv' 2>/dev/null || sh .ci/packages --required python3-venv
	rm -rf build/uv
	python3 -m venv build/uv
	build/uv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r .ci/uv.txt
	@touch $@

# Each has what the one before it has; what another installed stays (--inexact), so that none is installed twice.
$(SETUP): $(UV) pyproject.toml uv.lock
	$(UV) sync --frozen --inexact --no-dev
	@touch $@

$(SITE): $(UV) pyproject.toml uv.lock
	$(UV) sync --frozen --inexact --no-dev --extra site
	@touch $(SETUP) $@

$(ALL): $(UV) pyproject.toml uv.lock
	$(UV) sync --frozen --all-extras
	@touch $(SETUP) $(SITE) $@

# The HTML checker and the accessibility rules that tests use.
$(NODE): $(ALL) tests/html/package-lock.json
	cd tests/html && PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# actionlint and act come from their sources, with the hash of every module in go.sum; the Go that builds them comes
# from the lock. What is run for seconds need not be optimised, which takes the compiler longer than to do without.
GO_BUILD = CGO_ENABLED=0 GOTOOLCHAIN=local "$(CURDIR)/$(UV)" run --project "$(CURDIR)" --quiet --frozen --isolated \
	--only-group go go build -mod=readonly -trimpath -gcflags="all=-N -l -dwarf=false" -ldflags="-s -w" \
	-o "$(CURDIR)/build/"

$(ACTIONLINT): $(UV) .ci/actionlint/go.mod .ci/actionlint/go.sum
	cd .ci/actionlint && $(GO_BUILD) github.com/rhysd/actionlint/cmd/actionlint

# With it gojq, which is what `gh --jq` has inside. Workflows run on this machine: act needs no client of Docker.
$(ACT): $(UV) .ci/act/go.mod .ci/act/go.sum
	cd .ci/act && $(GO_BUILD) -tags WITHOUT_DOCKER github.com/itchyny/gojq/cmd/gojq github.com/nektos/act
