# The targets make a virtual environment from the lock file. README.md has the same in plain
# commands, for machines without make.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin

# Images of continuous integration often disable bytecode; every program that a test starts would
# then compile three hundred modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs wheel sbom release quick test nightly lint format lock benchmarks clean

# Most installed modules are never imported; the others are compiled on import (--no-compile).
# pip first: the one that comes with Python 3.11 takes twice as long, most of it to compare every
# file that was ever published with the tags of this machine.
$(VENV)/.installed: requirements.lock pyproject.toml clients/python/pyproject.toml
	@echo "Setting up $(VENV): one or two minutes if the machine has nothing else to do."
	$(PYTHON) -m venv $(VENV)
	sed -n '/^pip==/,/[^\\]$$/p' requirements.lock > $(VENV)/pip.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r $(VENV)/pip.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e . -e clients/python
	touch $@

demo: $(VENV)/.installed
	$(BIN)/penstock demo

# Builds the documentation again where a checkout serves it; installing builds it once.
docs: $(VENV)/.installed
	cd server && ../$(BIN)/python -m docs.building

# Builds the client's wheel again where a checkout serves it; installing builds it once.
wheel: $(VENV)/.installed
	rm -rf server/penstock/wheels
	cd clients/python && ../../$(BIN)/python -m hatchling build -t wheel -d ../../server/penstock/wheels

# Where what a release is made of is written.
BUILD = build

# The bill of materials (CycloneDX) of everything in the lock file: same lock, same bytes.
sbom: $(VENV)/.installed
	mkdir -p $(BUILD)
	$(BIN)/cyclonedx-py requirements --output-reproducible --pyproject pyproject.toml --output-file $(BUILD)/sbom.cdx.json requirements.lock

# What a release is made of, from the commit and not from the folder, with hashes and a signature:
# KEY names the file of a private SSH key.  deploy/releases.md says how to check them.
release: sbom
	test -n "$(KEY)"
	rm -rf $(BUILD)/source $(BUILD)/*.whl
	mkdir $(BUILD)/source
	git archive HEAD | tar --extract --directory=$(BUILD)/source
	cp $(BUILD)/source/requirements.lock $(BUILD)
	awk '/^## /{sections++} sections == 1' $(BUILD)/source/CHANGELOG.md > $(BUILD)/NOTES.md
	for project in . clients/python; do $(BIN)/python -P -m build --wheel --no-isolation --outdir $(BUILD) $(BUILD)/source/$$project || exit 1; done
	rm -rf $(BUILD)/source
	cd $(BUILD) && sha256sum *.whl NOTES.md requirements.lock sbom.cdx.json > SHA256SUMS
	rm -f $(BUILD)/SHA256SUMS.sig
	ssh-keygen -q -Y sign -f $(KEY) -n penstock-release $(BUILD)/SHA256SUMS

# There is one process per core already: additional BLAS threads would only wait for each other.
quick test nightly: export OPENBLAS_NUM_THREADS = 1

# One worker more than there are cores: about one in three is waiting, for a browser, a server or
# a process that is being killed.
WORKERS = $(shell expr $$(nproc 2> /dev/null || getconf _NPROCESSORS_ONLN) + 1)

# Checks to run while working: no PostgreSQL, no browser, no server.
quick: lint
	$(BIN)/pytest -n auto --databases=sqlite -m "not nightly and not slow" tests/unit

test: lint
	$(BIN)/pytest -n $(WORKERS)

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers=2
	$(BIN)/lint-imports

# All tests, with the full number of trials (tests/README.md), and a screenshot of every page: this
# takes a night.
nightly: export NIGHTLY = 1
nightly: export GENERATED_CASES = 20000
nightly: export FUZZ_CASES = 1000000
nightly: export FAULTS_RACE_LEVELS = 3125
nightly: export FAULTS_KILLS = 1000
nightly: export FAULTS_STRIDE = 1
nightly: export FAULTS_STOPS = 50
nightly: export FAULTS_CUTS = 5000
nightly: export FAULTS_POWER_CUTS = 1000
nightly: export FAULTS_ROLLBACKS = 200
nightly: export FAULTS_TAMPERINGS = 5000
nightly: $(VENV)/.installed
	$(BIN)/pytest -n $(WORKERS) -m ""
	$(BIN)/python -m tests.web.gallery build/gallery

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(VENV)/.installed
	$(BIN)/pip-compile --quiet --no-header --no-annotate --strip-extras --allow-unsafe --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options --generate-hashes --extra development --output-file requirements.lock pyproject.toml

# OpenDP's extra mbi needs an older mbi than Penstock's: the peers of `statistics` are by themselves.
$(VENV)-peers/.installed:
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check 'opendp[mbi,scikit-learn]==0.16.*' plotnine statsmodels
	touch $@

benchmarks: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[benchmarks]'
	$(BIN)/python -m tests.benchmarks

clean:
	rm -rf $(VENV) $(VENV)-peers build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
