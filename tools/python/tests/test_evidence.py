"""Audits, proofs and receipts: what is true is granted, and every lie is an Error with its code."""
import numpy
import pytest
from conftest import EDGES, PIPELINES, RANK

import pipectl

LIAR = "mock:wrap=cpu+flip-bit@iterate/4:element=3:bit=7"


def test_an_audit_in_which_all_agree(installation, tmp_path):
    document = installation.audit(RANK, edges=EDGES, iterations=6, devices=["cpu", "mock:wrap=cpu"], repeat=1,
                                  report=tmp_path / "report")
    assert document["schema"] == "pipectl.audit/1" and document["agreed"] and len(document["devices"]) == 2
    cids = {r["cid"] for o in document["outputs"] if o["job"] == "iterate" for r in o["runs"]}
    assert cids == {installation.run(RANK, edges=EDGES, iterations=6, backends="cpu").cids["ranks"]}
    assert (tmp_path / "report/index.html").exists()


def test_an_audit_finds_the_one_that_lies(installation):
    with pytest.raises(pipectl.Error) as e:
        installation.audit(RANK, edges=EDGES, iterations=6, devices=["cpu", "mock:wrap=cpu", LIAR], repeat=1, quarantine=False)
    document = e.value.document
    assert e.value.status == "mismatch" and not document["agreed"]
    assert [d["outcome"] for d in document["devices"]].count("agrees") == 2
    liar = next(d for d in document["devices"] if d["selector"] == LIAR)
    assert liar["outcome"] == "differs" and 'job "iterate"' in liar["cause"]
    origin = document["divergences"][0]["origin"]
    assert origin["round"] == 4 and int(origin["got"], 16) ^ int(origin["want"], 16) == 1 << 7 + 32  # word 3 is the high one of element 1
    with pytest.raises(pipectl.Error) as e:
        installation.audit(RANK, edges=EDGES, repeat=1001, devices="cpu")
    assert e.value.code == 11


def test_natives_are_measured(home):
    with pipectl.Installation(policy=PIPELINES / "../conf/policy/approximate.cfg") as opened:
        document = opened.audit(PIPELINES / "black-scholes-approximate.pipe.cfg", contracts=64, devices=["cpu", "mock:wrap=cpu"], repeat=1, natives=True)
    assert document["forms"]


def test_a_level_is_granted(installation, tmp_path):
    document = installation.certify("cpu", "L1", ops="int.popcount@1", directory=tmp_path / "proof")
    assert document["schema"] == "pipectl.certify/1" and document["granted"] == "L1", document
    again = installation.certify("cpu", "L1", ops="int.popcount@1", directory=tmp_path / "proof", resume=True)
    assert again["granted"] == "L1"


def test_a_level_is_refused(installation, tmp_path):
    with pytest.raises(pipectl.Error) as e:
        installation.certify("mock:wrap=cpu+lane=1", "L1", ops="int.popcount@1", directory=tmp_path / "proof")
    assert e.value.code == 5521 and e.value.document["schema"] == "pipectl.certify/1"
    with pytest.raises(pipectl.Error) as e:
        installation.certify("cpu", "L9")
    assert e.value.code == 11 and '"L9"' in str(e.value)


def test_receipts(installation, tool, tmp_path):
    result = installation.run(RANK, edges=EDGES, iterations=2, backends="cpu", receipt=True, memo=False)
    assert installation.run(RANK, edges=EDGES, iterations=2, backends="cpu").receipt is None
    (tmp_path / "r").write_bytes(result.receipt)
    installation.verify_receipt(result.receipt)
    installation.verify_receipt(tmp_path / "r", in_store=True)
    status, told = tool("receipt", "verify", tmp_path / "r")
    assert status == 0, told
    status, told = tool("receipt", "replay", tmp_path / "r")
    assert status == 0, told
    tampered = result.receipt.replace(b"iterations", b"iterationz", 1)
    assert tampered != result.receipt
    for bad in (tampered, result.receipt[:-10], b"", b"\0" * 100, result.receipt + b"\0"):
        with pytest.raises(pipectl.Error):
            installation.verify_receipt(bad)
    with pytest.raises(pipectl.Error) as e:
        installation.verify_receipt(result.receipt, signer="0" * 64)
    assert e.value.code == 5906
    with pytest.raises(pipectl.Error) as e:
        installation.verify_receipt(numpy.zeros(3, "u1").tobytes(), name="mine")
    assert "mine" in str(e.value)


def test_a_receipt_of_another_store(home, tmp_path):
    with pipectl.Installation(home=home) as opened:
        receipt = opened.run(RANK, edges=EDGES, iterations=2, backends="cpu", receipt=True, memo=False).receipt
    with pipectl.Installation(home=tmp_path / "other") as other, pytest.raises(pipectl.Error) as e:
        other.verify_receipt(receipt, in_store=True)
    assert e.value.code == 5904


def test_devices(installation, tool):
    devices = installation.devices()
    _, document = tool("device", "list")
    assert [(d.selector, d.name) for d in devices] == [(d["selector"], d["name"]) for d in document["devices"]]
    reference = next(d for d in devices if d.selector == "cpu:0")
    assert reference.kind == "reference" and reference.roles == {"reference"} and reference.state == "usable"
    assert reference.backend == "cpu" and reference.cause is None and reference.certified == 0
    assert not any(d.backend == "mock" for d in devices)
