# The only commands a newcomer needs: run, test, build, lint, bench, docs, clean.
.DEFAULT_GOAL := help
.PHONY: FORCE help build downloads dev run test costs core-test fuzz translation pytest golden mutations mutate-change lint tidy format bench coverage matrix torture variants docs gallery cases runtimes-doc servers-doc site dist lock clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# `make run PICTURES=no` spares 34 MB: pages then have no charts.
PICTURES ?= yes
# What the installed command is made of besides Python, which an editable install reads in place.
CORE_SOURCES := $(shell find core drivers src/clonometer/studies/demos CMakeLists.txt pyproject.toml -type f 2>/dev/null)
BUILD_ENV := CMAKE_GENERATOR=Ninja PATH="$(abspath $(BIN)):$$PATH"

help:
	@echo 'make run     set everything up, measure this machine, print the answer, write the run file and the report'
	@echo '             (PLAN=runtimes measures what each language pays; clonometer list names the plans)'
	@echo 'make test    set up, run some tests of each behaviour and all of what changed since main, in four minutes'
	@echo '             (ALL=yes runs all, as CI does, with 310 MB of packages)'
	@echo 'make build   only set up; afterwards $(BIN)/clonometer is the command'
	@echo 'make lint    every check that needs no run (clang-tidy: what changed; make tidy: all)'
	@echo 'make bench   what the instrument must reach, measured side by side (BENCH=name for one)'
	@echo 'make coverage  how often the intervals contain the truth, simulated'
	@echo 'make matrix  every mechanism and every value of each axis once: ok, unavailable or failed'
	@echo '             (MATRIX_ARGS=--huge-pages reserves some while it lasts)'
	@echo 'make torture signals, limits, refused calls, damaged files, programs under a census, at random; what held'
	@echo '             (TORTURE_ARGS="--seconds 600 --only signals")'
	@echo 'make fuzz    what the C code makes of the words of strangers, searched at random (FUZZ_SECONDS=600)'
	@echo 'make variants  tests on other machines made of this one: poorer, ordinary (VARIANT=name for one)'
	@echo 'make docs    write docs/cli.md, docs/api.md, docs/launch-paths.md, docs/schemas, docs/fork-example.html and what'
	@echo '             src/clonometer/__init__.py offers anew, from their sources'
	@echo 'make golden  write anew what tests compare: what drivers describe (tests/data/describe.json), and what users'
	@echo '             see of fixed inputs (tests/snapshots): read the diff'
	@echo 'make gallery  measure and draw docs/gallery.md and the pictures of README.md anew, in some six minutes'
	@echo 'make cases    measure ten real programs before and after a mend, and write docs/cases anew, in some 12 minutes'
	@echo '              (CASES=name for one; those whose program is not installed are skipped)'
	@echo 'make runtimes-doc  measure what a command costs seven languages by their heaps, and write docs/runtimes.md anew,'
	@echo '              in about fifteen minutes (RUNTIMES=name for one)'
	@echo 'make servers-doc  measure servers of other people as processes, threads and pools, and write docs/servers.md anew,'
	@echo '              in about twenty minutes (SERVERS=name for one; those that are not installed are skipped)'
	@echo 'make site    the documentation as pages, in build/site/index.html'
	@echo 'make mutations  break the program in 80 places in turn, in a copy: the tests must notice each (MUTANT=name for one)'
	@echo 'make mutate-change  break the lines of the package that differ from BASE=origin/main: what does no test notice?'
	@echo 'make dist    a wheel for machines without a compiler, and the archive of sources'
	@echo 'make clean   remove everything that was built'

$(VENV)/.created:
	@PYTHON="$(PYTHON)" sh tools/prerequisites.sh
	@echo 'Setting up $(VENV) with $(PYTHON).'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.created requirements/run.txt requirements/pictures.txt requirements/build.txt requirements/cmake.txt
	@PICTURES="$(PICTURES)" sh tools/set_up.sh $(BIN)
	@touch $@

$(VENV)/.test: $(VENV)/.run requirements/test.txt
	@echo 'Downloading the packages for tests of requirements/test.txt: about 60 MB more (once).'
	@sh tools/install.sh $(BIN) requirements/test.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt requirements/fleet.txt requirements/stand-ins.txt
	@echo 'Downloading the packages for tests and checks of requirements/dev.txt: about 310 MB more (once).'
	@sh tools/install.sh $(BIN) requirements/dev.txt requirements/fleet.txt requirements/stand-ins.txt
	@touch $(VENV)/.test $@

