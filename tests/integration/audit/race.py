"""Races that the data make: named with both places by `run`, `check`, `shader check` and `audit`, before anything is
stored and before a device is blamed; what is trusted is said and never remembered; a device whose repeats differ is blamed
where the program has no race. And the words of an audit: failed, differs, not reproducible."""
import json
import os
import struct

from harness import Harness

h = Harness()
POLICY = os.path.dirname(h.approximate)
SCATTER = """@group(0) @binding(0) var<storage, read> at : array<u32>;
@group(0) @binding(1) var<storage, read_write> r : array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g : vec3<u32>) {
  if ((g.x & 1u) == 0u) {
    r[at[g.x]] = g.x * 2654435761u;
  } else {
    r[at[g.x]] = g.x + 17u;
  }
}
"""
PLACES = ("scatter.wgsl:6:5", "scatter.wgsl:8:5")
N = 1024
h.write("scatter.wgsl", SCATTER.encode())
h.write("scatter.pipe.cfg", b"""pipeline : { name = "scatter"; class = "integer"; inputs : { at : { type = "u32[n]"; }; };
  jobs = ( { id = "place"; shader = "scatter.wgsl"; dispatch = ( "n/64" ); in : { at = "$at"; };
             out : { r = "u32[n]"; }; } );
  outputs : { r = "place.r"; }; };
""")
PIPE = h.path("scatter.pipe.cfg")
order = [(i * 389 + 5) % N for i in range(N)]
GOOD = h.write("good", struct.pack(f"<{N}I", *order))
order[701] = order[36]
BAD = h.write("bad", struct.pack(f"<{N}I", *order))


def policy(name, text):
    return h.write(name, ('policy : { inherits = "%s"; %s };\n' % (os.path.join(POLICY, "default.cfg"), text)).encode())


# trusted is weaker than the default, so it inherits from nothing
TRUSTED = h.write("trusted.cfg", b'policy : { race = "trusted"; };\n')
PROVEN = policy("proven.cfg", 'race = "proven";')
CHEAP = policy("cheap.cfg", "race_cost = 1000;")


def run(data, *more):
    return h.run("run", PIPE, "--in", f"at={data}", *more)


def names_race(name, err):
    return h.check(name, all(p in err for p in PLACES) and "36" in err and "701" in err and '"r"' in err, err)


# ---- run
for backend in ("cpu", "vulkan:0"):
    status, out, err = run(GOOD, "--backend", backend, "--json", "--receipt", h.path("receipt"))
    h.check(f"{backend}: these inputs have none", status == 0, err)
    job = json.loads(out)["jobs"][0] if status == 0 else {}
    h.check(f"{backend}: it was checked", (job.get("race"), job.get("race_evidence")) == ("unproven", "checked"), str(job))
    h.check(f"{backend}: the receipt says so", b'races = "checked"' in h.read("receipt"))
    status, _, err = run(BAD, "--backend", backend, "--json")
    h.check(f"{backend}: these have one", status == 3 and "PC5220" in err, f"{status} {err}")
    names_race(f"{backend}: with both places", err)
    status, _, err = run(BAD, "--backend", backend, "--policy", PROVEN)
    h.check(f"{backend}: proven takes none of it", status == 3 and "PC4311" in err and PLACES[0] in err, err)
    status, _, err = run(GOOD, "--backend", backend, "--policy", CHEAP)
    h.check(f"{backend}: beyond the bound", status == 3 and "PC4311" in err and "race_cost is 1000" in err and
            "raise race_cost" in err and 'race = "trusted"' in err, err)
    status, out, err = run(BAD, "--backend", backend, "--policy", TRUSTED, "--json", "--receipt", h.path("receipt"))
    h.check(f"{backend}: trusted runs", status == 0 and "PC4311" in err and "trusted" in err, err)
    h.check(f"{backend}: and says it was trusted", status == 0 and json.loads(out)["jobs"][0]["race_evidence"] == "trusted")
    h.check(f"{backend}: in the receipt", b'races = "trusted"' in h.read("receipt"))
status, out, err = h.run("receipt", "show", h.path("receipt"))
h.check("receipt show", b"races trusted" in out, out.decode() + err)

# ---- the memo: a checked result is remembered where results are, a trusted one never
memo = [run(data, "--json", *more) for data, more in ((GOOD, ()), (GOOD, ()), (BAD, ("--policy", TRUSTED)),
                                                     (BAD, ("--policy", TRUSTED)))]
h.check("all run", all(m[0] == 0 for m in memo), memo)
remembered = [json.loads(m[1])["memoised"] for m in memo if m[0] == 0]
h.check("nothing trusted is remembered", remembered[1:] == [True, False, False], str(remembered))

