# The two front doors. Each makes the environment that it needs from the lock file, on a machine with Python, pip and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: report test lint own cpus smoke campaign mutants bench matrix plan job night issues lock clean

report: $(STAMP) ## the whole default run on what this machine has; the report is in runs/latest/
	$(BIN)/python -m pytest -n auto

test: lint own smoke ## the project's own tests, lint and types, and the smoke tier for real

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet .github/workflows

own: $(STAMP) ## planted faults are no news for the job that runs them
	env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY $(BIN)/python -m pytest -n 2 -m "not cluster and not mutation" harness/tests reports/tests suites/tests

# as on a processor where TensorFlow takes oneDNN's kernels, on one where it does not, and on one without AVX-512
CPUS := "TF_ENABLE_ONEDNN_OPTS=1" "TF_ENABLE_ONEDNN_OPTS=0" \
	"TF_ENABLE_ONEDNN_OPTS=1 ONEDNN_MAX_CPU_ISA=AVX2 XLA_FLAGS=--xla_cpu_max_isa=AVX2"

cpus: $(STAMP) ## the tests that start TensorFlow, as on other processors; three times as long as `make own`
	for settings in $(CPUS); do echo "with $$settings" && env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY $$settings \
		$(BIN)/python -m pytest -n 2 -m "not cluster and not mutation" harness/tests || exit; done

campaign: $(STAMP) ## the tests that start several nodes of Ray's here, and kill some: two minutes of CPU
	env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY $(BIN)/python -m pytest -m cluster harness/tests

mutants: $(STAMP) ## faults planted in a copy of the harness, which tests that start TensorFlow have to notice
	env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY $(BIN)/python -m pytest -m mutation harness/tests

smoke: $(STAMP)
	$(BIN)/python -m pytest -n auto --tier smoke

bench: $(STAMP) ## rates against the bare cost of the same work; nothing here passes or fails
	$(BIN)/python -m bench

matrix: $(STAMP) ## after a change of .ci/matrix.toml
	$(BIN)/python -m harness matrix --write

plan: $(STAMP) ## the jobs of a night, as JSON
	$(BIN)/python -m harness matrix

job: $(STAMP) ## one of them, here: make job JOB=tf221-arm64; its run is in night/jobs/
	$(BIN)/python -m harness matrix --job '$(JOB)'

night: $(STAMP) ## what jobs left, merged, and what changed since night/last; FETCH=1 gets that from GitHub
	$(BIN)/python -m harness night night/jobs --out night/out --last night/last $(if $(FETCH),--fetch)

issues: $(STAMP) ## an issue for each cause of what fails: told as JSON; APPLY=1 does it
	$(BIN)/python -m harness issues night/out/merged $(if $(SITE),--site "$(SITE)") $(if $(APPLY),--apply)

lock: $(STAMP) ## after a change of the dependencies in pyproject.toml
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --quiet --output-file requirements.lock

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $(STAMP)

clean:
	rm -rf $(VENV) runs night .cache .tox .pytest_cache .mypy_cache .ruff_cache
