"""`quorum = "k of n"` in a policy: run, op run and shader run ask n devices, keep what k of them gave, name and quarantine
the others, and say so in result and receipt. Too few devices, one plugin alone, or no agreement is refused and nothing is
stored. Where jobs cannot be asked of several devices (blocks), the policy is refused, not ignored."""
import glob
import json
import os
import shutil
import struct

from harness import Harness

h = Harness()
EDGES = h.write("edges", b"".join((i * 7919 % 97).to_bytes(4, "little") for i in range(400)))
RANK = ["run", os.path.join(os.environ["PIPELINES"], "rank.pipe.cfg"), "--in", f"edges={EDGES}", "--set", "iterations=5", "--json"]
MOCK = "mock:wrap=cpu"
LIE = "flip-bit@iterate:bit=4"


def policy(quorum, more=""):
    return ["--policy", h.write(f"q{quorum}.cfg".replace(" ", "-"), f'policy : {{ quorum = "{quorum}"; {more} }};'.encode())]


def on(*devices):
    return [w for d in devices for w in ("--backend", d)]


def stored():
    return sorted(f for _, _, files in os.walk(h.path("home/store")) for f in files)


status, out, err = h.run(*RANK, "--backend", "cpu", "--no-memo")
RIGHT = json.loads(out)["outputs"]
h.check("the right bytes", status == 0, err)


def agrees(what, devices, quorum, want, more=()):
    status, out, err = h.run(*RANK, *on(*devices), *policy(quorum), *more)
    r = json.loads(out) if status == 0 else {}
    h.check(what, status == 0 and r["evidence"] == want and [o["cid"] for o in r["outputs"]] == [o["cid"] for o in RIGHT],
            f"{status} {err} {r.get('evidence')}")
    return err


def refused(what, devices, quorum, want, code, more=""):
    before = stored()
    status, _, err = h.run(*RANK, *on(*devices), *policy(quorum, more))
    h.check(what, status == want and code in err, f"{status} {err}")
    h.check(f"{what}: nothing is stored", stored() == before)
    return err


agrees("three agree", ("cpu", MOCK, "vulkan:llvmpipe"), "3 of 3", "quorum 3 of 3")
err = agrees("two of three", ("cpu", f"{MOCK}+{LIE}", "vulkan:llvmpipe"), "2 of 3", "quorum 2 of 3")
h.check("the third is named, to the bit", "PC5236" in err and LIE in err and 'job "iterate"' in err and "0x" in err and "quarantine" in err, err)
status, _, err = h.run(*RANK, "--backend", f"{MOCK}+{LIE}", "--no-memo")
h.check("and is in quarantine", status == 4 and "PC3005" in err, f"{status} {err}")
h.check("release", h.run("plugin", "release", "mock")[0] == 0)
err = agrees("one dies", ("cpu", f"{MOCK}+crash@iterate", "vulkan:llvmpipe"), "2 of 3", "quorum 2 of 3")
h.check("and is named", "PC5236" in err and "crash" in err, err)
h.run("plugin", "release", "mock")
refused("no agreement", ("cpu", f"{MOCK}+{LIE}"), "2 of 2", 6, "PC5235")
h.run("plugin", "release", "mock")
err = refused("two devices of one plugin are one voice", (f"{MOCK}+{LIE}", f"{MOCK}+{LIE}+slow=1", "cpu"), "2 of 3", 5, "PC5237")
h.check("nor put it in quarantine", h.run(*RANK, "--backend", "cpu", "--no-memo")[0] == 0)
h.run("plugin", "release", "mock")
refused("too few", ("cpu", "vulkan:llvmpipe"), "2 of 3", 5, "PC5237")
refused("the same device twice", ("cpu", "cpu"), "2 of 2", 5, "PC5237")
refused("one plugin alone", (MOCK, f"{MOCK}+slow=1"), "2 of 2", 5, "PC5237")
err = refused("a forbidden one does not count", ("cpu", "vulkan:llvmpipe"), "2 of 2", 5, "PC5237", 'backends : { forbidden = ( "vulkan" ); };')
h.check("and its reason is told", "PC4312" in err, err)

# One driver is one voice, however many files name it and wherever its library lies; one plugin's file is one plugin.
LVP = next((p for p in glob.glob("/usr/lib/*-linux-gnu/libvulkan_lvp.so")), None)
if h.check("lavapipe is here", LVP):
    os.makedirs(h.path("driver"))
    os.makedirs(h.path("icd"))
    copied = h.path("driver/libvulkan_other.so")
    shutil.copy2(LVP, copied)
    for name, library in (("one", LVP), ("other", LVP), ("copied", copied)):
        h.write(f"icd/{name}_icd.json", json.dumps({"ICD": {"api_version": "1.1.230", "library_path": library},
                                                    "file_format_version": "1.0.0"}).encode())
    HOST = ["--config", h.write("host.cfg", b'workers : { readable = ( "%s" ); };\n' % h.path("driver").encode())]
    RANK[:0] = HOST
    h.env["VK_DRIVER_FILES"] = h.path("icd/one_icd.json") + ":" + h.path("icd/other_icd.json") + ":" + h.path("icd/copied_icd.json")
    seen = [d["selector"] for d in json.loads(h.run(*HOST, "--json", "device", "list")[1])["devices"] if d["backend"] == "vulkan"]
    h.check("three devices", len(seen) == 3, seen)
    agrees("the reference and one of them", ("cpu", *seen[:1]), "2 of 2", "quorum 2 of 2")
    for i, fault in ((1, "a driver under a second ICD file"), (2, "a copy of a driver's library under a second ICD file")):
        err = refused(f"{fault} is no further voice", ("cpu", seen[0], seen[i]), "3 of 3", 5, "PC5237")
        h.planted(fault, "a policy with a quorum", "PC5237 run", err)
    # In an audit, which takes every device that is named, they outvote nobody: three voices are asked, and two there.
    status, out, err = h.run(*HOST, "audit", *RANK[3:-1], "--backends", ",".join(["cpu", *seen]), "--quorum", "3", "--no-quarantine", "--json")
    h.check("an audit of them agrees", status == 0, f"{status} {err}")
    del h.env["VK_DRIVER_FILES"], RANK[:2]
    err = agrees("without the variable all is as before", ("cpu", "vulkan:llvmpipe"), "2 of 2", "quorum 2 of 2")
