"""`run --report DIR`: a page, the document of the run and a trace. The trace is JSON whose events lie one in another and within
the run's time, with every job in it; the page is well-formed, says what was remembered, and whatever comes from outside is text
there; run.json is what --json prints; a directory that holds something is refused, and the run itself goes as without."""
import json
import os
import struct
from xml.etree import ElementTree

from harness import Harness

N = 64
# A line that costs gas and closes every element it could stand in.
HOSTILE = "</code></td></table><script>alert('x')</script>&quot;"
WGSL = """@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  y[id.x] = x[id.x] * %du + 1u; // %s
}
"""
FILE = "a<b>&'c'.wgsl"
PIPELINE = """pipeline : { name = "two"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };
  jobs = ( { id = "first"; shader = "%s"; dispatch = ( 1 ); in : { x = "$x"; }; out : { y = "u32[64]"; }; },
           { id = "second"; shader = "second.wgsl"; dispatch = ( 1 ); in : { x = "first.y"; }; out : { y = "u32[64]"; }; },
           { id = "third"; op = "int.not@1"; in : { x = "second.y"; }; } );
  outputs : { y = "third.y"; }; };
"""
JOBS = ["first", "second", "third"]
FILES = ["gas.json", "index.html", "run.json", "trace.json"]
INSIDE = {"upload", "dispatch", "check"}


def spans(trace):
    """Whole nanoseconds: begin, end, name, thread."""
    return [(round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000), e["name"], e["tid"]) for e in trace["traceEvents"] if e["ph"] == "X"]


def trace_faults(trace, jobs, name, wall_ns):
    """What is wrong with a trace of a run of these jobs, in words."""
    found = []
    threads = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
    if sorted(threads.values()) != sorted(jobs + [name]):
        found.append(f"threads are {threads}")
    if len({e["pid"] for e in trace["traceEvents"]}) != 1 or not any(e["name"] == "process_name" for e in trace["traceEvents"]):
        found.append("no process with a name")
    all_spans = spans(trace)
    whole = [s for s in all_spans if s[2] == name]
    if len(whole) != 1 or whole[0][0] != 0 or abs(whole[0][1] - wall_ns) > 1:
        found.append(f"the run is {whole}, its time {wall_ns}")
    for begin, end, what, thread in all_spans:
        if thread not in threads:
            found.append(f"{what} is of thread {thread}, which has no name")
        if begin < 0 or end < begin or end > wall_ns + 1:
            found.append(f"{what}: {begin} to {end} of {wall_ns}")
    for i, a in enumerate(all_spans):
        for b in all_spans[i + 1:]:
            if a[3] == b[3] and a[0] < b[1] - 1 and b[0] < a[1] - 1 and not (a[0] <= b[0] + 1 and b[1] <= a[1] + 1) \
                    and not (b[0] <= a[0] + 1 and a[1] <= b[1] + 1):
                found.append(f"{a} and {b} overlap")
    return found


def stages(trace, job):
    thread = next(e["tid"] for e in trace["traceEvents"] if e["name"] == "thread_name" and e["args"]["name"] == job)
    return {s[2] for s in spans(trace) if s[3] == thread}


def page_faults(text):
    """What is wrong with a page, in words; its texts lie in it as text."""
    try:
        page = ElementTree.fromstring(text.split("\n", 1)[1])
    except ElementTree.ParseError as e:
        return [f"not well-formed: {e}"]
    return [f"<{x.tag}> stands in it" for x in page.iter() if x.tag in ("script", "link", "img", "b")]


def texts(text):
    return "".join(ElementTree.fromstring(text.split("\n", 1)[1]).itertext())


h = Harness()
h.write(FILE, (WGSL % (3, HOSTILE)).encode())
h.write("second.wgsl", (WGSL % (5, "second")).encode())
pipeline, x = h.write("two.pipe.cfg", (PIPELINE % FILE).encode()), h.write("x", struct.pack(f"<{N}I", *range(N)))
quiet = h.write("quiet.cfg", b'policy : { telemetry = "off"; backends : { order = ( "cpu" ); }; };')
RUN = ["run", pipeline, "--in", "x=" + x]


