"""The store: what goes in comes out, under the name that its bytes have; what is damaged, absent or no name says so."""
import base64
import gc
import hashlib
import io

import numpy
import pytest

import pipectl


def cid_of(data):
    """CIDv1, raw, sha2-256, base32: from the definition."""
    raw = bytes((1, 0x55, 0x12, 0x20)) + hashlib.sha256(data).digest()
    return "b" + base64.b32encode(raw).decode().lower().rstrip("=")


@pytest.mark.parametrize("n", [0, 1, 1000, 3 << 20])
def test_there_and_back(installation, tmp_path, n):
    data = numpy.random.default_rng(n).bytes(n)
    cid = installation.put(data)
    assert cid == cid_of(data) and installation.has(cid)
    got = installation.get(cid)
    assert got == data and got.readonly
    (tmp_path / "in").write_bytes(data)
    with open(tmp_path / "in", "rb") as f:
        f.seek(n // 2)
        assert installation.put(f) == cid_of(data[n // 2:])
    assert installation.put(tmp_path / "in") == installation.put(numpy.frombuffer(data, "u1")) == installation.put(bytearray(data)) == cid
    installation.get_file(cid, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == data


def test_bytes_stay(home):
    opened = pipectl.Installation()
    views = [opened.get(opened.put(bytes([i]) * (2 << 20))) for i in range(4)]
    opened.close()
    del opened
    gc.collect()
    assert all(view == bytes([i]) * (2 << 20) for i, view in enumerate(views))
    part = views[2][100:200]
    del views
    gc.collect()
    assert part == b"\2" * 100


def test_what_is_not_there(installation, tmp_path):
    absent = cid_of(b"nobody put this")
    assert not installation.has(absent)
    for call in (lambda: installation.get(absent), lambda: installation.get_file(absent, tmp_path / "x")):
        with pytest.raises(pipectl.Error) as e:
            call()
        assert e.value.code == 5004
    for call in (lambda: installation.get("bafk"), lambda: installation.has("no name")):
        with pytest.raises(pipectl.Error) as e:
            call()
        assert e.value.code == 5005
    assert not (tmp_path / "x").exists()


def test_what_is_damaged(installation, home):
    data = b"whole" * 100
    cid = installation.put(data)
    blob = next(p for p in (home / "cas").rglob("*") if p.is_file() and p.read_bytes() == data)
    blob.chmod(0o600)
    blob.write_bytes(b"broken" + data[6:])
    with pytest.raises(pipectl.Error) as e:
        installation.get(cid)
    assert e.value.code == 5001 and e.value.status == "store"


def test_what_is_no_data(installation):
    for bad in ("text", 3, None, io.BytesIO(b"x")):
        with pytest.raises((TypeError, OSError, pipectl.Error)):
            installation.put(bad)
