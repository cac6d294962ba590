"""`audit` on the devices that are here: one CID on all of them, the exit status of every verdict, a device that lies named
to the bit and taken out of use, what native forms do, and reports whose every byte is under a seal."""
import base64
import hashlib
import json
import os
import shutil
import sys

import page
from harness import Harness

h = Harness()
PIPELINES = os.environ["PIPELINES"]
APPROXIMATE = os.path.join(os.environ["POLICIES"], "approximate.cfg")
LIAR = "mock:wrap=cpu+flip-bit@iterate/4:element=3:bit=7"
EDGES = h.write("edges", b"".join((i * 7919 % 97).to_bytes(4, "little") for i in range(400)))
RANK = [os.path.join(PIPELINES, "rank.pipe.cfg"), "--in", f"edges={EDGES}", "--set", "iterations=6"]


def cid_of(data):
    """CIDv1, raw, sha2-256, base32: from the definition."""
    raw = bytes((1, 0x55, 0x12, 0x20)) + hashlib.sha256(data).digest()
    return "b" + base64.b32encode(raw).decode().lower().rstrip("=")


def audit(name, *args, want=0):
    status, out, err = h.run("audit", *args, "--json")
    h.check(f"{name}: exit status", status == want, f"{status}, wanted {want}: {err}")
    document = json.loads(out)
    h.check(f"{name}: schema", document["schema"] == "pipectl.audit/1")
    return document, err


def cids(document, job, port, run=None):
    return {r["cid"] for o in document["outputs"] if (o["job"], o["port"]) == (job, port)
            for r in o["runs"] if run is None or r["run"] == run}


def devices():
    status, out, err = h.run("device", "list", "--json")
    h.check("device list", status == 0, err)
    return {d["selector"]: d["driver"] + " " + d["name"] for d in json.loads(out)["devices"] if d["usable"]}


def pick(found):
    """The reference, lavapipe and PoCL, as far as they are here; otherwise whatever else there is."""
    chosen = ["cpu:0"]
    for word in ("Mesa", "NVIDIA", "Portable Computing"):
        chosen += [s for s, name in found.items() if word in name and "rusticl" not in name][:1]
    return chosen


found = devices()
chosen = pick(found)
h.check("devices to compare", len(chosen) >= 2, str(found))

# ---- all agree, and the CID is that of the bytes
report = h.path("report")
document, _ = audit("rank", *RANK, "--backends", ",".join(chosen), "--repeat", "1", "--report", report)
status, _, err = h.run("run", *RANK, "--backend", "cpu", "--no-memo", "--out", f"ranks={h.path('ranks')}")
h.check("the reference runs it", status == 0, err)
h.check("one CID on all devices", cids(document, "iterate", "ranks") == {cid_of(h.read("ranks"))},
        str(cids(document, "iterate", "ranks")))
h.check("all agree", document["agreed"] and all(d["outcome"] == "agrees" for d in document["devices"]))
h.check("with evidence", not document["weak"] and int(document["compared_bytes"]) > 0)
h.check("the page", page.problems(os.path.join(report, "index.html"), ("rank",)) == [],
        str(page.problems(os.path.join(report, "index.html"))))
with open(os.path.join(report, "report.json"), encoding="utf-8") as f:
    written = json.load(f)
h.check("report.json is the document", all(written[k] == document[k] for k in written if k not in ("command", "forms")))
h.check("its command", written["command"].startswith("pipectl audit ") and "--backends" in written["command"])

# ---- the seal
status, out, err = h.run("audit", "verify", report)
h.check("an intact report", status == 0 and b"intact" in out, err)
copy = h.path("copy")
for change in ("index.html", "report.json", "manifest.cfg", "new file", "removed file"):
    shutil.copytree(report, copy)
    name = os.path.join(copy, change)
    if change == "new file":
        open(name, "wb").close()
    elif change == "removed file":
        os.unlink(os.path.join(copy, "report.json"))
    else:
        with open(name, "r+b") as f:
            f.seek(40)
            byte = f.read(1)
            f.seek(40)
            f.write(bytes((byte[0] ^ 1,)))
    status, _, err = h.run("audit", "verify", copy)
    h.check(f"a report with {change} changed", status == (3 if change == "manifest.cfg" else 6), f"{status} {err}")
    shutil.rmtree(copy)

