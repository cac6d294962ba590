"""`op support` walked: every cell that works runs, or plans where it is one of many, and every one that is refused is refused by `check`
with the code that was printed. The jobs of an op go into one pipeline, so that each file has all of its errors at once.
usage: support.py [few|OP...], of every eleventh op, those named or all, or support.py on DEVICE, which runs the cells of the table of layers there."""
import functools
import json
import os
import re
import sys

from harness import Harness

TYPES = 32  # element types with numbers
RUN_BYTES = 65536  # of the largest input of a cell that runs; blocks of 256 elements make products of 10^8 terms of some


def pipeline(jobs, inputs):
    ins = " ".join(f'{n} : {{ type = "{t}"; }};' for n, t in inputs)
    text = ",\n".join(f'{{ id = "{i}"; op = "{op}"; in : {{ {" ".join(f"{p} = {chr(34)}${n}{chr(34)};" for p, n in feeds)} }}; '
                     f'attr : {{ {" ".join(f"{k} = {chr(34)}{v}{chr(34)};" for k, v in attrs)} }}; }}' for i, op, feeds, attrs, _ in jobs)
    outs = " ".join(f'{i} = "{i}.{out}";' for i, _, _, _, out in jobs)
    return f'pipeline : {{ name = "support"; class = "approximate"; inputs : {{ {ins} }}; jobs = (\n{text} ); outputs : {{ {outs} }}; }};'.encode()


def n_bytes(text):
    """Of f32[2,4], by the bits of the type's name, blocks as GGUF has them."""
    name, shape = text.split("[") if "[" in text else (text, "]")
    n = 1
    for d in shape.rstrip("]").split(","):
        n *= int(d) if d else 1
    blocks = {"q4_0": (32, 18), "q4_1": (32, 20), "q5_0": (32, 22), "q5_1": (32, 24), "q8_0": (32, 34), "q2_k": (256, 84),
              "q3_k": (256, 110), "q4_k": (256, 144), "q5_k": (256, 176), "q6_k": (256, 210)}
    if name in blocks:
        return n // blocks[name][0] * blocks[name][1]
    bits = {"bool": 32, "ternary": 2, "binary": 1, "f8e4m3": 8, "f8e5m2": 8, "bf16": 16}.get(name) or int(name[1:])
    return (n * bits + 7) // 8


@functools.cache
def first_out(h, op):
    return json.loads(h.run("--json", "op", "show", op)[1])["out"][0]["name"]


def ask(h, pattern):
    status, out, err = h.run("--json", "op", "support", pattern)
    h.check("asked", status == 0, err)
    return json.loads(out)


def works(h, op, cells, device="cpu"):
    """One run: every cell is a job. What is large is planned."""
    small = [c for c in cells if all(n_bytes(t) <= RUN_BYTES for t in c["in"].values())]
    for verb, some in (("run", small), ("plan", [c for c in cells if c not in small])):
        out, inputs, jobs, give = first_out(h, op), [], [], []
        for k, c in enumerate(some):
            feeds = []
            for p, t in c["in"].items():
                # Where there may be nothing a dimension has a name.
                inputs.append((f"i{k}_{p}", t.replace("[0]", f"[n{k}]")))
                give += ["--in", f"i{k}_{p}=zero:{n_bytes(t)}"]
                feeds.append((p, f"i{k}_{p}"))
            jobs.append((f"j{k}", op, feeds, c["attr"].items(), out))
        if not jobs:
            continue
        status, _, err = h.run("--policy", h.approximate, verb, h.write("p.cfg", pipeline(jobs, inputs)), *give, "--backend", device,
                               *(["--no-memo"] if verb == "run" else []))
        h.check(f"{op}: {len(jobs)} cells that work {verb} on {device}", status == 0, err[:1500])


