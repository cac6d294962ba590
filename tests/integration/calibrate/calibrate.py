"""`ledger params calibrate`: what it prints is worked out again here, gas of the plainest kernel by the document's own
rules; it makes no state, changes none, and takes values from the state there is."""
import json
import os
import re

from harness import Harness

h = Harness()
KERNELS = ["arithmetic", "division", "wide", "memory", "barrier", "atomic", "small jobs"]


def calibrate(*args, home=None):
    status, out, err = h.run(*(("--home", home) if home else ()), "--json", "ledger", "params", "calibrate", "--least-ms", "2", *args)
    return status, json.loads(out) if status == 0 else None, err


def fits(name, d, throughput, block_ms=5000, ppm=500000):
    """Everything that follows from the points."""
    for b in d["backends"]:
        points = b["kernels"]
        h.check(f"{name}: kernels of {b['backend']}", [p["kernel"] for p in points] == KERNELS, points)
        for p in points:
            ns, gas = int(p["nanoseconds"]), int(p["gas"])
            want = gas * 10 ** 6 / ns
            h.check(f"{name}: {p['kernel']}", ns > 0 and gas > 0 and abs(int(p["gas_per_ms"]) - want) <= 1 + want * 1e-9, p)
        h.check(f"{name}: the slowest kernel", int(b["gas_per_ms"]) == min(int(p["gas_per_ms"]) for p in points), b)
        small = points[-1]
        # 64 invocations read 4 bytes for 10, add for 1, write 4 for 15; both indices depend on the id and are checked, 1
        # each; 512 bytes of buffers are 16 units.
        h.check(f"{name}: gas of a small job", int(small["gas"]) % int(small["jobs"]) == 0 and
                int(small["gas"]) // int(small["jobs"]) in (64 * 26 + 16, 64 * 28 + 16), small)
    least = min(d["backends"], key=lambda b: int(b["gas_per_ms"]))
    h.check(f"{name}: the slowest backend", d["slowest"] == least["backend"] and d["throughput"] == least["gas_per_ms"], d["slowest"])
    h.check(f"{name}: in force", int(d["throughput_in_force"]) == throughput and int(d["block_time_ms"]) == block_ms and
            int(d["utilisation_ppm"]) == ppm, d)
    h.check(f"{name}: budget", int(d["block_gas"]) == int(d["throughput"]) * block_ms * ppm // 10 ** 6, d["block_gas"])
    h.check(f"{name}: proposal", d["propose"] == f"pipectl ledger params propose throughput={d['throughput']} "
            "--from ACCOUNT --at HEIGHT", d["propose"])


def named():
    status, d, err = calibrate("--backend", "cpu", "--backend", "mock:wrap=cpu+slow=5@1")
    if not h.check("named backends", status == 0, err):
        return
    h.check("as they were named", [b["backend"] for b in d["backends"]] == ["cpu", "mock:wrap=cpu+slow=5@1"], d)
    fits("named", d, 100000)
    h.check("no state was made", not os.path.exists(os.path.join(h.path("home"), "chain")), os.listdir(h.path("home")))


def genesis():
    """Before there is a state the measured throughput is what the chain begins with; afterwards it takes a proposal."""
    home = h.path("genesis")
    status, d, err = calibrate("--backend", "cpu", "--genesis", home=home)
    if not h.check("genesis", status == 0, err):
        return
    h.check("the file is named", d["genesis"] == os.path.join(home, "chain", "params.cfg") and d["propose"] is None, d["genesis"])
    status, out, err = h.run("--home", home, "--json", "ledger", "params", "list")
    values = {p["name"]: p["value"] for p in json.loads(out)["params"]} if status == 0 else {}
    h.check("the chain begins with it", values.get("throughput") == d["throughput"] and values.get("block_time_ms") == "5000", err)
    status, _, err = calibrate("--backend", "cpu", "--genesis", home=home)
    h.check("but only once", status == 3 and "PC5723" in err, f"{status} {err}")


def fast_device():
    """Dispatches grow until they take long enough, or to the most that there is room for: never beyond."""
    status, out, err = h.run("--json", "ledger", "params", "calibrate", "--least-ms", "150", "--backend", "vulkan:llvmpipe")
    if not h.check("a fast device", status == 0, err):
        return
    d = json.loads(out)
    fits("fast", d, 100000)
    points = {p["kernel"]: p for p in d["backends"][0]["kernels"]}
    h.check("many workgroups, not too many", 4096 <= int(points["memory"]["groups"]) <= 32768, points["memory"])


def by_policy():
    policy = h.write("only.cfg", b'policy : { inherits = "' + os.path.abspath(os.path.join(
        os.path.dirname(h.pipectl), "..", "conf", "policy", "default.cfg")).encode() + b'"; backends : { allowed = ( "cpu" ); }; };')
    status, out, err = h.run("ledger", "params", "calibrate", "--least-ms", "0", "--policy", policy)
    text = out.decode()
    h.check("by policy", status == 0 and text.count("cpu:0 ") >= len(KERNELS) and "opencl" not in text, text + err)
    h.check("as text", re.search(r"slowest: cpu:0 .*\n.*\npipectl ledger params propose throughput=\d+ ", text) is not None, text)


def in_force():
    """The values of the state count, and calibrating leaves its bytes alone."""
    home = h.path("other")
    os.makedirs(os.path.join(home, "chain"))
    shipped = os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg")
    with open(shipped, encoding="utf-8") as f:
        text = f.read()
    with open(os.path.join(home, "chain", "params.cfg"), "w", encoding="utf-8") as f:
        f.write(text.replace('block_time_ms = "5000"', 'block_time_ms = "400"'))
    status, d, err = calibrate("--backend", "cpu", home=home)
    h.check("of the file", status == 0 and d["block_time_ms"] == "400", err)
    status, _, err = h.run("--home", home, "ledger", "credit", "alice", "5")
    h.check("a state", status == 0, err)
    os.remove(os.path.join(home, "chain", "params.cfg"))
    before = h.run("--home", home, "--json", "ledger", "show")
    status, d, err = calibrate("--backend", "cpu", home=home)
    if h.check("of the state", status == 0, err):
        fits("state", d, 100000, block_ms=400)
    h.check("nothing changed", h.run("--home", home, "--json", "ledger", "show") == before, before)


def suite():
    """A kernel for each row: gas is the sum of units times rows, and what a schedule misjudges is named."""
    schedule = os.path.join(os.path.dirname(h.pipectl), "..", "conf", "gas", "consensus-2.cfg")
    with open(schedule, encoding="utf-8") as f:
        text = f.read()
    # Atomics for next to nothing.
    cheap, n = re.subn(r'(\n    atomic = )"\d+"', r'\1"1"', text)
    path = h.write("cheap.cfg", cheap.encode())
    status, out, err = h.run("--json", "ledger", "params", "calibrate", "--suite", "--gas", path, "--spread", "20", "--least-ms", "1", "--backend", "cpu")
    # Every kernel that is too cheap is named, so that another one, disturbed on a busy machine, hides none.
    named = "\n".join(line for line in err.splitlines() if re.search(r'PC2605.*cpu: "atomic', line))
    h.check("a row that is too low", n == 1 and status == 7 and named.count("PC2605") > 1, err)
    h.planted("a schedule with atomics for next to nothing", "gas spread", "PC2605 gas-spread", named)
    d = json.loads(out)
    rows = {r: int(v) for r, v in d["rows"].items()}
    kernels = d["backends"][0]["kernels"]
    h.check("many kernels, of many rows", len(kernels) > 80 and len({k["row"] for k in kernels}) > 60 and all(k["row"] in rows for k in kernels), len(kernels))
    for k in kernels:
        # Whatever a row is, one more of it adds its units; weights that multiply opcodes' counts are in these already.
        parts = sum(int(n) * rows[r] for r, n in k["units"].items() if r not in ("integer", "division", "atomic"))
        h.check(f"units of {k['kernel']}", 0.9 * int(k["parts"]) <= parts <= 1.1 * int(k["parts"]) and
                int(k["gas"]) == -(-int(k["parts"]) // rows["parts"]), (parts, k))
    status, out, err = h.run("ledger", "params", "calibrate", "--suite", "--spread", "1000000", "--least-ms", "0", "--backend", "cpu")
    text = out.decode()
    h.check("as text", status == 0 and "version 1" in text and re.search(r'cpu: version 1 [\d.e+]+ \(".*" to ".*"\), now [\d.e+]+', text) is not None, text[-600:] + err)
    for name, args in (("a spread of nothing", ["--suite", "--spread", "0"]), ("a spread without the suite", ["--spread", "20"]),
                       ("a schedule without the suite", ["--gas", path])):
        status, _, err = h.run("ledger", "params", "calibrate", "--backend", "cpu", *args)
        h.check(name, status == 2 and "PC0010" in err, err)


def refusals():
    for name, code, status, args in (
            ("zero results", "PC5832", 6, ["--backend", "mock:wrap=cpu+zero"]),
            ("no such device", "PC5830", 5, ["--backend", "vulkan:no such device"]),
            ("too long", "PC0010", 2, ["--backend", "cpu", "--least-ms", "60001"]),
            ("an argument", "PC0010", 2, ["--backend", "cpu", "throughput"])):
        got, _, err = h.run("ledger", "params", "calibrate", "--least-ms", "0", *args)
        h.check(name, got == status and code in err, f"exit status {got}\n{err}")
        if name == "zero results":
            h.planted("mock zero: outputs are zero", "throughput", f"{code} calibration", err)


named()
genesis()
fast_device()
by_policy()
in_force()
suite()
refusals()
h.finish()