# A plugin's file under a second id is refused before it could speak.
os.makedirs(h.path("twice"))
h.write("twice/double.plugin.cfg", ('plugin : { id = "double"; kind = "backend"; library = "%s"; abi : { min = "1.0"; }; interfaces = [ "pctl.backend/1" ];\n'
                                    '  isolation = "worker"; };' % os.path.join(os.path.dirname(h.pipectl), "../plugins/cpu.so")).encode())
RANK[:0] = ["--plugin-dir", h.path("twice")]
err = refused("a plugin's file under a second id", ("double", "cpu"), "2 of 2", 4, "PC3018")
del RANK[:2]

# Without names the policy's order is asked, and as many plugins as there are.
status, out, err = h.run(*RANK, *policy("2 of 2"))
h.check("by the policy's order", status == 0 and json.loads(out)["evidence"] == "quorum 2 of 2", f"{status} {err}")
status, out, err = h.run(*RANK, *policy("2 of 2"))
h.check("a quorum asks again", status == 0 and not json.loads(out)["memoised"] and len(json.loads(out)["jobs"]) == 2, err)
status, _, err = h.run(*RANK[:-1], *on("cpu", MOCK), *policy("2 of 2"), "--receipt", h.path("receipt"))
shown = json.loads(h.run("--json", "receipt", "show", h.path("receipt"))[1])
h.check("the receipt says it", status == 0 and shown["evidence"] == "quorum 2 of 2" and ", quorum 2 of 2" in err, err)

# op run and shader run
x = h.write("x", struct.pack("<64I", *range(64)))
h.write("add.wgsl", b"""@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[id.x] = x[id.x] + 7u; }
""")
OP = ["op", "run", "int.not", "--in", f"x={x}:u32[64]", "--json"]
SHADER = ["shader", "run", h.path("add.wgsl"), "--dispatch", "1", "--bind", f"0:0={x}", "--bind", "0:1=zero:256", "--read",
          f"0:1={h.path('y')}", "--json"]
for name, args in (("op run", OP), ("shader run", SHADER)):
    status, out, err = h.run(*args, *on("cpu", MOCK), *policy("2 of 2"))
    h.check(f"{name} under a quorum", status == 0 and json.loads(out)["evidence"] == "quorum 2 of 2", f"{status} {err}")
    status, _, err = h.run(*args, *on("cpu", f"{MOCK}+zero"), *policy("2 of 2"))
    h.check(f"{name} without agreement", status == 6 and "PC5235" in err, f"{status} {err}")
    h.run("plugin", "release", "mock")
    status, _, err = h.run(*args, *on("cpu"), *policy("2 of 2"))
    h.check(f"{name} on one device", status == 5 and "PC5237" in err, f"{status} {err}")

# A receipt that a liar gave is not confirmed by the liar alone.
status, _, err = h.run(*RANK[:-1], *on(f"{MOCK}+{LIE}"), "--no-memo", "--receipt", h.path("lied"))
h.check("a receipt of a lie", status == 0, err)
replay = ["receipt", "replay", h.path("lied")]
status, _, err = h.run(*replay, *on(f"{MOCK}+{LIE}"))
h.check("the liar says the same again", status == 0, err)
before = stored()
status, out, err = h.run(*replay, *on(f"{MOCK}+{LIE}"), *policy("2 of 3"))
if h.check("under a quorum it does not speak alone", status == 5 and "PC5237" in err and not out and stored() == before, f"{status} {err}"):
    h.planted("a receipt of a lie, replayed where it was told", "a policy with a quorum", "PC5237 receipt replay", err)
status, out, err = h.run(*replay, *on("cpu", f"{MOCK}+{LIE}", "vulkan:llvmpipe"), *policy("2 of 3"))
h.check("and is outvoted", status == 6 and "PC5236" in err and "PC5910" in err, f"{status} {err}")
h.run("plugin", "release", "mock")
status, out, err = h.run(*replay, *on(f"{MOCK}+{LIE}"), "--policy", h.write("verified.cfg", b'policy : { verify = "all"; };'))
h.check("nor under verification", status == 6 and "PC5208" in err, f"{status} {err}")

# blocks
status, _, err = h.run("block", "end", *policy("2 of 3"))
h.check("a block under a quorum is refused", status == 5 and "PC5237" in err, f"{status} {err}")
h.finish()
