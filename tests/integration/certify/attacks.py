"""A plugin that is right while it is proved and wrong later (tests/fakes/turncoat.c), and people who swap files between a
proof and a run: each is tried against a certificate that is held. What takes the level away is checked here; what no
certificate can see (SECURITY.md) is shown to pass it and to be caught by --verify.
usage: attacks.py LIBRARY"""
import json
import os
import shutil
import subprocess
import sys
import time

from harness import Harness, share

h = Harness()
LIBRARY = sys.argv[1]
BUILD = os.path.dirname(os.path.dirname(h.pipectl))
OP = "int.reverse@1"
OTHER = "/lib/x86_64-linux-gnu/libanl.so.1"
if not os.path.exists(OTHER):
    OTHER = subprocess.run(["sh", "-c", "ldconfig -p | grep -m1 'libanl.so.1 ' | sed 's/.*=> //'"], stdout=subprocess.PIPE,
                           check=True).stdout.decode().strip()
h.check("a library that nothing else maps", os.path.exists(OTHER), OTHER)
os.makedirs(h.path("plugins"))
os.makedirs(h.path("lib"))
shutil.copy2(LIBRARY, h.path("lib/turncoat.so"))
MANIFEST = """plugin : {{
  id = "turncoat"; about = "turns its coat"; kind = "backend"; library = "{library}"; abi : {{ min = "1.0"; }};
  interfaces = [ "pctl.backend/1" ]; isolation = "worker"; readable = [ "{build}/plugins" ]; {more}
}};
"""


def manifest(library, name="turncoat", more=""):
    h.write(f"plugins/{name}.plugin.cfg", MANIFEST.format(library=library, build=BUILD, more=more).encode())


manifest(h.path("lib/turncoat.so"))
ASKS = h.write("asks.cfg", b'policy : { inherits = "default.cfg"; certificate = ( { ops = "int.*"; level = "L1"; } ); };\n')
h.write("x", bytes(range(64)))
RIGHT = bytes(int(f"{b:08b}"[::-1], 2) for i in range(16) for b in reversed(range(4 * i, 4 * i + 4)))
OWN = h.path("home/cache/drivers/turncoat/plugin")