# ---- check and shader check name what is certain
h.write("certain.wgsl", b"""@group(0) @binding(0) var<storage, read_write> r : array<u32>;
@compute @workgroup_size(8, 4)
fn main(@builtin(local_invocation_id) l : vec3<u32>) {
  r[5] = l.y;
}
""")
h.write("certain.pipe.cfg", b"""pipeline : { name = "certain"; class = "integer";
  jobs = ( { id = "one"; shader = "certain.wgsl"; dispatch = ( 1 ); out : { r = "u32[16]"; }; } );
  outputs : { r = "one.r"; }; };
""")
for name, args in (("check", ["check", h.path("certain.pipe.cfg")]), ("shader check", ["shader", "check", h.path("certain.wgsl")]),
                   ("run", ["run", h.path("certain.pipe.cfg"), "--backend", "cpu", "--policy", TRUSTED]),
                   ("plan", ["plan", h.path("certain.pipe.cfg"), "--policy", TRUSTED]),
                   ("audit", ["audit", h.path("certain.pipe.cfg"), "--backends", "cpu,vulkan:0", "--policy", TRUSTED])):
    status, _, err = h.run(*args)
    h.check(f"{name} refuses a certain race", status == 3 and "PC4311" in err and err.count("certain.wgsl:4:3") >= 2 and
            'invocations 0 and 8 race for byte 20 of "r"' in err, f"{status} {err}")
status, out, _ = h.run("shader", "check", h.path("scatter.wgsl"), "--json")
found = json.loads(out)["shaders"][0] if status == 0 else {}
h.check("shader check says what is not proved", found.get("race") == "unproven" and
        all(p["file"].endswith("scatter.wgsl") and p["line"] in (6, 8) for p in found["race_places"]), str(found))

# ---- audits
SAME = ["--backends", "cpu,mock:wrap=cpu"]
LIAR = "mock:wrap=cpu+flip-bit@place:element=36:bit=3"
DIFFER = ["--backends", f"cpu,mock:wrap=cpu,{LIAR}"]


def audit(name, want, *args):
    status, out, err = h.run("audit", *args, "--json")
    h.check(f"{name}: exit status", status == want, f"{status}, wanted {want}: {err}")
    return json.loads(out) if out else {}, err


document, err = audit("an audit checks once", 0, PIPE, "--in", f"at={GOOD}", *SAME)
h.check("and says so", document.get("races") == "checked" and document.get("verdict") == "agreed", str(document)[:300])
document, err = audit("an audit of a race", 3, PIPE, "--in", f"at={BAD}", *DIFFER)
names_race("an audit names it before any device runs", err)
h.check("that is a race", "PC5220" in err, err)
document, err = audit("a race that is trusted", 3, PIPE, "--in", f"at={BAD}", *DIFFER, "--policy", TRUSTED)
h.check("blames nobody", document.get("quarantined") == 0 and document.get("verdict") == "race" and
        all(d["outcome"] in ("agrees", "undecided") for d in document["devices"]), str(document.get("devices")))
names_race("and names the race", err)
h.check("in the document too", all(p in (document.get("race") or "") for p in PLACES), str(document.get("race")))
status, out, _ = h.run("audit", PIPE, "--in", f"at={BAD}", *DIFFER, "--policy", TRUSTED)
h.check("and in the text", b"race, and nobody is blamed" in out and b"quarantined" not in out, out.decode())
report = h.path("report")
document, err = audit("a device that differs", 6, PIPE, "--in", f"at={GOOD}", *DIFFER, "--no-quarantine", "--report", report)
h.check("is blamed where the data have no race", [d["outcome"] for d in document["devices"]] == ["agrees", "agrees", "differs"]
        and "PC5612" in err and document["verdict"] == "differs", f"{document.get('verdict')} {document.get('devices')} {err}")
with open(os.path.join(report, "index.html"), encoding="utf-8") as f:
    text = f.read()
h.check("on the page", "differs</div>" in text, text[:2000])
document, err = audit("and with trust too", 6, PIPE, "--in", f"at={GOOD}", *DIFFER, "--no-quarantine", "--policy", TRUSTED)
h.check("once the detector was asked", document.get("races") == "checked" and "PC5612" in err, str(document.get("races")))

# ---- a device that fails: its own word, and no CID
document, err = audit("the first device dies", 9, PIPE, "--in", f"at={GOOD}", "--backends",
                      "mock:wrap=cpu+crash@place,cpu,mock:wrap=cpu", "--report", report)
h.check("failed is not differs", document["verdict"] == "failed" and document["devices"][0]["outcome"] == "failed"
        and "PC5614" in err and "PC5612" not in err, err)
h.check("it has no CID", [r["cid"] is None for r in document["outputs"][0]["runs"] if r["device"].startswith("mock:wrap=cpu+")]
        == [True, True], str(document["outputs"][0]["runs"]))
with open(os.path.join(report, "index.html"), encoding="utf-8") as f:
    text = f.read()
head = text.split("</header>")[0]
h.check("the page's headline", "failed</div>" in head and "mismatch" not in head and "no result" in text, head[-600:])
status, out, err = h.run("audit", PIPE, "--in", f"at={GOOD}", "--backends", "mock:wrap=cpu+crash@place,cpu,mock:wrap=cpu")
h.check("nor one of zeros in the text", status == 9 and b"failed: nothing differs" in out and b"place.r bafkrei" in out and
        b"bafkreiaaaaaaaaaaaa" not in out, out.decode())
h.finish()