def bad_job(k, op, c, shape):
    """A job whose input of the cell's type is refused, and its inputs."""
    inputs = [(f"i{k}_{i}", f"{c['type']}[{shape}]" if p == c["port"] else other) for i, (p, other) in enumerate(c["ports"].items())]
    return (f"j{k}", op, [(p, f"i{k}_{i}") for i, p in enumerate(c["ports"])], c["attrs"], c["out"]), inputs


def codes_of(h, jobs):
    """What `check` says of each job, which has a line of its own from the second on."""
    inputs = [i for _, of in jobs for i in of]
    ins = [word for name, kind in inputs for word in ("--in", f"{name}=zero:{n_bytes(kind)}")]
    status, _, err = h.run("check", h.write("q.cfg", pipeline([job for job, _ in jobs], inputs)), *ins)
    said = {}
    for line, code in re.findall(r"q\.cfg:(\d+):\d+: error: (PC\d+)", err):
        said.setdefault(int(line) - 2, set()).add(code)
    return status, [said.get(k, set()) for k in range(len(jobs))], err


def refused(h, op, cells, shape):
    """Every cell is a job, whose input of that type is refused with the code: of one file, and where that stops before a job, alone."""
    _, all_of, _ = codes_of(h, [bad_job(k, op, c, shape) for k, c in enumerate(cells)]) if cells else (0, [], "")
    for c, said in zip(cells, all_of):
        status, err = 3, ""
        if not said:
            status, (said,), err = codes_of(h, [bad_job(0, op, c, shape)])
        h.check(f"{op} {c['port']} {c['type']}: PC{c['code']}", status == 3 and f"PC{c['code']}" in said, f"{status} {said} {err[:600]}")


def walk(h, ops):
    """All ops are asked of in one process; one alone answers the same."""
    table = ask(h, "*")["cells"]
    for op in ops[:1] + ops[-1:]:
        h.check(f"{op} asked of alone", [c for c in ask(h, op)["cells"] if c["op"] == op] == [c for c in table if c["op"] == op])
    for op in ops:
        cells = [c for c in table if c["op"] == op]
        if not cells:
            # It has no inputs, so there is no type to be asked for.
            h.check(f"{op}: has no inputs", json.loads(h.run("--json", "op", "show", op)[1])["in"] == [])
            continue
        ports = sorted({c["port"] for c in cells})
        h.check(f"{op}: no cell is missing", len(cells) == TYPES * len(ports), str(len(cells)))
        good = [c for c in cells if c["works"]]
        h.check(f"{op}: every cell says how it stands", all((c["code"] == 0) == c["works"] and bool(c["reason"]) != c["works"] for c in cells))
        works(h, f"{op}@{cells[0]['version']}", good)
        unseen = {p for p in ports if not any(c["port"] == p for c in good)}
        h.check(f"{op}: each port takes some type", unseen == set(), str(unseen))
        bad = [c for c in cells if not c["works"] and c["port"] not in unseen]
        h.check(f"{op}: no type is refused without a why", all((c["why"] is None) == c["works"] for c in cells),
                str([(c["port"], c["type"]) for c in cells if (c["why"] is None) != c["works"]][:9]))
        for c in bad:
            one = next(g for g in good if g["port"] == c["port"])
            c.update(ports=one["in"], attrs=one["attr"].items(), out=first_out(h, op))
        refused(h, f"{op}@{cells[0]['version']}", bad, "4,256")


# The ops of the table's layers, and the ports that it is about.
LAYERS = {"tensor.matmul": "b", "tensor.rms_norm": "weight", "tensor.conv1d": "w", "tensor.conv2d": "w", "tensor.conv3d": "w", "tensor.rnn_cell": "w",
          "tensor.lstm_cell": "w", "tensor.embedding": "table", "tensor.softmax": "x", "transformer.attention": "q", "transformer.swiglu": "a",
          "ieee.add": "b", "int.add": "b", "tensor.matmul64": "b", "ieee.add64": "b", "transformer.embed": "table"}


