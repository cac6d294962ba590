"""Files of tensors as inputs and outputs of `run`, `check`, `op run` and `shader run`: what enters is the data, the header is held
against the declaration, and what comes out is what NumPy reads. The oracle is NumPy, and safetensors and GGUF written here."""
import os
import struct
import subprocess
import sys

import numpy as np

from harness import Harness
from tensor import gguf, safetensors

REFUSED = 3

PIPE = """pipeline : { name = "twice"; class = "integer";
  inputs : { x : { type = "%s"; %s }; };
  jobs = ( { id = "s"; op = "int.add@1"; in : { a = "$x"; b = "$x"; }; } );
  outputs : { y = "s.y"; }; };
"""
SHADER = b"""@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<i32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id : vec3<u32>) { if (id.x < arrayLength(&y)) { y[id.x] = i32(x[id.x]) - 5; } }
"""
X = np.arange(12, dtype=np.uint32).reshape(3, 4)


def pipe(h, kind, source="", name="p.cfg"):
    return h.write(name, (PIPE % (kind, source)).encode())


def run(h, pipeline, *args):
    return h.run("run", pipeline, *args, "--backend", "cpu")


def cid_of(h, data):
    return h.run("cas", "put", h.write("blob", data))[1].decode().strip()


def inputs(h):
    p = pipe(h, "u32[m,n]")
    np.save(h.path("c.npy"), X)
    np.save(h.path("f.npy"), np.asfortranarray(X))
    np.save(h.path("big.npy"), X.astype(">u4"))
    np.savez(h.path("two.npz"), w=X, v=X[:2])
    np.savez_compressed(h.path("one.npz"), w=X)
    h.write("s.safetensors", safetensors({"layer.0": ("U32", [3, 4], X.tobytes()), "b": ("U8", [3], b"abc")}))
    h.write("g.gguf", gguf({"t": (26, (4, 3), X.tobytes())}))  # 26: I32
    want = (X + X).tobytes()
    raw = cid_of(h, X.tobytes())
    for name in ("c.npy", "f.npy", "big.npy", "two.npz:w", "one.npz", "one.npz:w", "s.safetensors:layer.0"):
        status, out, err = run(h, p, "--in", "x=" + h.path(name), "--out", "y=" + h.path("y.npy"))
        y = np.load(h.path("y.npy")) if status == 0 else None
        h.check(name, status == 0 and y.shape == (3, 4) and y.dtype == np.uint32 and y.tobytes() == want, err)
        h.run("run", p, "--in", "x=" + h.path(name), "--backend", "cpu", "--receipt", h.path("r"))
        h.check(name + ": the data are named, not the file", raw in h.read("r").decode() and "u32[3,4]" in h.read("r").decode())
        h.check(name + ": checked", h.run("check", p, "--in", "x=" + h.path(name))[0] == 0)
    status, _, err = run(h, pipe(h, "i32[m,n]"), "--in", "x=" + h.path("g.gguf") + ":t", "--out", "y=" + h.path("y.npy"))
    h.check("gguf", status == 0 and np.load(h.path("y.npy")).tobytes() == want, err)
    status, _, err = run(h, pipe(h, "u32[...]"), "--in", "x=" + h.path("c.npy"), "--out", "y=" + h.path("y.npy"))
    h.check("any shape is the file's", status == 0 and np.load(h.path("y.npy")).shape == (3, 4), err)
    status, _, err = run(h, pipe(h, "u32[m,n]", 'file = "s.safetensors:layer.0";'), "--out", "y=" + h.path("y.npy"))
    h.check("named in the pipeline", status == 0 and np.load(h.path("y.npy")).tobytes() == want, err)
    # A path whose own name has a colon is a file, and a raw file stays one.
    h.write("odd.npz:raw", X.tobytes())
    status, _, err = run(h, pipe(h, "u32[3,4]"), "--in", "x=" + h.path("odd.npz:raw"), "--out", "y=" + h.path("y.bin"))
    h.check("a file with a colon in its name", status == 0 and h.read("y.bin") == want, err)