# ---- a device that lies
honest = chosen[:2]
document, err = audit("a liar", *RANK, "--backends", ",".join(honest + [LIAR]), "--no-quarantine", "--report", report, want=6)
h.check("one divergence", len(document["divergences"]) == 1, str(len(document["divergences"])))
d = (document["divergences"] or [{}])[0]
origin = d.get("origin") or {}
h.check("the liar is named", d.get("device", "").startswith("mock:"), str(d.get("device")))
h.check("to the job and round", d.get("job") == "iterate" and origin.get("round") == 4, str(d))
# The fault counts 32-bit words, the audit elements of the port, which are u64: word 3 is the high half of element 1.
h.check("to the element and bit",
        origin.get("element") == "1" and int(origin["got"], 16) ^ int(origin["want"], 16) == 1 << 39, str(origin))
h.check("the others agree", [x["outcome"] for x in document["devices"]] == ["agrees", "agrees", "differs"])
h.check("a reproduction", os.path.exists(d["reproduction"]["directory"]) if d.get("reproduction") else False, str(d))
h.check("the page of it", page.problems(os.path.join(report, "index.html"), ("iterate", "differs")) == [])
h.check("its bits are drawn", "bits" in page.plots(os.path.join(report, "index.html")))
status, _, err = h.run("audit", "verify", report)
h.check("the reproduction is under the seal", status == 0, err)
document, err = audit("not quarantined so far", *RANK, "--backends", ",".join(honest + [LIAR]), want=6)
h.check("now it is", document["quarantined"] == 1, str(document["quarantined"]))
status, _, err = h.run("audit", *RANK, "--backends", ",".join(honest + [LIAR]))
h.check("and takes part in nothing more", status != 0 and "quarantine" in err, err)

# ---- a device that differs from itself: the liar of tests/audit, wrong from its second run on
h.run("plugin", "release", "mock")
LIAR_DIR = sys.argv[1]
with open(os.path.join(LIAR_DIR, "../plugins/liar.so"), "rb") as f:
    pin = hashlib.sha256(f.read()).hexdigest()
h.write("pin.cfg", b'policy : { plugins : { sha256 : { liar = "%s"; }; }; };' % pin.encode())
h.env["PIPECTL_LIAR"] = "flip iterate 5 2 0.3 24 5 2 999"
UNSTEADY = ["--plugin-dir", LIAR_DIR, "--policy", h.path("pin.cfg"), "--in-process"]
TWICE = [*UNSTEADY, *RANK, "--backends", f"{chosen[0]},liar:liar", "--repeat", "2"]
document, err = audit("unsteady", *TWICE, "--no-quarantine", want=6)
h.check("is said to be not reproducible", "PC5615" in err and "liar:" in err and 'job "iterate"' in err and "PC5612" not in err, err)
h.check("and nobody else is", [d["outcome"] for d in document["devices"]] == ["agrees", "not reproducible"], str(document["devices"])[:500])
h.planted("one run of two differs, of the same inputs", "liar:liar", "PC5615 audit-not-reproducible", err)
document, err = audit("unsteady", *TWICE, want=6)
status, _, err = h.run("run", *UNSTEADY, *RANK, "--backend", "liar:liar")
h.check("it is taken out of use", document["quarantined"] == 1 and status == 4 and "PC3005" in err, f"{status} {err}")

