"""A home with a shader, gas and a queue of jobs, through the command line."""
import json
import os
import shutil
import struct

SHADER = b"""//# max dispatch = 64, 1, 1
@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(0) @binding(2) var<storage, read> c : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) g : vec3<u32>) { b[g.x] = a[g.x] * 3u + c[g.x]; }
"""


class World:
    def __init__(self, h, name):
        self.h, self.home = h, h.path(name)
        self.outputs = {}

    def run(self, *args, **how):
        return self.h.run("--home", self.home, *args, **how)

    def text(self, *args):
        status, out, err = self.run(*args)
        self.h.check(" ".join(args), status == 0, f"exit status {status}\n{err}")
        return out.decode().strip()

    def answer(self, *args):
        text = self.text("--json", *args)
        return json.loads(text) if text else {}

    def refused(self, name, code, want, *args):
        status, _, err = self.run(*args)
        return self.h.check(name, status == want and code in err, f"exit status {status}\n{err}")

    def put(self, name, data):
        return self.text("cas", "put", self.h.write(name, data))

    def submit(self, a, c, *more, n=8):
        """A job; its id and, when it completes, its output."""
        answer = self.answer("job", "submit", "--sender", "alice", "--shader", self.shader, "--input", a[0], "--bind",
                             "0:2=" + c[0], "--dispatch", str(n), "--output-bytes", str(4 * n), "--gas-limit", "1000000",
                             *more)
        job = answer["job"]
        words = [(x * 3 + y) % 2 ** 32 for x, y in zip(a[1][:n], c[1][:n])]
        self.outputs[job] = struct.pack(f"<{n}I", *words)
        return "job:" + job, words

    def begin(self, jobs=3):
        """A queue: chains of three clocks, one cancelled with one behind it."""
        self.text("ledger", "credit", "alice", "1000000000")
        self.shader = self.answer("shader", "upload", "--sender", "alice", self.h.write("s.wgsl", SHADER))["shader"]
        numbers = list(range(1, 17)), [7 * i * i + 4000000000 for i in range(16)]
        named = [(self.put(f"n{i}", struct.pack("<16I", *(x % 2 ** 32 for x in n))), n) for i, n in enumerate(numbers)]
        for i in range(jobs):
            first = self.submit(named[0], named[1], n=8)
            second = self.submit(first, named[i % 2])
            self.submit(second, first, "--after", first[0][4:])
        lost = self.submit(named[1], named[0])
        behind = self.submit(lost, named[0])
        self.text("job", "cancel", "--sender", "alice", lost[0][4:])
        self.failed = {lost[0][4:], behind[0][4:]}
        return self

    def copy(self, name):
        to = World(self.h, name)
        shutil.rmtree(to.home, ignore_errors=True)
        shutil.copytree(self.home, to.home)
        to.outputs, to.failed, to.shader = dict(self.outputs), set(self.failed), self.shader
        return to

    def end(self, backend, *more):
        return self.answer("block", "end", "--backend", backend, "--executor", "node", *more)

    def blocks(self):
        return self.answer("block", "list")["blocks"]