def refusals(h):
    p = pipe(h, "u32[m,4]")
    np.save(h.path("t.npy"), X.astype(np.int64))
    np.save(h.path("s.npy"), X.reshape(4, 3))
    np.save(h.path("r.npy"), X.reshape(-1))
    np.save(h.path("cut.npy"), X)
    whole = h.read("cut.npy")
    h.write("cut.npy", whole[:-3])
    h.write("long.npy", whole + b"\0")
    h.write("lies.npy", whole.replace(b"(3, 4)", b"(9, 4)"))
    h.write("none.npy", b"no tensor at all")
    h.write("far.safetensors", struct.pack("<Q", 2 ** 40) + b"{}")
    good = {"layer.0.weight": ("U32", [3, 4], X.tobytes()), "layer.1.weight": ("U32", [3, 4], X.tobytes())}
    h.write("w.safetensors", safetensors(good))
    rows = (("t.npy", "PC4216", "i64[3,4]"), ("s.npy", "PC4217", "u32[4,3]"), ("r.npy", "PC4217", "u32[12]"),
            ("cut.npy", "PC4211", "byte"), ("long.npy", "PC4211", "byte"), ("lies.npy", "PC4211", "144"), ("none.npy", "PC4211", "begins"),
            ("far.safetensors", "PC4211", "byte"), ("w.safetensors:layer.0.wieght", "PC4215", 'did you mean "layer.0.weight"?'),
            ("w.safetensors", "PC4215", "name one behind a colon"), ("s.npy:x", "PC4215", "no name"))
    for name, code, says in rows:
        for verb in ("check", "run", "plan"):
            out = [] if verb != "run" else ["--out", "y=" + h.path("never")]
            status, _, err = h.run(verb, p, "--in", "x=" + h.path(name), *out)
            codes = {w.rstrip(":,") for w in err.split() if w.startswith("PC4")}
            h.check(f"{verb} {name}", status == REFUSED and codes == {code} and says in err and not os.path.exists(h.path("never")), err)
    h.check("no such file", h.run("check", p, "--in", "x=" + h.path("nowhere.npy"))[0] != 0)


def packed(h):
    """Types narrower than a byte enter as they are packed; codes that stand for nothing do not."""
    p = h.write("i4.cfg", b"""pipeline : { name = "i4"; class = "integer"; inputs : { x : { type = "i4[5]"; }; };
  jobs = ( { id = "s"; op = "tensor.convert@1"; in : { x = "$x"; }; attr : { to = "i8"; }; } ); outputs : { y = "$x"; }; };""")
    t = h.write("t.cfg", b"""pipeline : { name = "t"; class = "integer"; inputs : { x : { type = "ternary[n]"; }; };
  jobs = ( { id = "s"; op = "tensor.convert@1"; in : { x = "$x"; }; attr : { to = "i8"; }; } ); outputs : { y = "$x"; }; };""")
    for what, pipeline, data, code in (("i4", p, b"\x21\x43\x05", None), ("bits behind the end", p, b"\x21\x43\x15", "PC4213"),
                                       ("too short", p, b"\x21\x43", "PC4015"), ("ternary", t, b"\x45", None), ("a ternary 2", t, b"\x49", "PC4213")):
        status, _, err = run(h, pipeline, "--in", "x=" + h.write("raw", data), "--out", "y=" + h.path("y"))
        h.check(what, status == 0 and h.read("y") == data if code is None else status == REFUSED and code in err, f"{status} {err}")


def outputs(h):
    p = pipe(h, "u32[m,n]")
    np.save(h.path("c.npy"), X)
    give = ["--in", "x=" + h.path("c.npy")]
    for place, read in (("o.npz", lambda: np.load(h.path("o.npz"))["y"]), ("o.npz:result", lambda: np.load(h.path("o.npz"))["result"])):
        status, _, err = run(h, p, *give, "--out", "y=" + h.path(place))
        h.check(place, status == 0 and (read() == X + X).all() and read().dtype == np.uint32, err)
    status, _, err = run(h, p, *give, "--out", "y=" + h.path("o.safetensors:a.b"))
    status, out, _ = h.run("tensor", "convert", h.path("o.safetensors"), "-", "--tensor", "a.b")
    h.check("safetensors", status == 0 and out == (X + X).tobytes(), err)
    two = h.write("two.cfg", PIPE.replace('y = "s.y";', 'y = "s.y"; same = "$x";').encode() % (b"u32[m,n]", b""))
    status, _, err = run(h, two, *give, "--out", "y=" + h.path("b.npz"), "--out", "same=" + h.path("b.npz:x"))
    both = np.load(h.path("b.npz"))
    h.check("two in one file", status == 0 and sorted(both.files) == ["x", "y"] and (both["y"] == 2 * both["x"]).all(), err)
    for what, outs, status, code in (("twice", ["y=%s:a" % h.path("n.npz"), "same=%s:a" % h.path("n.npz")], 2, "PC0010"),
                                     ("a named .npy", ["y=%s:a" % h.path("n.npy")], 2, "PC0010"),
                                     ("no name", ["y=%s:" % h.path("n.npz")], 2, "PC0010"), ("gguf", ["y=" + h.path("n.gguf")], REFUSED, "PC4214")):
        got, _, err = run(h, two, *give, *[w for o in outs for w in ("--out", o)])
        h.check(what, got == status and code in err and not any(os.path.exists(h.path("n." + e)) for e in ("npz", "npy", "gguf")), f"{got} {err}")
    i4 = h.write("i4.cfg", b"""pipeline : { name = "i4"; class = "integer"; inputs : { x : { type = "i4[4]"; }; };
  jobs = ( { id = "s"; op = "tensor.convert@1"; in : { x = "$x"; }; attr : { to = "i8"; }; } ); outputs : { y = "$x"; }; };""")
    got, _, err = run(h, i4, "--in", "x=" + h.write("raw", b"\x21\x43"), "--out", "y=" + h.path("n.npy"))
    h.check("no room", got == REFUSED and "PC4214" in err and not os.path.exists(h.path("n.npy")), err)


