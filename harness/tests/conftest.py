"""Running planted specs: in this process's own device servers, or by pytest in a process of its own."""

import fcntl
import hashlib
import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tf_opdiff.harness.cases.case_runner import CaseRunner
from tf_opdiff.harness.device.processes.fork_server import early_log, start_fork_server
from tf_opdiff.harness.device.processes.locks import Slots
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.device.processes.shared_fork_server import offered
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.judge.verdicts.verdict import Context, Origin
from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.run.runner import Runner
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import MODES, Device, Plan
from tf_opdiff.harness.store.shards.merged import merge
from tf_opdiff.harness.store.shards.shard import Shard
from tf_opdiff.harness.tests.patience import PATIENCE

# A shell that puts the tests in the background, or nohup, leaves signals ignored, in children too: tests send them.
for _signal, _handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, _handler)


@pytest.fixture(autouse=True)
def same_environment():
    """Restores the environment, which the verb `sweep` changes: runs with other variables import TensorFlow again."""
    before = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    yield
    for name in os.environ.keys() - before.keys() - {"PYTEST_CURRENT_TEST"}:
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(scope="session")
def catalog():
    return Catalog.load("tf_opdiff.harness.tests.planted_specs.planted")


@pytest.fixture(scope="session")
def run_spec(catalog, tmp_path_factory):
    """run_spec(name, …) → the records of a planted spec, from real device servers that stay up between tests."""
    folder = tmp_path_factory.mktemp("planted")
    servers = {}
    shard = Shard(folder / "shard.jsonl")

    def run(name, *, devices=("cpu",), modes=MODES, known=(), timeout=PATIENCE, memory=0, tf="2.21.0"):
        held = {}
        for device in map(Device.parse, devices):
            key = (device, timeout, memory)
            held[device] = servers.setdefault(key, DeviceServer(device, folder, timeout=timeout, memory=memory))
        context = Context(run="r", started="s", here=Origin(tf, host="h"), known=Known(tuple(known)))
        plans = [Plan(device, mode) for device in held for mode in modes]
        runner = Runner(CaseRunner(context, plans, held), shard, Slots(held))
        return [record for item in catalog.items if item.spec.name == name for record in runner.run(item)]

    run.servers = servers
    yield run
    for server in servers.values():
        server.stop()
    shard.close()


@pytest.fixture(scope="module")
def run_module(tmp_path_factory):
    """run_module(name, modes, dtypes, specs) → the records of specs of a module, from a CPU server of their own."""
    return module_runner(tmp_path_factory)


def module_runner(tmp_path_factory):
    """The function behind the fixture `run_module`."""

    def run(name, modes=MODES, dtypes=None, specs=None):
        folder, cpu = tmp_path_factory.mktemp("module"), Device.parse("cpu")
        context = Context(run="r", started="s", here=Origin("2.21.0", host="h"), known=Known(()))
        servers = {cpu: DeviceServer(cpu, folder, timeout=PATIENCE)}
        cases = CaseRunner(context, [Plan(cpu, mode) for mode in modes], servers)
        runner = Runner(cases, Shard(folder / "shard.jsonl"), Slots(servers))
        try:
            items = [item for item in Catalog.load(name).items if dtypes is None or item.dtype in dtypes]
            items = [item for item in items if specs is None or item.spec.name in specs]
            return [record for item in items for record in runner.run(item)]
        finally:
            runner.close()

    return run


def offer():
    """The variables by which a process takes the fork server of this one, unless it has other variables itself."""
    start_fork_server(early_log())
    return offered()


class Outcome:
    """A pytest run in a process of its own: its exit status, output, and run directory."""

    def __init__(self, process, directory):
        self.status, self.directory = process.returncode, directory
        self.output = process.stdout + process.stderr

    @property
    def merged(self):
        return merge([self.directory])


OWNER = """
import json, sys
from pathlib import Path
from tf_opdiff.harness.device.processes.fork_server import start_fork_server
from tf_opdiff.harness.device.processes.shared_fork_server import offered

start_fork_server(Path(sys.argv[1]))
print(json.dumps(offered()), flush=True)
sys.stdin.read()
"""


class OtherForkServer:
    """A fork server with other variables than this process has, one at a time; the process that owns it is `_owner`."""

    def __init__(self, log):
        self._log, self._environment, self._owner, self._offer = log, {}, None, {}

    def offer(self, environment):
        """The offer of the fork server with these variables; it takes the place of the one with others."""
        if environment != self._environment:
            self.stop()
            command = [sys.executable, "-c", OWNER, str(self._log)]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            self._owner = subprocess.Popen(command, cwd=ROOT, env=environment, **pipes)
            self._environment, self._offer = environment, json.loads(self._owner.stdout.readline())
        return self._offer

    def stop(self):
        if self._owner:
            self._owner.communicate(timeout=PATIENCE)


@pytest.fixture(scope="session")
def run_pytest(tmp_path_factory):
    """run_pytest(*arguments) → the Outcome of pytest on the planted suite; `before` is called in the new process.

    Programs of findings run although they did before. With `env`, a run imports TensorFlow by itself; with `shared_env`
    in its place, once for all runs with the same variables.
    """
    log = tmp_path_factory.getbasetemp() / "fork-server.log"
    other = OtherForkServer(log)

    def run(
        *arguments,
        suites="tf_opdiff.harness.tests.planted_specs.planted",
        known=os.devnull,
        folder=None,
        env=(),
        shared_env=(),
        paths=("suites",),
        before=None,
    ):
        directory = folder or tmp_path_factory.mktemp("run") / "run"
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", f"opdiff_suites={suites}"]
        chosen = [] if "--resume" in arguments else ["--run-dir", str(directory)]
        command += ["-o", f"opdiff_known={known}", f"--op-timeout={PATIENCE}", "--repro", "all"]
        command += [*chosen, *paths, *arguments]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | dict(shared_env)
        if shared_env:
            environment = environment | other.offer(environment)
        else:
            start_fork_server(log)
            environment |= offered() | dict(env)
        process = subprocess.run(
            command,
            check=False,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=environment,
            preexec_fn=before,
        )
        return Outcome(process, Path(directory))

    yield run
    other.stop()


@pytest.fixture(scope="session")
def shared_run(run_pytest, tmp_path_factory):
    """shared_run(*arguments) → the Outcome of `run_pytest`; one of xdist's workers makes it, and tests only read it."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder

    def run(*arguments, **settings):
        key = hashlib.sha256(repr((arguments, sorted(settings.items()))).encode()).hexdigest()
        file = folder / f"{key}.run"
        with file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # others wait; it ends with the file's descriptor
            if not file.exists():
                file.write_bytes(pickle.dumps(run_pytest(*arguments, **settings)))
            return pickle.loads(file.read_bytes())

    return run