def orders(*lines):
    os.makedirs(OWN, exist_ok=True)
    for name in ("orders", "count"):
        if os.path.exists(os.path.join(OWN, name)):
            os.unlink(os.path.join(OWN, name))
    with open(os.path.join(OWN, "orders"), "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in lines))


def tool(*args):
    return h.run("--plugin-dir", h.path("plugins"), *args)


def reverse(*more, policy=ASKS):
    if os.path.exists(h.path("y")):
        os.unlink(h.path("y"))
    return tool("op", "run", OP, "--in", f"x={h.path('x')}:u32[16]", "--out", f"y={h.path('y')}", "--backend", "turncoat",
                "--policy", policy, *more)


def held(name):
    status, _, err = reverse()
    h.check(f"{name}: the level is held", status == 0 and "PC5225" not in err, f"{status} {err}")


def lost(name, fault, word, code="PC4316"):
    """The level is gone, with the reason, and no bytes are given out."""
    status, _, err = reverse()
    if h.check(f"{name}: no level", status != 0 and code in err and word in err, f"{status} {err}"):
        h.planted(fault, "a certificate of L1", f"{code} {'certificate: level gone' if code == 'PC4316' else 'refused'}", err)
    h.check(f"{name}: no bytes", not os.path.exists(h.path("y")))


# ---- the proof
orders()
status, out, err = tool("certify", "--backend", "turncoat", "--level", "L1", "--ops", OP, "--json")
h.check("a proof", status == 0, err)
held("what was proved")
h.check_bytes("and is right", h.read("y"), RIGHT, 4)

# ---- a library mapped at the first dispatch, which nobody saw when the device was opened
orders(f"library {OTHER}")
lost("a library mapped late", "maps a further library at its first submit", "made without libanl.so.1")
status, _, err = reverse(policy=os.path.join(BUILD, "conf/policy/default.cfg"))
h.check("where no level is asked for, it is said", status == 0 and "PC5225" in err and "libanl.so.1" in err, f"{status} {err}")
shutil.copy2(OTHER, os.path.join(OWN, "own.so"))
orders(f"library {OWN}/own.so")
lost("a library of its own folder", "maps a library that it keeps in its own folder", "made without own.so")
# Nor in the folders that drivers take for their own: only kernels that PoCL links in its own are no libraries.
for folder in share(("home", "tmp", "pocl", "run", "mesa", "cache", "gl", "cuda")):
    path = os.path.join(os.path.dirname(OWN), folder, "own.so")
    shutil.copy2(OTHER, path)
    orders(f"library {path}")
    lost(f"a library in {folder}", f"maps a library that it keeps in a driver's folder ({folder})", "made without own.so")
    os.unlink(path)
orders()
held("without it")
# A proof that saw it names it, and a run that maps it holds the level again.
orders(f"library {OTHER}")
status, out, err = tool("certify", "--backend", "turncoat", "--level", "L1", "--ops", OP, "--json")
made = json.loads(out) if status == 0 else {}
h.check("a proof that maps it", status == 0 and [x["name"] for x in made.get("late", [])] == ["libanl.so.1"], f"{err} {out[:400]}")
held("named by the certificate")
status, out, err = tool("certify", "verify", made.get("certificate", ""))
h.check("the certificate is valid", status == 0, err)
orders(f"library {OWN}/own.so")
lost("another one than the certificate names", "maps another library late than its certificate names", "made without own.so")

# What is known of its floats is known of these libraries: with a further one they are probed anew, once.
h.write("float.wgsl", b"""@group(0) @binding(0) var<storage, read> a : array<f32>;
@group(0) @binding(1) var<storage, read_write> r : array<f32>;
@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id : vec3<u32>) { r[id.x] = a[id.x] * 3.0 + 1.0; }
""")


def floats(name, n):
    status, _, err = tool("shader", "run", h.path("float.wgsl"), "--dispatch", "1", "--bind", f"0:0={h.path('x')}", "--bind",
                          "0:1=zero:64", "--read", "0:1=" + h.path("z"), "--backend", "turncoat", "--class", "strict")
    h.check(f"floats {name}", status == 0, f"{status} {err}")
    made = len(os.listdir(h.path("home/profiles")))
    h.check(f"floats {name}: profiles", n is None or made == n, f"{made}, not {n}")
    return made


orders()
known = floats("as opened", None)
orders(f"library {OTHER}")
floats("with another library", known + 1)
orders(f"library {OTHER}")
floats("with it again", known + 1)

# ---- state, dates, counts: no certificate knows of them, --verify does
for name, order in (("a count kept in its folder", "lie 2"), ("a date", f"date {int(time.time()) - 1}")):
    orders(order)
    held(name)  # the first submit is right, or the certificate knows nothing of dates: see SECURITY.md
    status, _, err = reverse("--verify", "all")
    if h.check(f"{name}: caught by --verify", status == 6 and ("PC5208" in err or "PC5223" in err), f"{status} {err}"):
        h.planted(f"turns its coat by {name}", OP, "PC5223 run --verify", err)
    orders(order)
    status, _, err = tool("certify", "--backend", "turncoat", "--level", "L1", "--ops", OP, "--out", h.path(order))
    h.check(f"{name}: caught by a proof that comes after it", status == 6, f"{status} {err}")

# ---- where buffers lie: proofs and runs draw it alike, so that who waits for a run without zones waits for ever
CHAIN = h.write("chain.pipe.cfg", ("""pipeline : { name = "chain"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };
  jobs = ( %s ); outputs : { y = "j11.y"; }; };
""" % ", ".join(f'{{ id = "j{i}"; op = "{OP}"; in : {{ x = "{"$x" if i == 0 else f"j{i - 1}.y"}"; }}; }}'
                for i in range(12))).encode())


submits = []  # of all chains since the orders


def chain(*more):
    if os.path.exists(h.path("y")):
        os.unlink(h.path("y"))
    result = tool("run", CHAIN, "--in", f"x={h.path('x')}", "--out", f"y={h.path('y')}", "--backend", "turncoat", "--no-memo", "--no-fuse",
                  *more)
    with open(os.path.join(OWN, "count"), encoding="utf-8") as f:
        submits.append(int(f.read()))
    return result


orders("plain 8")  # no proof has as many: a run had twelve
for i in range(3):
    status, _, err = chain()
    h.check("twelve jobs never show eight in a row without a zone", status == 0, f"{status} {err}")
    h.check_bytes("so it never lies", h.read("y"), bytes(range(64)), 4)
h.check("each job was a submit of its own", submits == [12, 24, 36], str(submits))
# Each of its pairs of jobs has zones first or second, by a draw: none comes without a zone in 4 % of the runs, in eight runs in 10^-11 of all.
orders("plain 1")
tries = [chain("--verify", "all") for i in range(8)]
seen = [x for x in tries if x[0] == 6 and ("PC5208" in x[2] or "PC5223" in x[2])]
if h.check("one that lies where there is no zone is caught by --verify", seen, str(tries)):
    h.planted("lies where no buffer lies between zones", "twelve jobs", "PC52 run --verify", seen[0][2])
status, _, err = tool("certify", "--backend", "turncoat", "--level", "L1", "--ops", OP, "--out", h.path("plain"))
h.check("and by a proof", status == 6, f"{status} {err}")

# ---- the environment: nothing of the user's reaches a plugin
orders("variable TURNCOAT")
h.env["TURNCOAT"] = "1"
held("a variable of the user's environment")
h.check_bytes("which it never sees", h.read("y"), RIGHT, 4)
del h.env["TURNCOAT"]
for variable in ("LD_PRELOAD", "LD_AUDIT"):
    orders(f"variable {variable}")
    h.env[variable] = os.path.join(BUILD, "fakes/preload.so")
    status, _, err = reverse()
    del h.env[variable]
    h.check(f"{variable} does not reach a worker", status == 0 and h.read("y") == RIGHT, f"{status} {err}")
orders()

# A variable that the manifest has passed on is part of what the session runs on: with another value nothing was proved.
manifest(h.path("lib/turncoat.so"), more='environment = [ "TURNCOAT" ];')
held("a manifest that passes a variable on, which is not set")
orders("variable TURNCOAT")
h.env["TURNCOAT"] = "1"
lost("a variable that the manifest passes on", "a variable that its manifest passes on is set after the proof", "made with another driver library")
del h.env["TURNCOAT"]
orders()
manifest(h.path("lib/turncoat.so"))

# ---- the plugin's file between proof and run
strip = h.path("lib/stripped.so")
subprocess.run(["strip", "--strip-debug", "-o", strip, LIBRARY], check=True)
kept = h.path("lib/kept.so")
os.rename(h.path("lib/turncoat.so"), kept)
os.symlink(kept, h.path("lib/turncoat.so"))
held("a symbolic link to the same file")
os.unlink(h.path("lib/turncoat.so"))
os.symlink(strip, h.path("lib/turncoat.so"))
lost("the symbolic link swapped", "the plugin's file is a symbolic link, swapped after the proof", "another file of backend")
os.unlink(h.path("lib/turncoat.so"))
os.link(kept, h.path("lib/turncoat.so"))
held("a hard link to the same file")
os.unlink(h.path("lib/turncoat.so"))
stat = os.stat(kept)
os.link(strip, h.path("lib/turncoat.so"))
os.utime(strip, ns=(stat.st_atime_ns, stat.st_mtime_ns))
lost("a hard link to another file of the same date", "the plugin's file is a hard link to another one", "another file of backend")
os.unlink(h.path("lib/turncoat.so"))
shutil.copy2(kept, h.path("lib/turncoat.so"))
held("the same bytes in another file")
with open(h.path("lib/turncoat.so"), "r+b") as f:  # in place, of the same length, and the date put back
    data = bytearray(f.read())
    at = data.rindex(b"GCC: (")
    data[at + 6] ^= 1
    f.seek(0)
    f.write(data)
os.utime(h.path("lib/turncoat.so"), ns=(stat.st_atime_ns, stat.st_mtime_ns))
lost("a byte changed in place and the date put back", "a byte of the plugin's file changed, its date put back",
     "another file of backend")
shutil.copy2(kept, h.path("lib/turncoat.so"))
# Two of one id: neither is taken for the other.
manifest(strip, "second")
os.makedirs(h.path("more"))
os.rename(h.path("plugins/second.plugin.cfg"), h.path("more/turncoat.plugin.cfg"))
status, _, err = h.run("--plugin-dir", h.path("plugins"), "--plugin-dir", h.path("more"), "op", "run", OP, "--in",
                       f"x={h.path('x')}:u32[16]", "--out", f"y={h.path('y')}", "--backend", "turncoat", "--policy", ASKS)
h.check("two plugins of one id", status != 0 and "PC30" in err, f"{status} {err}")
status, _, err = h.run("--plugin-dir", h.path("more"), "--plugin-dir", h.path("plugins"), "op", "run", OP, "--in",
                       f"x={h.path('x')}:u32[16]", "--out", f"y={h.path('y')}", "--backend", "turncoat", "--policy", ASKS)
h.check("in either order", status != 0 and "PC30" in err, f"{status} {err}")
held("alone again")

# ---- links in the folder that a driver may write to: the host neither makes nor removes anything behind them
manifest(h.path("lib/turncoat.so"), more='calls = [ "driver" ];')
os.makedirs(h.path("theirs"))
h.write("theirs/tempfile-of-the-user", b"kept")
h.write("theirs/kept", b"kept")
for name, target in (("lock", h.path("theirs/made")), ("pocl", h.path("theirs")), ("home", h.path("theirs"))):
    orders(f"link {name} {target}")
    for i in range(2):  # the second time the host finds what the first one left
        reverse()
    link = os.path.join(os.path.dirname(OWN), name)
    h.check(f"a link in place of {name}", os.path.islink(link) and os.readlink(link) == target)
    if h.check(f"{name}: nothing is made or removed behind it", sorted(os.listdir(h.path("theirs"))) == ["kept", "tempfile-of-the-user"],
               str(os.listdir(h.path("theirs")))):
        h.planted(f"a driver puts a link in place of its {name}", "a folder of the user", "host: links are not followed",
                  f"{name} -> {os.path.relpath(target, h.dir)}: nothing made, nothing removed")
    os.unlink(link)
orders()
manifest(h.path("lib/turncoat.so"))
held("without links")

# ---- a claim that is confirmed with a plugin that turns its coat after it
os.unlink(h.path("lib/turncoat.so"))
shutil.copy2(strip, h.path("lib/turncoat.so"))
orders("lie 1")
status, out, err = tool("certify", "confirm", "--backend", "turncoat", "--json")
if h.check("a plugin that lies from its first submit on is not confirmed", status == 6, f"{status} {err}"):
    h.planted("another file of the plugin, which lies", "a claim of L1", "PC5531 certify confirm", err)
orders()
status, out, err = tool("certify", "confirm", "--backend", "turncoat", "--json")
h.check("the honest one is", status == 0, f"{status} {err}")
held("confirmed")
status, out, err = tool("certify", "confirm", "--backend", "turncoat", "--sample", "0.5", "--json", made["certificate"])
h.check("a larger sample is tried", status == 0 and json.loads(out)["confirmed"][0]["confirmed"]["sample_ppm"] == "500000",
        f"{status} {err} {out[:300]}")
status, out, err = tool("certs", "show", "a liar", "--dir", h.path("home/certificates"))
h.check("and shown from its directory", status == 0 and b"libanl.so.1" in out, f"{status} {err} {out[:300]}")
orders(f"library {OTHER}")
lost("and its certificate names what it mapped", "maps a library late that was not there when its claim was confirmed",
     "libanl.so.1 was mapped")
h.finish()