def others(h):
    np.save(h.path("c.npy"), X)
    h.write("s.safetensors", safetensors({"a": ("U32", [3, 4], X.tobytes()), "b": ("U32", [3, 4], X.tobytes())}))
    a, s = h.path("c.npy"), h.path("s.safetensors:b")
    for one, two in ((a, s), (a + ":u32[3,4]", s + ":u32[3,4]")):
        status, _, err = h.run("op", "run", "int.add", "--in", "a=" + one, "--in", "b=" + two, "--out", "y=" + h.path("y.npy"), "--backend", "cpu")
        h.check("op run " + one, status == 0 and (np.load(h.path("y.npy")) == X + X).all(), err)
    for value, code in ((a + ":u32[4,3]", "PC4217"), (a + ":i32[3,4]", "PC4216"), (h.path("s.safetensors:c"), "PC4215")):
        status, _, err = h.run("op", "run", "int.neg", "--in", "x=" + value, "--backend", "cpu")
        h.check("op run " + value, status == REFUSED and code in err, err)
    status, _, err = h.run("shader", "run", h.write("s.wgsl", SHADER), "--dispatch", "1", "--bind", "x=" + a, "--bind", "y=zero:48",
                           "--read", "y=" + h.path("z.npy"), "--backend", "cpu")
    z = np.load(h.path("z.npy")) if status == 0 else None
    h.check("shader run", status == 0 and z.dtype == np.int32 and (z == X.reshape(-1).astype(np.int32) - 5).all(), err)


def revision(h):
    """A pipeline of a commit takes its tensors from the commit, too."""
    repo = h.path("repo")
    os.mkdir(repo)
    np.save(os.path.join(repo, "x.npy"), X)
    with open(os.path.join(repo, "p.cfg"), "w", encoding="utf-8") as f:
        f.write(PIPE % ("u32[m,n]", 'file = "x.npy";'))
    git = ["git", "-C", repo, "-c", "user.name=t", "-c", "user.email=t@t"]
    for args in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *args], check=True)
    np.save(os.path.join(repo, "x.npy"), X + 1)
    status, _, err = run(h, repo + "@HEAD:p.cfg", "--out", "y=" + h.path("y.npy"))
    h.check("of a revision", status == 0 and (np.load(h.path("y.npy")) == X + X).all(), err)


def receipt(h):
    np.save(h.path("c.npy"), X)
    status, _, err = run(h, pipe(h, "u32[m,n]"), "--in", "x=" + h.path("c.npy"), "--receipt", h.path("r"))
    h.check("a receipt", status == 0, err)
    status, _, err = h.run("receipt", "replay", h.path("r"), "--backend", "cpu")
    h.check("a receipt is replayed without the file's header", status == 0, err)
    cid = cid_of(h, X.tobytes())
    for value, code in ((cid + ":u32[3,4]", None), (cid + ":u32[4,4]", "PC4015"), (cid + ":i32[3,4]", "PC4216"), (cid + ":u32[m,4]", "PC4020"), (cid, "PC4016")):
        status, _, err = run(h, pipe(h, "u32[m,n]"), "--in", "x=" + value)
        h.check("a CID, " + value[len(cid):], status == 0 if code is None else status == REFUSED and code in err, f"{status} {err}")


def main():
    h = Harness()
    for part in (inputs, refusals, packed, outputs, others, revision, receipt):
        part(h)
    return h.finish()


if __name__ == "__main__":
    sys.exit(main())
