"""The ops of the transformer library beside attention, at the shapes of models: the same bytes as on `cpu` first (small ones), then device seconds of one job, the least of TRIES
runs, beside a copy of as many bytes as must be read and written, in the same run. usage: experts.py PIPECTL BACKEND [small] [TRIES] [only=WORD]
small: shapes for a machine of few cores. only: cases whose name has the word."""
import os
import sys
import tempfile

from reductions import Bench as Reductions
from reductions import run, seconds

BITS = {"f32": 32, "u32": 32, "bf16": 16, "q4_k": 4.5, "q8_0": 8.5}


def size_of(kind, shape):
    n = 1
    for d in shape:
        n *= d
    return int(n * BITS[kind] / 8)


def cases(small):
    """name, op, inputs (port, type, shape, numbers below: of u32), attributes, outputs, bytes that must be read and written."""
    e, k, m, n, v = (8, 2, 64, 256, 8000) if small else (128, 8, 768, 2048, 151936)
    out = []
    for t in (1, 16):
        for kind in ("bf16", "q8_0", "q4_k"):
            # Of the experts chosen, at most all: each is read once where nothing is read twice.
            read = size_of(kind, (min(t * k, e), m, n))
            out.append((f"moe_linear {kind}, {t} tokens", "moe_linear", (("x", "f32", (t, n), 0), ("w", kind, (e, m, n), 0), ("experts", "u32", (t, k), e), ("bias", "f32", (0, m), 0)),
                        "", ("y",), read + 4 * t * (n + k * m)))
        out.append((f"moe_combine, {t} tokens", "moe_combine", (("y", "f32", (t, k, n), 0), ("weights", "f32", (t, k), 0)), "", ("z",), 4 * t * (k + 1) * n))
        out.append((f"moe_route, {t} tokens", "moe_route", (("logits", "f32", (t, e), 0),), f'k = "{k}"; norm = "true";', ("experts", "weights"), 4 * t * e))
        out.append((f"embed bf16, {t} tokens", "embed", (("tokens", "u32", (t,), v), ("table", "bf16", (v, n), 0)), "", ("y",), 6 * t * n))
        out.append((f"lora of rank 16, {t} tokens", "lora", (("y0", "f32", (t, n), 0), ("x", "f32", (t, n), 0), ("a", "bf16", (16, n), 0), ("b", "bf16", (n, 16), 0)), 'scale = "2";',
                    ("y",), 12 * t * n + 64 * n))
        out.append((f"penalty, {t} rows", "penalty", (("logits", "f32", (t, v), 0), ("history", "u32", (t, 1024), v), ("count", "u32", (t,), 1024), ("repetition", "f32", (t,), 0),
                    ("presence", "f32", (t,), 0), ("frequency", "f32", (t,), 0)), "", ("y",), 8 * t * v))
        for what, params in (("greedy", (0.0, 0, 1.0, 0.0)), ("all", (0.25, 0, 1.0, 0.0)), ("top_k 40", (0.25, 40, 1.0, 0.0)), ("top_p 0.9", (0.25, 0, 0.9, 0.0)),
                             ("top_k, top_p, min_p", (0.25, 1000, 0.9, 0.01))):
            ports = [("logits", "f32", (t, v), 0)] + [(name, kind, (t,), value) for name, kind, value in zip(("temperature", "top_k", "top_p", "min_p"), ("f32", "u32", "f32", "f32"), params)]
            out.append((f"sample {what}, {t} rows", "sample", (*ports, ("key", "u32", (t, 2), 1 << 30), ("position", "u32", (t,), 1 << 30)), "", ("token",), 4 * t * v))
        out.append((f"swiglu, {512 * t} rows" if not small else f"swiglu, {t} rows", "swiglu", tuple((p, "f32", ((1 if small else 512) * t, 6144), 0) for p in "ab"), "", ("y",),
                    12 * (1 if small else 512) * t * 6144))
    # A chunk of a prompt: each expert's matrix is read once where all rows that want it are multiplied together.
    t = 64 if small else 512
    for kind in ("bf16", "q8_0", "q4_k"):
        out.append((f"moe_linear {kind}, {t} tokens", "moe_linear", (("x", "f32", (t, n), 0), ("w", kind, (e, m, n), 0), ("experts", "u32", (t, k), e), ("bias", "f32", (0, m), 0)),
                    "", ("y",), size_of(kind, (e, m, n)) + 4 * t * (n + k * m)))
    return out