def on_device(h, device):
    table = ask(h, "tensor.matmul")["layers"]
    h.check("every cell stands", len(table) == 12 * TYPES)
    for op, port in LAYERS.items():
        good = [c for c in ask(h, op)["cells"] if c["op"] == op and c["port"] == port and c["works"]]
        # Of an op that a layer has for some types alone only these.
        asked = {c["type"] for c in table if c["op"] == op}
        said = {c["type"] for c in table if c["op"] == op and c["code"] == 0}
        h.check(f"{op}: the table's cells are those of port {port}", said == {c["type"] for c in good} & asked and said != set(), f"{said}")
        works(h, f"{op}@{good[0]['version']}", good, device)
    h.check("no op of the table is left out", {c["op"] for c in table if c["code"] == 0} <= set(LAYERS), "")


def main():
    h = Harness()
    if sys.argv[1:2] == ["on"]:
        on_device(h, sys.argv[2])
        return h.finish()
    d = ask(h, "tensor.matmul")
    h.check("layers", len(d["layers"]) == 12 * TYPES and {c["code"] for c in d["layers"] if c["layer"] == "Dense"} == {0, 4102})
    h.check("the table says why", all((c["why"] is None) == (c["code"] == 0) for c in d["layers"]))
    packed = {c["layer"] for c in d["layers"] if c["type"] == "f8e4m3" and c["code"] == 0}
    h.check("layers of packed weights", packed == {"Dense", "CNN1", "CNN2", "CNN3", "RNN", "LSTM", "Embedding"}, str(packed))
    h.check("a residual of i64", [(c["op"], c["code"]) for c in d["layers"] if c["layer"] == "Residual" and c["type"] == "i64"] == [("int.add", 0)])
    every = json.loads(h.run("--json", "op", "support")[1])["cells"]
    table = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "core", "host", "support_why.def")).read()
    rows = {w for w in re.findall(r'ROW\([^;]*?"([^"]+)"\)\n', table)}
    h.check("each row of reasons has a cell, each reason is a row's", rows == {c["why"] for c in every if c["why"]},
            str(rows ^ {c["why"] for c in every if c["why"]}))
    h.check("every layer is an op", 4120 not in {c["code"] for c in d["layers"]}, str({c["layer"] for c in d["layers"] if c["code"] == 4120}))
    dense = {c["type"] for c in d["layers"] if c["op"] == "tensor.matmul" and c["code"] == 0}
    doubles = {c["layer"]: c["op"] for c in d["layers"] if c["type"] == "f64" and c["code"] == 0}
    h.check("f64 has ops of its own", doubles == {"Dense": "tensor.matmul64", "Embedding": "tensor.embedding", "Residual": "ieee.add64"}, str(doubles))
    h.check("Dense takes what tensor.matmul takes", dense == {c["type"] for c in d["cells"] if c["port"] == "b" and c["works"]}, str(dense))
    status, out, err = h.run("op", "support", "tensor.mean")
    h.check("as text", status == 0 and "works          f16 f32 bf16" in out.decode() and "refused PC4102" in out.decode(), out.decode() + err)
    said = h.run("-v", "op", "support", "tensor.mean")[1].decode()
    h.check("with reasons", "port \"x\" wants" in said and "f64: port \"x\" wants f32|f16|bf16[...]; of f64: tensor.sum64" in said, said[-2000:])
    h.check("reasons below the table", "\nRMSNorm of f64: " in said and "\nDense of" not in said.replace("\nDense of bool", ""), said[:3000])
    status, _, err = h.run("op", "support", "tensor.mien")
    h.check("no such op", status == 3 and "PC4120" in err, err)
    names = [o["name"] for o in json.loads(h.run("--json", "op", "list")[1])["ops"]]
    h.check("ops", len(names) > 100, str(len(names)))
    walk(h, names[::11] if sys.argv[1:] == ["few"] else sys.argv[1:] or names)
    return h.finish()


if __name__ == "__main__":
    sys.exit(main())