# ---- what is no audit
for name, args, want, code in (
        ("one device", ["--backends", "cpu"], 2, "PC5601"),
        ("an empty selector", ["--backends", "cpu,,cpu"], 2, "PC0010"),
        ("a quorum nobody can have", ["--backends", ",".join(honest), "--quorum", "3"], 2, "PC0010"),
        ("no run", ["--backends", ",".join(honest), "--repeat", "0"], 2, "PC0010"),
        ("natives of class integer", ["--backends", ",".join(honest), "--natives", "--policy", APPROXIMATE], 3, "PC4310")):
    status, _, err = h.run("audit", *RANK, *args)
    h.check(name, status == want and code in err, f"{status} {err}")
h.write("quorum.cfg", b'policy : { quorum = "2 of 3"; };')
status, _, err = h.run("audit", *RANK, "--backends", ",".join(honest), "--policy", h.path("quorum.cfg"))
h.check("fewer devices than the policy's quorum", status == 2 and "asks for 3" in err, err)
document, err = audit("a crash", *RANK, "--backends", "cpu,mock:wrap=cpu,mock:wrap=cpu+crash@iterate/2", want=9)
h.check("a device that fails", "PC5614" in err and document["devices"][2]["outcome"] == "failed", err)

MARKUP = "<script>&'.wgsl"
h.write(MARKUP, b"""@group(0) @binding(0) var<storage, read_write> r : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) { r[id.x] = 0u; }
""")
h.write("zero.pipe.cfg", b"""pipeline : { name = "zero"; class = "integer";
  jobs = ( { id = "zero"; shader = "%s"; dispatch = ( 4 ); out : { r = "u32[256]"; }; } );
  outputs : { r = "zero.r"; }; };
""" % MARKUP.encode())
weak = h.path("weak")
document, err = audit("nothing but zeros", h.path("zero.pipe.cfg"), "--backends", ",".join(honest), "--report", weak, want=10)
h.check("zeros are no evidence", document["weak"] and "PC5613" in err, err)
h.check("markup in a name stays text",
        page.problems(os.path.join(weak, "index.html"), (MARKUP,)) == [])

# ---- native forms
TWIN = [os.path.join(PIPELINES, "black-scholes-approximate.pipe.cfg"), "--set", "contracts=4096", "--natives"]
status, _, err = h.run("audit", *TWIN, "--backends", ",".join(honest))
h.check("the default policy has no natives", status == 3 and "PC4310" in err, err)
natives = h.path("natives")
document, _ = audit("natives", *TWIN, "--policy", APPROXIMATE, "--backends", ",".join(honest), "--report", natives)
h.check("natives: the strict runs agree", document["agreed"])
for port in ("calls", "puts"):
    strict, native = cids(document, "price", port, 0), cids(document, "price", port, 1)
    h.check(f"strict {port}: one CID", len(strict) == 1, str(strict))
    h.check(f"native {port}: more", len(native) == len(honest), str(native))
drift = [d for d in document["drift"] if d["device"] != "cpu:0" and d["port"] == "calls"]
h.check("the drift is measured", drift and int(drift[0]["different"]) > 0 and int(drift[0]["max_ulp"]) > 0, str(drift)[:400])
h.check("histogram and strip add up", drift and
        sum(map(int, drift[0]["histogram"])) + int(drift[0]["nan_against_number"]) == int(drift[0]["elements"]) == 4096 and
        len(drift[0]["strip_ppm"]) == 256)
h.check("the page of natives", page.problems(os.path.join(natives, "index.html"), ("Strict forms", "Native forms")) == [],
        str(page.problems(os.path.join(natives, "index.html"))))
h.check("its plots", {"strip", "histogram", "bars"} <= set(page.plots(os.path.join(natives, "index.html"))))
with open(os.path.join(natives, "report.json"), encoding="utf-8") as f:
    forms = json.load(f)["forms"]
h.check("forms are named", {f["op"] for f in forms} >= {"FDIV", "FEXP", "FLOG", "FSQRT"}, str(forms)[:400])
h.check("and measured", any(f["strict_ns_per_million"] > 0 and f["native_ns_per_million"] > 0 for f in forms))

h.finish()