# An editable install keeps a list of the package's files: it must be made anew when one is added, moved or removed.
$(VENV)/.listed: $(VENV)/.created FORCE
	@find src/clonometer -type f ! -name '*.pyc' | LC_ALL=C sort >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Programs that are there and not empty, as after a full disk: when one is missing, all are built anew.
PROGRAMS = find $(VENV)/lib/python3*/site-packages/clonometer/_bin -type f
$(VENV)/.whole: $(VENV)/.created FORCE
	@$(PROGRAMS) -size +0 2>/dev/null | LC_ALL=C sort >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

FORCE:

$(VENV)/.built: $(VENV)/.run $(VENV)/.listed $(VENV)/.whole $(CORE_SOURCES)
	@echo 'Building the probe.'
	@if [ -d build ]; then find build -type f -perm -u+x -size 0 -delete; fi
	@$(BUILD_ENV) $(PIP) install -q --no-build-isolation --no-deps -e .
	@if $(PROGRAMS) -size 0 | grep .; then echo 'was built empty: is the disk full?' >&2; exit 1; fi
	@$(PROGRAMS) -size +0 | LC_ALL=C sort >$(VENV)/.whole
	@touch $@

build: $(VENV)/.built
	@echo 'Ready: $(BIN)/clonometer'
	@sh tools/for_others.sh $(BIN)

run: $(VENV)/.built
	@$(BIN)/clonometer run --out clonometer-run.parquet --report clonometer-report.html --keep-previous $(if $(PLAN),--plan '$(PLAN)') $(RUN_ARGS)

# What both need from pip, and nothing built of it.
downloads: $(VENV)/.run $(VENV)/.dev

# What tests and checks need besides: the whole set-up.
dev: $(VENV)/.built $(VENV)/.dev

# A few tests of each behaviour, and all of what has changed since main, with the packages that these need; or all.
ifeq ($(ALL),)
test: $(VENV)/.built $(VENV)/.test
	@sh tools/tests.sh --few $(BIN) $(TEST_ARGS)
else
test: $(VENV)/.built $(VENV)/.dev core-test pytest
endif

# What tests cost in the last run with --durations, for the next: commit it.
costs: $(VENV)/.built
	@$(BIN)/python -m tests.costs

# What pytest makes of the tests' sources, once; whoever runs them does it else.
translation: $(VENV)/.built $(VENV)/.dev
	@sh tools/tests.sh --translate $(BIN)

# Without the probe's own tests.
pytest: $(VENV)/.built $(VENV)/.dev
	@sh tools/tests.sh $(BIN) $(TEST_ARGS)

# What drivers describe, and what users see of fixed inputs in every form: read what changed, then commit it.
golden: $(VENV)/.built
	@$(BIN)/python -m tests.data.make_describe
	@$(BIN)/python -m tests.snapshots.making

# Breaks one place after the other of a copy in build/mutations (tools/mutants.toml). With FEW=yes only what `make test`
# chooses may notice.
mutations: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python -m tools.mutations $(if $(FEW),--few) $(MUTANT)

# Breaks each line of the package that has changed since BASE, in the same copy: names the breaks that no test notices.
BASE ?= origin/main
MUTATE_SECONDS ?= 600
COSMIC_RAY := build/mutations/cosmic-ray
$(COSMIC_RAY)/.made: requirements/mutants.txt
	@$(PYTHON) -m venv --clear $(COSMIC_RAY)
	@sh tools/install.sh $(COSMIC_RAY)/bin requirements/mutants.txt
	@touch $@

mutate-change: $(VENV)/.built $(VENV)/.dev $(COSMIC_RAY)/.made
	@$(BIN)/python -m tools.mutate_change $(COSMIC_RAY)/bin $(BASE) $(MUTATE_SECONDS)

# The probe's own tests: exit 0 pass, 1 fail, 77 not possible here; for arm64 too, where a cross compiler is installed.
core-test: $(VENV)/.built
	@sh tools/core_tests.sh $(BIN)
	@sh tools/arm64.sh $(BIN)