def report(name, *args, want=0):
    """The files of a report: the trace, the page and the document; and standard output."""
    place = h.path(name)
    status, out, err = h.run(*args, "--report", place)
    h.check(f"{name}: status", status == want, f"{status} {err}")
    h.check(f"{name}: files", sorted(os.listdir(place)) == FILES, str(os.listdir(place)))
    got = {f: h.read(os.path.join(place, f)).decode() for f in FILES}
    h.check(f"{name}: page", not page_faults(got["index.html"]), str(page_faults(got["index.html"])))
    return json.loads(got["trace.json"]), got["index.html"], got["run.json"], out


# Run for the first time on the reference: the same answer as without a report.
fresh = [*RUN, "--backend", "cpu", "--no-memo"]
status, plain, _ = h.run(*fresh, "--out", "y=" + h.path("y"))
h.check("without a report", status == 0)
trace, page, document, out = report("r1", *fresh, "--out", "y=" + h.path("y1"))
h.check("the run says the same", out == plain)
h.check_bytes("and gives the same", h.read("y1"), h.read("y"), 4)
right = b"".join(struct.pack("<I", ~((3 * i + 1) * 5 + 1) & 0xffffffff) for i in range(N))
h.check_bytes("which is right", h.read("y1"), right, 4)
run = json.loads(document)
wall = round(run["seconds"] * 1e9)
h.check("trace", not trace_faults(trace, JOBS, "two", wall), str(trace_faults(trace, JOBS, "two", wall)))
for job in JOBS:
    h.check(f"{job} has its stages", INSIDE | {"build", "run"} <= stages(trace, job), str(stages(trace, job)))
h.check("the outputs were hashed", "hash" in stages(trace, "third"))
h.check("the run has its stages", {"inputs", "recall", "choose", "store"} <= stages(trace, "two"), str(stages(trace, "two")))
for word in (run["outputs"][0]["cid"], run["outputs"][0]["evidence"], run["gas"], FILE, HOSTILE, *(j["gas"] for j in run["jobs"]), *JOBS,
             *(d["why"] for d in run["devices_tried"]), "--no-memo"):
    h.check(f"the page has {word[:40]}", word in texts(page))
plan = json.loads(h.run("--json", "plan", *RUN[1:])[1])
h.check("gas is that of the plan", [j["gas"] for j in plan["jobs"]] == [j["gas"] for j in run["jobs"]])
gas = json.loads(h.read("r1/gas.json"))
h.check("gas.json has the run's", gas["gas"] == run["gas"] and [(j["id"], j["gas"]) for j in gas["jobs"]] == [(j["id"], j["gas"]) for j in run["jobs"]], str(gas))
for job, n in (("first", 3), ("second", 5)):
    lines = {int(line["line"]): line for line in next(j for j in gas["jobs"] if j["id"] == job)["lines"]}
    want = WGSL % (n, HOSTILE if job == "first" else "second")
    h.check(f"{job}: the line that works is priced", list(lines) == [4] and lines[4]["text"] == want.split("\n")[3] and int(lines[4]["gas"]) > 0 and
            (lines[4]["storage_reads_bytes"], lines[4]["storage_writes_bytes"]) == ("4", "4"), str(lines))
h.check("an op has no lines", next(j for j in gas["jobs"] if j["id"] == "third")["lines"] == [])

# Verified on another device: reading and verifying are stages.
trace, page, _, _ = report("r2", *RUN, "--backend", "mock:wrap=cpu", "--verify", "all", "--no-memo")
for job in JOBS:
    h.check(f"{job} was read and verified", {"read", "verify"} <= stages(trace, job), str(stages(trace, job)))

