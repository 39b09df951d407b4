"""Campaigns: what is refused before anything starts, how items are cut into batches, and what these ask for."""

import argparse
import os

import pytest

from tf_opdiff.command_line import main
from tf_opdiff.harness.run.campaigns import batch, campaign, cluster, node
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device

SUITE = "tf_opdiff.harness.tests.planted_runs.planted_campaign"
AWAY = "192.0.2.77"  # a documentation address: nobody's


@pytest.fixture
def no_token(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("words", [["--listen", AWAY], ["--listen", "0.0.0.0", "--address", f"{AWAY}:6379"]])
def test_no_head_and_no_node_listens_beyond_loopback_without_a_token(no_token, capsys, words):
    assert main(["node", *words]) == 4
    told = capsys.readouterr().err
    assert len(told.splitlines()) == 1
    assert "is beyond loopback: expected RAY_AUTH_MODE=token" in told


def test_a_node_that_joins_says_where_it_is_reached(capsys):
    assert main(["node", "--address", f"{AWAY}:6379"]) == 4
    assert "--listen 127.0.0.1: the head must reach a node that joins it" in capsys.readouterr().err


@pytest.mark.usefixtures("no_token")
def test_no_campaign_goes_beyond_loopback_without_a_token(run_pytest):
    outcome = run_pytest("--campaign", f"{AWAY}:6379", "--device", "cpu", suites=SUITE)
    assert outcome.status == 4
    assert f"{AWAY} is beyond loopback: expected RAY_AUTH_MODE=token" in outcome.output
    assert not outcome.directory.exists()


@pytest.mark.usefixtures("no_token")
def test_a_token_counts_only_where_ray_reads_it(monkeypatch, tmp_path):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "t" * 32)
    assert not node.has_token(os.environ), "authentication is off"
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    assert node.has_token(os.environ)
    monkeypatch.setenv("RAY_AUTH_TOKEN", " ")
    assert not node.has_token(os.environ)
    path = tmp_path / ".ray" / "auth_token"
    path.parent.mkdir()
    path.write_text("\n")
    assert not node.has_token(os.environ)
    path.write_text("t" * 32)
    assert node.has_token(os.environ)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "absent"))
    assert not node.has_token(os.environ), "Ray does not fall back either"


@pytest.mark.parametrize(
    ("host", "own"), [("127.0.0.1", True), ("[::1]", True), ("localhost", True), ("0.0.0.0", False)]
)
def test_only_loopback_is_out_of_reach(host, own):
    assert node.loopback(host) is own


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--campaign", "6379"], "--address '6379': expected HOST:PORT"),
        (["--campaign", "127.0.0.1:1"], "no campaign at 127.0.0.1:1: [Errno 111] Connection refused"),
        (["--campaign", "127.0.0.1:6379", "-n", "2"], "a campaign has its own workers"),
    ],
)
def test_wrong_usage_is_told_in_a_line(run_pytest, arguments, says):
    outcome = run_pytest(*arguments, suites=SUITE)
    assert outcome.status == 4
    assert says in outcome.output


def test_without_ray_there_is_a_line_that_says_what_to_install(run_pytest, tmp_path):
    (tmp_path / "ray.py").write_text("raise ImportError('planted')")
    outcome = run_pytest("--campaign", "local", "--device", "cpu", suites=SUITE, env={"PYTHONPATH": str(tmp_path)})
    assert outcome.status == 4
    assert "a campaign needs Ray Core: pip install 'ray>=2.52' (planted)" in outcome.output


def test_batches_hold_every_item_once_in_order_and_about_as_many_cases():
    items = Catalog.load("tf_opdiff.suites.ops").items[:200]
    parts = list(campaign.batches(items, 2))
    assert [item for part in parts for item in part] == list(items)
    sizes = [sum(len(item.cases) for item in part) for part in parts]
    assert all(size <= campaign.CASES or len(part) == 1 for size, part in zip(sizes, parts, strict=True))
    assert sum(sizes) / len(sizes) > campaign.CASES / 2
    assert len(list(campaign.batches(items[:8], 4))) == 8, "few items go to all there is"


def test_a_batch_asks_for_the_devices_of_its_plans_side_by_side(monkeypatch):
    monkeypatch.setenv("TF_OPDIFF_SERVERS", "4")
    assert cluster.needs(map(Device.parse, ["cpu", "cpu:1", "cpu+noonednn"])) == {"num_cpus": 1, "resources": {}}
    assert cluster.needs(map(Device.parse, ["cpu", "gpu:0"])) == {"num_cpus": 1, "num_gpus": 0.25, "resources": {}}
    assert cluster.needs(map(Device.parse, ["toy:1", "gpu:1"])) == {
        "num_cpus": 1,
        "num_gpus": 2,
        "resources": {"TOY": 2},
    }


