"""libpipectl as a stranger uses it: from an installed and moved prefix, by pkg-config and by find_package, with nothing of the
source tree but the example. Its results and documents are the tool's; what the policy refuses it refuses.
usage: api.py CMAKE SOURCE BUILD CC LIBDIR"""
import ctypes
import json
import os
import re
import struct
import subprocess
import sys

from harness import Harness

CMAKE, SOURCE, BUILD, CC, LIBDIR = sys.argv[1:6]
HERE = os.path.join(SOURCE, "tests/api")
EDGES = struct.pack("<8I", 0, 1, 1, 2, 2, 0, 3, 2)


def command(h, name, *args, env=None):
    done = subprocess.run(args, env=env or h.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode("utf-8", "replace")
    h.check(name, done.returncode == 0, text[-2000:])
    return text


class Call:
    """The library by ctypes, with every diagnostic kept."""

    def __init__(self, library, home, policy=None):
        self.lib = ctypes.CDLL(library)
        self.said = []
        for name in ("pipectl_version", "pipectl_result_json", "pipectl_status_name"):
            getattr(self.lib, name).restype = ctypes.c_char_p

        class Pos(ctypes.Structure):
            _fields_ = [("file", ctypes.c_char_p), ("line", ctypes.c_uint32), ("column", ctypes.c_uint32),
                        ("end_column", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]

        class Diag(ctypes.Structure):
            _fields_ = [("head", ctypes.c_uint64), ("code", ctypes.c_uint32), ("severity", ctypes.c_uint32), ("pos", Pos),
                        ("subject", ctypes.c_char_p), ("message", ctypes.c_char_p), ("hint", ctypes.c_char_p)]

        told = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Diag))
        self.callback = told(lambda _, d: self.said.append((d[0].code, d[0].pos.line, d[0].message)))

        class Options(ctypes.Structure):
            _fields_ = [("size", ctypes.c_uint32), ("major", ctypes.c_uint16), ("minor", ctypes.c_uint16),
                        ("home", ctypes.c_char_p), ("config", ctypes.c_char_p), ("policy", ctypes.c_char_p),
                        ("gas", ctypes.c_char_p), ("dirs", ctypes.c_void_p), ("n_dirs", ctypes.c_uint32),
                        ("flags", ctypes.c_uint32), ("ctx", ctypes.c_void_p), ("diagnostic", told),
                        ("progress", ctypes.c_void_p), ("cancel", ctypes.c_void_p)]

        o = Options(size=ctypes.sizeof(Options), home=home.encode(), policy=policy and policy.encode(),
                    diagnostic=self.callback)
        self.p = ctypes.c_void_p()
        self.status = self.lib.pipectl_open(ctypes.byref(o), ctypes.byref(self.p))

    def load(self, path):
        pl = ctypes.c_void_p()
        self.said.clear()
        status = self.lib.pipectl_pipeline_load(self.p, path.encode(), None, 0, ctypes.byref(pl))
        return status, pl

    def plan(self, pl, options=None):
        text = ctypes.c_char_p()
        status = self.lib.pipectl_pipeline_plan(pl, options, ctypes.byref(text))
        return status, text.value

    def run(self, pl):
        r = ctypes.c_void_p()
        self.said.clear()
        status = self.lib.pipectl_pipeline_run(pl, None, ctypes.byref(r))
        return status, r


def same_as_the_tool(h, library):
    data = h.write("edges.bin", EDGES)
    with open(os.path.join(os.path.dirname(h.pipectl), "../share/pipectl/pipelines/rank.pipe.cfg"), encoding="utf-8") as f:
        text = f.read()
    mine = h.write("mine.pipe.cfg", text.replace('type = "u32[m,2]";', f'type = "u32[m,2]"; file = "{data}";').encode())
    c = Call(library, h.path("home"))
    h.check("open", c.status == 0, str(c.said))
    status, pl = c.load(mine)
    h.check("load", status == 0, str(c.said))
    status, text = c.plan(pl)
    _, out, err = h.run("--json", "plan", mine)
    h.check("plan is the tool's document", status == 0 and text == out, f"{text} {out} {err}")
    status, r = c.run(pl)
    h.check("run", status == 0, str(c.said))
    got = json.loads(c.lib.pipectl_result_json(r))
    _, out, err = h.run("--json", "run", mine)
    want = json.loads(out)
    h.check("outputs are the tool's", got["outputs"] == want["outputs"] and got["gas"] == want["gas"], f"{got} {want}")
    h.check("members are the tool's", set(got) - set(want) <= {"memo_void"}, str(set(got) ^ set(want)))
    c.lib.pipectl_result_release(r)
    c.lib.pipectl_pipeline_release(pl)
    bad = h.write("bad.pipe.cfg", b'pipeline : { name = "b"; class = "integer";\n  jobs = ( { id = "x"; op = "no.such@1"; in : { }; },\n { id = "z"; op = "nor.this@1"; in : { }; } );\n'
                  b'  outputs : { y = "nowhere.y"; };\n};\n')
    status, pl = c.load(bad)
    _, out, _ = h.run("--json", "check", bad)
    h.check("a bad pipeline tells all faults with places",
            status != 0 and [(d[0], d[1]) for d in c.said] ==
            [(int(d["code"][2:]), (d.get("position") or d)["line"]) for d in json.loads(out)["diagnostics"]]
            and len(c.said) > 1, f"{c.said} {out}")
    status = c.lib.pipectl_pipeline_load(c.p, None, None, 0, ctypes.byref(pl))
    h.check("PC0011 for a path that is none", status == 16 and c.said[-1][0] == 11, str(c.said))
    c.lib.pipectl_close(c.p)
    # Another build's answer is not taken, and the tool is one: the second run of the library is remembered.
    c = Call(library, h.path("home"), h.write("any.cfg", b'policy : { memo = "any"; backends : { order = ( "cpu" ); }; };\n'))
    status, pl = c.load(mine)
    for _ in range(2):
        status, r = c.run(pl)
        if h.check("run again", status == 0, str(c.said)):
            again = json.loads(c.lib.pipectl_result_json(r))
            c.lib.pipectl_result_release(r)
    h.check("what is remembered has its type", again["memoised"] and again["outputs"][0]["type"] == "u64[4]"
            and again["outputs"] == want["outputs"], str(again))
    c.lib.pipectl_pipeline_release(pl)
    c.lib.pipectl_close(c.p)
    policy = h.write("clean.cfg", b'policy : { dirty = "refuse"; };\n')
    c = Call(library, h.path("home"), policy)
    h.check("open with a policy", c.status == 0, str(c.said))
    if c.status != 0:
        return
    status, pl = c.load(mine)
    status, r = c.run(pl)
    h.check("the policy is not passed by", status != 0 and c.said and c.said[-1][0] == 6010, f"{status} {c.said}")
    if c.said:
        h.planted("a pipeline of no commit, run by the library under dirty = refuse", "core/host/admit.c", "PC6010",
                  f"PC{c.said[-1][0]}: {c.said[-1][2].decode()}")
    c.lib.pipectl_pipeline_release(pl)
    c.lib.pipectl_close(c.p)


