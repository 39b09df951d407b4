# The two front doors are `report` and `test`. Every target first makes the environment from the lock file.
# The machine needs Python, pip and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Tests and runs start hundreds of processes. Without bytecode files each would compile our modules again; containers
# often set this variable.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: report test lint docs reference screenshots own rotating cpus processors smoke campaign mutants bench matrix plan job night issues lock clean

report: $(STAMP) ## runs every default test on the devices of this machine; the report is in runs/latest/
	$(BIN)/python -m pytest -n auto

test: $(STAMP) ## runs lint, types, documentation, the project's own tests and the smoke tier
	$(MAKE) --jobs 2 lint docs # each of them keeps one core busy
	$(MAKE) own
	$(MAKE) smoke

lint: $(STAMP) ## checks style, types and workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet .github/workflows

docs: $(STAMP) ## builds the documentation into site/; a warning or a broken link is an error
	$(BIN)/sphinx-build --builder html --fail-on-warning --keep-going --nitpicky --fresh-env --quiet --conf-dir docs . site

reference: $(STAMP) ## writes the reference pages of the documentation from the code
	$(BIN)/python -m docs.generate

screenshots: $(STAMP) ## takes the pictures of the documentation from a small run; needs Chromium
	$(BIN)/python -m docs.screenshots

# Of tests that check the same for many subjects, `make own` runs a tenth, drawn by this seed: harness/tests/rotation.py
TENTH ?= HEAD

own: $(STAMP) ## runs the project's own tests, without GitHub's annotations: their faults are planted
	env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY $(BIN)/python -m pytest -n 3 -m "not cluster and not mutation" \
		-p tf_opdiff.harness.tests.rotation --tenth=$(TENTH) harness/tests reports/tests suites/tests docs/tests

rotating: $(STAMP) ## runs all tests that check the same for many subjects; `make own` runs a tenth of them
	env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY $(BIN)/python -m pytest -n 3 -m rotating harness/tests reports/tests suites/tests docs/tests

# Processors: TensorFlow uses oneDNN's kernels on the first, not on the second; the third has no AVX-512.
CPUS := "TF_ENABLE_ONEDNN_OPTS=1" "TF_ENABLE_ONEDNN_OPTS=0" \
	"TF_ENABLE_ONEDNN_OPTS=1 ONEDNN_MAX_CPU_ISA=AVX2 XLA_FLAGS=--xla_cpu_max_isa=AVX2"

cpus: $(STAMP) ## runs the harness's tests as on three kinds of processors; three times as long as `make own`
	for settings in $(CPUS); do echo "with $$settings" && env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY $$settings \
		$(BIN)/python -m pytest -n 2 -m "not cluster and not mutation" harness/tests || exit; done

processors: $(STAMP) ## runs a part of the suites on emulated processors, for an hour; needs root, or QEMU installed
	$(BIN)/python -m bench.processors

campaign: $(STAMP) ## runs the tests that start several Ray nodes here and kill some: two minutes of CPU
	env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY $(BIN)/python -m pytest -m cluster harness/tests

mutants: $(STAMP) ## plants faults in a copy of the harness; tests that start TensorFlow must notice each
	env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY $(BIN)/python -m pytest -m mutation harness/tests

smoke: $(STAMP) ## runs the smoke tier
	$(BIN)/python -m pytest -n auto --tier smoke

bench: $(STAMP) ## measures the cost of the harness compared with the bare work; nothing passes or fails
	$(BIN)/python -m bench

matrix: $(STAMP) ## writes tox.ini and the tables of the documents after a change of .ci/matrix.toml
	$(BIN)/python -m harness matrix --write

plan: $(STAMP) ## prints the jobs of a night as JSON
	$(BIN)/python -m harness matrix

job: $(STAMP) ## runs one of these jobs here: `make job JOB=tf221-arm64`; the run is in night/jobs/
	$(BIN)/python -m harness matrix --job '$(JOB)'

night: $(STAMP) ## merges the jobs' runs and compares them with night/last; FETCH=1 gets that from GitHub
	$(BIN)/python -m harness night night/jobs --out night/out --last night/last $(if $(FETCH),--fetch)

issues: $(STAMP) ## prints the planned changes of issues as JSON; APPLY=1 makes them
	$(BIN)/python -m harness issues night/out/merged $(if $(SITE),--site "$(SITE)") $(if $(APPLY),--apply)

lock: $(STAMP) ## writes requirements.lock after a change of the dependencies in pyproject.toml
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --quiet --output-file requirements.lock

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null || true # pip compiles on one core
	touch $(STAMP)

clean:
	rm -rf $(VENV) runs night site .cache .tox .pytest_cache .mypy_cache .ruff_cache