class Bench(Reductions):
    def make(self, name, kind, shape, value):
        """Numbers from 1 to 2 of both signs; u32 below `value`, which a sampling parameter is itself."""
        size, path = size_of(kind, shape), self.path("in-" + name)
        if isinstance(value, float) or name == "top_k":
            import struct
            block = struct.pack("<I", value) if kind == "u32" else struct.pack("<f", value)
        elif kind == "u32":
            block = b"".join((i * 2654435761 % 4294967291 % max(value, 1)).to_bytes(4, "little") for i in range(16384))
        elif kind == "bf16":
            block = b"".join((0x3F80 | (i * 40503 >> 4 & 0x7F) | (i % 3 == 0) << 15).to_bytes(2, "little") for i in range(16384))
        elif kind[0] == "q":
            each = {"q4_k": 144, "q8_0": 34}[kind]
            one = bytearray((i * 89 + 7) & 0xFF for i in range(each))
            one[0:2] = b"\x00\x2c"
            if kind == "q4_k":
                one[2:4] = b"\x00\x28"
            block = bytes(one)
        else:
            block = b"".join((0x3F800000 | (i * 2654435761 >> 9 & 0x7FFFFF) | (i % 3 == 0) << 31).to_bytes(4, "little") for i in range(16384))
        with open(path, "wb") as f:
            for at in range(0, size, len(block) * 1024):
                f.write((block * 1024)[:size - at])
        return path

    def op(self, case, backend):
        _, op, ports, attrs, outputs, _ = case
        inputs = " ".join(f'{name} : {{ type = "{kind}[{",".join(map(str, shape))}]"; }};' for name, kind, shape, _ in ports).replace("[0,", "[none,")
        with open(self.path("one.pipe.cfg"), "w", encoding="utf-8") as f:
            f.write('pipeline : { name = "one"; class = "strict"; gas_limit = "9_000_000_000_000_000_000"; inputs : { ' + inputs + " };\n"
                    f'jobs = ( {{ id = "j"; op = "transformer.{op}@1"; in : {{ {" ".join(f"{p[0]} = {chr(34)}${p[0]}{chr(34)};" for p in ports)} }}; attr : {{ {attrs} }}; }} );\n'
                    f'outputs : {{ {" ".join(f"{o} = {chr(34)}j.{o}{chr(34)};" for o in outputs)} }}; }};\n')
        command = [self.pipectl, "run", self.path("one.pipe.cfg"), "--backend", backend, "--no-memo", "--json"]
        for name, *_ in ports:
            command += ["--in", f"{name}={self.path('in-' + name)}"]
        for o in outputs:
            command += ["--out", f"{o}={self.path('out-' + o)}"]
        return run(command)

    def data(self, case):
        return [open(self.path("out-" + o), "rb").read() for o in case[4]]


def main():
    pipectl, backend, *rest = sys.argv[1:]
    small, tries = "small" in rest, next((int(x) for x in rest if x.isdigit()), 5)
    word = next((x[5:] for x in rest if x.startswith("only=")), "")
    chosen = {kind: [c for c in cases(kind) if word in c[0]] for kind in (True, small)}
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(pipectl, backend, directory, 4096 if small else 32768, 1024)
        for case in chosen[True]:
            for port in case[2]:
                bench.make(*port)
            got = []
            for device in ("cpu", backend):
                if bench.op(case, device):
                    got.append(bench.data(case))
            if len(got) != 2 or got[0] != got[1]:
                print(f"{case[0]}: other bytes than on cpu, or none", flush=True)
                sys.exit(1)
        print("the same bytes as on cpu")
        rate = bench.copy(tries)
        print(f"copy {rate / 1e9:.0f} GB/s")
        for case in chosen[small]:
            for port in case[2]:
                bench.make(*port)
            times = [seconds(r) for r in (bench.op(case, backend) for _ in range(tries)) if r]
            if times:
                flops = 2 * case[2][0][2][0] * case[2][2][2][1] * case[2][1][2][1] * case[2][1][2][2] if case[1] == "moe_linear" else 0
                print(f"{case[0]:40} {1e6 * min(times):10.0f} us   share of a copy {case[5] / rate / min(times):6.3f}" + (f"   {flops / min(times) / 1e9:8.1f} GFLOP/s" if flops else ""), flush=True)


if __name__ == "__main__":
    main()