def a_model(h, flags, run, consumer):
    """The example of models: what it prints is the tool's text, its statement the tool replays, and a changed one is refused."""
    model = h.path("m.gguf")
    status, _, err = h.run("model", "synth", "--shape", "qwen3-0.6b", "--layers", "1", *(w for s in ("n_embd=64", "n_heads=2", "n_kv_heads=1", "head_dim=32", "n_ff=64", "n_vocab=258",
                           "n_context=256") for w in ("--set", s)), "--seed", "7", "--out", model)
    h.check("model synth", status == 0, err)
    command(h, "cc example_model.c", CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", h.path("example_model"), os.path.join(HERE, "example_model.c"), *flags)
    done = [subprocess.run([program, model, "Once upon", "9"], env=run, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for program in (h.path("example_model"), consumer)]
    h.check("the example of models runs", done[0].returncode == 0, done[0].stderr.decode())
    h.check("built by find_package it says the same", done[0].stdout == done[1].stdout and len(done[0].stdout) > 0)
    h.write("said", done[0].stderr)
    status, out, err = h.run("generate", "--model", model, "--prompt", "Once upon", "--tokens", "9", "--seed", "1", "--temperature", "0.8", "--top-p", "0.95")
    # What is no UTF-8 at the very end is told by the tool at once and by a program when it asks for the text.
    h.check("its text is the tool's", status == 0 and out.rstrip(b"\n").startswith(done[0].stdout), f"{out} {done[0].stdout} {err}")
    status, out, err = h.run("generate", "--model", model, "--replay", h.path("said"))
    h.check("its statement is one that the tool replays", status == 0 and "the same tokens and logits" in err, err)
    h.write("lied", done[0].stderr.replace(b'seed = "1"', b'seed = "2"'))
    status, _, err = h.run("generate", "--model", model, "--replay", h.path("lied"))
    h.check("a statement that was changed is refused", status != 0 and "PC5012" in err, err)


def main():
    h = Harness()
    h.dir = os.path.realpath(h.dir)
    # What is looked at is the library, on whatever device: the reference compiles no model for half a minute.
    os.makedirs(h.path("home/policy"), exist_ok=True)
    h.write("home/policy/default.cfg", b'policy : { backends : { order = ( "cpu" ); }; };\n')
    command(h, "cmake --install", CMAKE, "--install", BUILD, "--prefix", h.path("first"))
    prefix = h.path("prefix")
    os.rename(h.path("first"), prefix)
    h.pipectl = os.path.join(prefix, "bin/pipectl")
    lib = os.path.join(prefix, LIBDIR)
    run = dict(h.env, LD_LIBRARY_PATH=lib)
    env = dict(h.env, PKG_CONFIG_PATH=os.path.join(lib, "pkgconfig"))
    flags = command(h, "pkg-config", "pkg-config", "--cflags", "--libs", "pipectl", env=env).split()
    command(h, "cc", CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", h.path("example"), os.path.join(HERE, "example.c"), *flags)
    rank = os.path.join(prefix, "share/pipectl/pipelines/rank.pipe.cfg")
    first = command(h, "the example runs", h.path("example"), rank, env=run)
    data = h.write("edges.bin", EDGES)
    status, out, err = h.run("run", rank, "--in", "edges=" + data, "--set", "iterations=20", "--out", "ranks=" + h.path("ranks.bin"))
    cid = out.decode().split()
    h.check("its CID is the tool's", status == 0 and cid and cid[1] in first, f"{first} {out} {err}")
    ranks = [int(x) for x in re.findall(r"rank (\d+)", first)]
    h.check("its ranks are the tool's bytes", len(ranks) == 4 and struct.pack("<4Q", *ranks) == h.read("ranks.bin"), first)
    build = h.path("consumer")
    command(h, "find_package", CMAKE, "-G", "Ninja", "-S", os.path.join(HERE, "consumer"), "-B", build,
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={CC}")
    command(h, "cmake --build", CMAKE, "--build", build)
    second = command(h, "the consumer runs", os.path.join(build, "consumer"), rank, env=run)
    h.check("and says the same", second == first, second)
    a_model(h, flags, run, os.path.join(build, "consumer_model"))
    same_as_the_tool(h, os.path.join(lib, "libpipectl.so.0"))
    h.finish()


main()
