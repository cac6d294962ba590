"""Plans with repeats and constants: tensor.sort_pairs against sorting here, tensor.crc32 against zlib, and its table in the store.
usage: plans.py BACKEND..."""
import base64
import hashlib
import os
import struct
import sys
import zlib

from harness import Harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from rows import op_run  # noqa: E402


def table():
    """Of CRC-32, as its definition makes it."""
    words = []
    for c in range(256):
        for _ in range(8):
            c = c >> 1 ^ (0xedb88320 if c & 1 else 0)
        words.append(c)
    return struct.pack("<256I", *words)


def cid(data):
    return "b" + base64.b32encode(bytes([1, 0x55, 0x12, 0x20]) + hashlib.sha256(data).digest()).decode().lower().rstrip("=")


def sorts(h, backends):
    """No round, one, and both parities of more: the places that a repeat exchanges end in the outputs."""
    for n in (0, 1, 16, 17, 33, 65, 129, 1000, 5000):
        keys = [i * 2654435761 % (1 << 32) >> 22 for i in range(n)]
        order = sorted(range(n), key=lambda i: keys[i])
        want = [struct.pack(f"<{n}I", *(keys[i] for i in order)), struct.pack(f"<{n}I", *order)]
        data = [("keys", struct.pack(f"<{n}I", *keys), f"u32[{n}]"), ("payloads", struct.pack(f"<{n}I", *range(n)), f"u32[{n}]")]
        for backend in backends:
            got = op_run(h, "tensor.sort_pairs", data, ["keys_sorted", "payloads_sorted"], backend)
            h.check(f"{n} pairs, {backend}", got == want, "the pairs are not in order")


def checksums(h, backends):
    for rows, n in ((1, 0), (3, 1), (5, 257), (64, 33)):
        data = bytes(i * 167 + (i >> 3) & 255 for i in range(rows * n))
        want = struct.pack(f"<{rows}I", *(zlib.crc32(data[i * n:(i + 1) * n]) for i in range(rows)))
        for backend in backends:
            got = op_run(h, "tensor.crc32", [("x", data, f"u8[{rows},{n}]")], ["y"], backend)
            h.check(f"{rows} rows of {n} bytes, {backend}", got == [want], str(got))


def constants(h):
    """A run stores the table of a plan under its CID; a plan does not."""
    name = cid(table())
    pipe = h.write("crc.pipe.cfg", b"""pipeline : { name = "p"; class = "integer"; inputs : { x : { type = "u8[4,100]"; }; };
jobs = ( { id = "c"; op = "tensor.crc32"; in : { x = "$x"; }; }, { id = "d"; op = "tensor.crc32"; in : { x = "$x"; }; } ); outputs : { y = "c.y"; z = "d.y"; }; };
""")
    home = ["--home", h.path("own")]
    x = "x=" + h.write("x", bytes(range(200)) * 2)
    status, _, err = h.run(*home, "plan", pipe, "--in", x, "--backend", "cpu")
    h.check("a plan stores nothing", status == 0 and h.run(*home, "cas", "get", name)[0] != 0, err)
    status, _, err = h.run(*home, "run", pipe, "--in", x, "--backend", "cpu")
    got = h.run(*home, "cas", "get", name)
    h.check("a run stores the table", status == 0 and got[0] == 0 and got[1] == table(), f"{err} {got[2]}")


h = Harness()
sorts(h, sys.argv[1:])
checksums(h, sys.argv[1:])
constants(h)
h.finish()