def test_a_node_tells_ray_what_tensorflow_lists():
    options = argparse.Namespace(listen="127.0.0.1", address=None, port=7, num_cpus=None)
    words = node.command(options, dict.fromkeys(["cpu", "gpu:0", "gpu:1", "toy:0"]))
    assert {"--head", "--port=7", "--num-gpus=2", '--resources={"TOY": 1}', "--include-dashboard=false"} <= set(words)
    assert "--node-ip-address=127.0.0.1" in words
    joining = node.command(argparse.Namespace(**{**vars(options), "address": f"{AWAY}:7"}), {"cpu": {}})
    assert f"--address={AWAY}:7" in joining
    assert "--head" not in joining


def test_machines_that_differ_are_named():
    told = {"a": {"TensorFlow": "2.21.0", "CUDA": ""}, "b": {"TensorFlow": "2.20.0", "CUDA": ""}}
    assert batch.differing(told) == ["TensorFlow: 2.21.0 on a, 2.20.0 on b"]
    assert batch.differing({"a": told["a"], "b": told["a"]}) == []


def test_the_verb_hands_its_options_to_pytest(monkeypatch):
    ran = []
    monkeypatch.setattr(os, "execv", lambda program, words: ran.append(words))
    assert main(["campaign", "--device", "cpu", "--device", "gpu:0", "--op", "Floor", "--repro=none"]) == 0
    assert {"--campaign=local", "--device=cpu", "--device=gpu:0", "--op=Floor", "--repro=none"} <= set(ran[0])


def machine(**more):
    """What a node may say of itself."""
    told = {
        "devices": {"cpu": {}},
        "versions": {"tensorflow": "2.21.0", "numpy": "2.4.0"},
        "flags": {},
        "machine": {"processor": "p"},
    }
    return told | {"cuda": "", "cudnn": "", "host": "h", "guarded": True, "address": AWAY} | more


def test_nodes_that_differ_or_have_no_token_are_refused():
    old = machine(versions={"tensorflow": "2.20.0", "numpy": "2.4.0"})
    cpu = [Device.parse("cpu")]
    with pytest.raises(ValueError, match=r"the nodes differ: TensorFlow: 2.21.0 on a, 2.20.0 on b\. Run each kind"):
        cluster.agreed({"a": machine(), "b": old}, cpu)
    with pytest.raises(ValueError, match=r"the nodes differ: devices: cpu on a, cpu gpu:0 on b\."):
        cluster.agreed({"a": machine(), "b": machine(devices={"cpu": {}, "gpu:0": {}})}, [])
    assert cluster.agreed({"a": machine(), "b": machine(devices={"cpu": {}, "gpu:0": {}})}, cpu), "not asked for"
    kinds = {k: machine(devices={"gpu:0": {"device_name": n}}) for k, n in (("a", "H100"), ("b", "A100"))}
    with pytest.raises(ValueError, match="gpu:0's device_name: H100 on a, A100 on b"):
        cluster.agreed(kinds, [Device.parse("gpu:0")])
    with pytest.raises(ValueError, match="the nodes differ: cpu's oneDNN: on on a, off on b"):
        cluster.agreed({k: machine(devices={"cpu": {"oneDNN": v}}) for k, v in (("a", "on"), ("b", "off"))}, cpu)
    cudas = {k: machine(cuda=cuda, devices={"cpu": {}, "gpu:0": {}}) for k, cuda in (("a", "12.5.1"), ("b", "12.9"))}
    with pytest.raises(ValueError, match=r"the nodes differ: CUDA: 12.5.1 on a, 12.9 on b"):
        cluster.agreed(cudas, [Device.parse("gpu:0")])
    assert cluster.agreed(cudas, cpu), "CUDA is nothing to a CPU"
    with pytest.raises(ValueError, match="node b can be reached without a token: expected RAY_AUTH_MODE=token"):
        cluster.agreed({"a": machine(), "b": machine(guarded=False)}, cpu)
    assert cluster.agreed({"b": machine(guarded=False, address="127.0.0.1")}, cpu)


def test_a_run_on_several_machines_names_them_all():
    there, expected = cluster.agreed({"a": machine(), "b": machine(host="i")}, [])
    assert there["host"] == "h, i"
    assert there["machine"] == {"processor": "p", "nodes": "2 (h: p; i: p)"}
    new = machine(host="i", machine={"processor": "q", "instructions": "AVX2 FMA"})
    there_of_two, _ = cluster.agreed({"a": machine(), "b": new}, [])
    assert there_of_two["machine"]["processor"] == "p; q"
    assert there_of_two["machine"]["nodes"] == "2 (h: p; i: q, AVX2 FMA)"
    assert expected["TensorFlow"] == "2.21.0"