# What befalls a command in the field, tried at random, and what must hold afterwards.
torture: $(VENV)/.built
	@$(BIN)/python -m tools.torture $(TORTURE_ARGS)

# What the C code makes of the words of strangers, searched at random; needs clang with libFuzzer.
FUZZ_SECONDS ?= 60
fuzz: $(VENV)/.built
	@sh tools/fuzz.sh $(BIN) $(FUZZ_SECONDS)

# What lint leaves to the night: clang-tidy over all files, whatever was found clean before.
tidy: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python -m tools.tidy --whole

lint: $(VENV)/.built $(VENV)/.dev
	@sh tools/lint.sh $(BIN)

format: $(VENV)/.dev
	@$(BIN)/ruff format src tests bench publications tools
	@$(BIN)/clang-format -i $$(git ls-files 'core/*.c' 'core/*.h' 'drivers/*.cpp' 'drivers/*.hpp')

bench: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python -m bench $(BENCH)

# How often the intervals contain the truth, simulated: about eight minutes; COVERAGE_ARGS='stopping --sets 200' less.
coverage: $(VENV)/.built
	@$(BIN)/python -m tools.coverage $(COVERAGE_ARGS)

matrix: $(VENV)/.built
	@$(BIN)/python -m tools.matrix $(MATRIX_ARGS)

# Tests on poorer machines that are made of this one: no tracefs, an ordinary user, one CPU and so on.
variants: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python -m tools.variants $(VARIANT)

docs: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python -m tools.offered src/clonometer/__init__.py
	@$(BIN)/python -m tools.reference docs/cli.md
	@$(BIN)/python -m tools.api docs/api.md
	@$(BIN)/python -m tools.schemas docs/schemas
	@$(BIN)/python -m publications.launch_paths docs/launch-paths.md
	@$(BIN)/clonometer page --from docs/fork-example.json --out docs/fork-example.html --force >/dev/null

# What docs/gallery.md shows; runs that build/gallery has are not measured again.
gallery: $(VENV)/.built
	@$(BIN)/python -m publications.gallery

# What docs/cases shows; cases that build/cases has are not measured again.
cases: $(VENV)/.built
	@$(BIN)/python -m publications.cases $(CASES)

# What docs/runtimes.md shows; figures of a language that is not installed here stay as they are.
runtimes-doc: $(VENV)/.built
	@$(BIN)/python -m publications.runtimes $(RUNTIMES)

# What docs/servers.md shows; figures of servers that are not installed here stay as they are.
servers-doc: $(VENV)/.built
	@$(BIN)/python -m publications.servers $(SERVERS)

# The documentation as pages that link to each other; a link that leads nowhere fails.
site: $(VENV)/.dev
	@sh tools/site.sh $(BIN)
	@echo 'Ready: build/site/index.html'

# A wheel with the probe inside, for machines without a compiler, and the archive of sources that it was made from.
dist: $(VENV)/.built $(VENV)/.dev
	@$(BIN)/python -m tools.dist dist

# Locks carry hashes and no address, so that pip takes packages from wherever this machine's pip looks.
# It keeps the versions that the locks have, if they fit; `make lock UPGRADE=--upgrade` takes the newest. uv needs a second for
# each list, where pip-compile downloads all wheels. It is told what pip knows of this machine: uv does not read pip's settings.
UPGRADE ?=
LOCKS := install run pictures fleet slurm s3 build cmake test dev stand-ins mutants
lock:
	@$(PYTHON) -m venv --clear build/lock && build/lock/bin/pip install -q uv
	@index="$${PIP_INDEX_URL:-$$(build/lock/bin/pip config get global.index-url 2>/dev/null)}"; \
	  export $${index:+UV_DEFAULT_INDEX="$$index"} UV_NO_PROGRESS=1; \
	  cd requirements && for name in $(LOCKS); do ../build/lock/bin/uv pip compile -q $(UPGRADE) --python-version 3.11 \
	  --generate-hashes --no-header --no-emit-index-url --no-emit-find-links -o $$name.txt $$name.in || exit 1; done
	@awk '/^(numpy|pyarrow)==/, /# via/' requirements/run.txt >src/clonometer/fleet/needed.txt

clean:
	@rm -rf $(VENV) build dist
