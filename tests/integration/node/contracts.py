"""What the tests of contracts share: a home with gas, a shader, an input, and messages of jobs without their sender."""
import hashlib
import os
import struct

from harness import Harness
import wire

here = os.path.dirname(os.path.abspath(__file__))
words = struct.pack("<4I", 5, 6, 7, 8)
source = open(os.path.join(here, "double.wgsl"), "rb").read()


def cid(data):
    import base64
    raw = b"\x01\x55\x12\x20" + hashlib.sha256(data).digest()
    return "b" + base64.b32encode(raw).decode().lower().rstrip("=")


def message(**more):
    return wire.encode("MsgGpuExecute", dict({"shader_cid": cid(source), "input_cid": cid(words), "output_bytes": 16,
                                              "dispatch": {"x": 1, "y": 1, "z": 1}, "gas_limit": 100000}, **more))


OUTPUT = struct.pack("<4I", 10, 12, 14, 16)


def begin():
    """A harness whose chain has the shader and the input, and a caller with gas."""
    h = Harness()
    node = wire.Node(h)
    c = node.client()
    assert c.ask("put", data=words)[0] == "put"
    assert c.ask("upload", sender="alice", wgsl_source=source)[0] == "upload"
    assert c.ask("ledger", sender="alice", op=1, to="alice", amount=10**9)[0] == "ledger"
    c.close()
    node.stop(15)
    return h


def end_block(h):
    """By a node, so that the test needs no other verb."""
    node = wire.Node(h)
    c = node.client()
    kind, block = c.ask("block_end")
    assert kind == "block_end", block
    c.close()
    node.stop(15)
    return block


def rows(h):
    """Every row of the state, whatever the schema: what must not change when a call fails."""
    import sqlite3
    db = sqlite3.connect("file:" + os.path.join(h.env["PIPECTL_HOME"], "chain", "state.sqlite") + "?mode=ro", uri=True)
    tables = [t for t, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    return {t: sorted(map(repr, db.execute(f"SELECT * FROM {t}"))) for t in sorted(tables)}
