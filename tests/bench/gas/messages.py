#!/usr/bin/env python3
"""What messages cost a node: processor time for each kind under version 2 of the rules, sent one by one by a client of the protocol, with its
share of the blocks that they are in; and the rows of the schedule that follow at so many ns a gas.

    PIPECTL=build/release/bin/pipectl python3 tests/bench/gas/messages.py [--count N] [--ns 10]

The price of a kind is to be no less than what it costs; what is printed says by how much it is more."""
import argparse
import os
import re
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("PROTO", os.path.join(HERE, "..", "..", "..", "core", "chain", "messages", "messages.proto"))
sys.path[:0] = [os.path.join(HERE, "..", "..", "attack"), os.path.join(HERE, "..", "..", "integration")]

from attack import World, cid  # noqa: E402
from harness import Harness  # noqa: E402

BLOCK = 250  # messages of a block


def cpu(pid):
    """User and system time of a process, in ns (Linux: the clock of another process by its id)."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def shader(i, lines=1):
    body = "".join(f"  a = (a ^ (a >> {k % 13 + 3}u)) * {2654435761 + 2 * k + 2 * i}u;\n" for k in range(lines))
    return ("@group(0) @binding(0) var<storage, read> x : array<u32>;\n@group(1) @binding(0) var<storage, read_write> y : array<u32>;\n"
            "@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) g : vec3<u32>) {\n  var a = x[g.x];\n" + body + "  y[g.x] = a;\n}\n")


class Bench:
    def __init__(self, h, count):
        self.w, self.count = World(h, "gas", 2, ("cpu",), queue_jobs=10000, fee_ppm=0), count
        self.node = self.w.nodes[0]

    def time(self, name, messages, ok=True):
        """ns of processor time a message, its share of the ends of blocks with it."""
        data = []
        n = self.node.sent.get("mallory", 0)
        for i, (kind, values) in enumerate(messages):
            data.append(self.w.signed(kind, values, n + i if ok else n))
        began = cpu(self.node.process.pid)
        for i, d in enumerate(data):
            answer = self.node.ask(d)
            assert bool(answer.code) != ok, answer
            if i % BLOCK == BLOCK - 1:
                self.w.end()
        end = self.w.end()[0]
        assert not end.code, end
        spent = cpu(self.node.process.pid) - began
        self.node.sent["mallory"] = n + (len(data) if ok else 0)
        size = sum(map(len, data)) / len(data)
        print(f"{name:34} {len(data):6} messages of {size:9.0f} bytes {spent / len(data) / 1e3:12.1f} us", flush=True)
        return spent / len(data), size


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--ns", type=float, default=10, help="ns of a gas")
    o = p.parse_args()
    b, n = Bench(Harness(), o.count), o.count
    me = dict(sender="mallory")
    found = {}
    found["transfer"] = b.time("transfer", [("ledger", dict(me, op=2, to="ada", amount=1)) for _ in range(n)])
    found["link"] = b.time("link", [("link", dict(me, source=cid(b"%d" % i), target=cid(b"t"))) for i in range(n)])
    given = cid(bytes(64))
    b.time("blob of 64 bytes", [("blob", dict(me, data=bytes(64), blocks=10 ** 5))])
    found["blob small"] = b.time("blobs of 1 KiB", [("blob", dict(me, data=struct.pack("<I", i) * 256, blocks=10)) for i in range(n // 4)])
    found["blob large"] = b.time("blobs of 256 KiB", [("blob", dict(me, data=struct.pack("<I", i) * 65536, blocks=10)) for i in range(n // 20)])
    found["upload small"] = b.time("uploads of one line", [("upload", dict(me, wgsl_source=shader(i).encode(), description="", tags=[], implements=""))
                                                         for i in range(n // 10)])
    found["upload large"] = b.time("uploads of 250 lines", [("upload", dict(me, wgsl_source=shader(i, 250).encode(), description="", tags=[], implements=""))
                                                           for i in range(n // 50)])
    found["upload bad"] = b.time("uploads that are refused, 250 lines", [("upload", dict(me, wgsl_source=(shader(i, 250) + "}").encode(), description="", tags=[],
                                                                                     implements="")) for i in range(n // 50)], ok=False)
    found["alias"] = b.time("alias", [("name", dict(me, op=1, name=f"n{i}", cid=cid(shader(0).encode()))) for i in range(n // 2)])
    found["refused"] = b.time("transfers that are refused", [("ledger", dict(me, op=2, to="ada", amount=10 ** 17)) for _ in range(n)], ok=False)
    job = b.w.job(cid(shader(0).encode()), given)
    found["job"] = b.time("jobs", [("execute", dict(job, dispatch=dict(x=2, y=1, z=1))) for _ in range(n)])
    found["job apart"] = b.time("jobs of other dispatches", [("execute", dict(job, dispatch=dict(x=i + 1, y=1, z=1))) for i in range(n // 4)])
    big = b.w.job(cid(shader(0, 250).encode()), given)
    found["job large"] = b.time("jobs of 250 lines, other dispatches", [("execute", dict(big, dispatch=dict(x=i % 1000 + 3, y=1, z=1))) for i in range(n // 20)])
    b.w.stop()

    gas = {k: t / o.ns for k, (t, _) in found.items()}
    base = min(gas["transfer"], gas["link"])
    print(f"\nrows at {o.ns} ns a gas:")
    for row, value in (("message", base), ("message_byte", (gas["blob large"] - gas["blob small"]) / (found["blob large"][1] - found["blob small"][1])),
                       ("link", gas["link"] - base), ("alias", gas["alias"] - base), ("refusal", gas["refused"] - base),
                       ("upload", gas["upload small"] - base), ("validation", (max(gas["upload large"], gas["upload bad"]) - gas["upload small"])
                                                                / (found["upload large"][1] - found["upload small"][1])),
                       ("job, beside the message", gas["job"] - base), ("check of a job of other dispatch", gas["job apart"] - gas["job"]),
                       ("check, an instruction", (gas["job large"] - gas["job apart"]) / 1750)):
        print(f"  {row:34} {value:12.2f}")


if __name__ == "__main__":
    main()