# Remembered: no device, no stage of a job, and what it saved.
POLICY = ["--policy", h.write("cpu.cfg", b'policy : { backends : { order = ( "cpu" ); }; };')]
status, out, err = h.run("--json", *RUN, *POLICY, "--report", h.path("r3"))
h.check("--json and run.json are the same", out == h.read("r3/run.json"), err)
trace, page, document, _ = report("r4", *RUN, *POLICY)
run = json.loads(document)
h.check("all jobs are remembered", run["remembered_jobs"] == 3 and all(j["remembered"] for j in run["jobs"]))
h.check("no job took time", not any(stages(trace, job) - {"hash"} for job in JOBS), str(spans(trace)))
marks = [e for e in trace["traceEvents"] if e["ph"] == "i"]
h.check("jobs are marked as remembered", len(marks) == 3 and {e["name"] for e in marks} == {"remembered"}, str(marks))
h.check("the page says so", f"3 of them were remembered and did not run again, which saved {run['saved_gas']} gas" in texts(page), texts(page)[3000:4000])
h.check("trace of a remembered run", not trace_faults(trace, JOBS, "two", round(run["seconds"] * 1e9)))

# The policy keeps times for itself.
trace, page, document, _ = report("r5", *RUN, "--policy", quiet, "--no-memo")
h.check("no times in the trace", spans(trace) == [])
h.check("none on the page", "svg class=\"timeline\"" not in page and "keeps times for itself" in page)
h.check("none in the document", "seconds" not in document)

# Where it may stand.
os.makedirs(h.path("empty"))
report("empty", *fresh)
report("new/er/r", *fresh)
for name, keep in (("r1", FILES), ("full", ["mine"])):
    if name == "full":
        os.makedirs(h.path(name))
        h.write("full/mine", b"mine")
    before = {f: h.read(os.path.join(name, f)) for f in keep}
    status, out, err = h.run(*fresh, "--report", h.path(name), "--out", "y=" + h.path("none"))
    h.check(f"{name} is refused", status == 1 and "PC0024" in err and out == b"" and not os.path.exists(h.path("none")), f"{status} {err}")
    h.check(f"{name} stays", {f: h.read(os.path.join(name, f)) for f in os.listdir(h.path(name))} == before)
status, _, err = h.run(*fresh, "--report", x)
h.check("a file is no directory", status == 1 and "PC0024" in err and len(h.read("x")) == 4 * N, f"{status} {err}")
status, _, err = h.run(*fresh, "--gas-limit", "1", "--report", h.path("failed"))
h.check("a run that fails leaves none", status == 7 and not os.path.exists(h.path("failed")), f"{status} {err}")
h.check("nothing lies beside", not [f for f in os.listdir(h.dir) if f.startswith(("r1.", "full.", "failed", "empty.", "r5."))], str(os.listdir(h.dir)))

# The checks above see faults.
trace, page, document, _ = report("good", *fresh)
wall = round(json.loads(document)["seconds"] * 1e9)
h.check("good", not trace_faults(trace, JOBS, "two", wall))
h.check("a job that is missing is seen", trace_faults({"traceEvents": [e for e in trace["traceEvents"] if e["tid"] != 2]}, JOBS, "two", wall))
late = json.loads(json.dumps(trace))
next(e for e in late["traceEvents"] if e["name"] == "dispatch")["ts"] += wall / 1000
h.check("an event past the end is seen", trace_faults(late, JOBS, "two", wall))
across = json.loads(json.dumps(trace))
# It ends in the midst of the longest event within it that begins behind it.
cut = next(e for e in across["traceEvents"] if e["name"] == "run")
within = max((e for e in across["traceEvents"] if e is not cut and e.get("tid") == cut["tid"] and "dur" in e and cut["ts"] + 0.01 < e["ts"] and e["ts"] + e["dur"] <= cut["ts"] + cut["dur"]),
             key=lambda e: e["dur"])
cut["dur"] = within["ts"] + within["dur"] / 2 - cut["ts"]
h.check("events that overlap are seen", trace_faults(across, JOBS, "two", wall))
h.check("a text that is no text is seen", page_faults(page.replace("&lt;script&gt;", "<script>").replace("&lt;/script&gt;", "</script>")))
h.finish()
