"""`shader tune`: what every line does, counted; what the dispatch takes, by a clock that can be believed; and what is refused."""
import json
import re
import struct

from harness import Harness

SHADER = b"""@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> o: array<u32>;
override turns: u32 = 4u;
var<workgroup> w: array<u32, 64>;
fn twice(x: u32) -> u32 {
	return x * 2u;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_index) l: u32) {
	var sum = 0u;
	for (var i = 0u; i < turns; i++) {
		sum += a[g.x] / (i + 1u);
	}
	w[l] = sum;
	workgroupBarrier();
	if (g.x % 2u == 0u) {
		o[g.x] = twice(w[63u - l]);
		return;
	}
	while (sum > 7u) {
		sum -= 1u + a[2];
	}
	o[g.x] = sum;
}
@compute @workgroup_size(64) fn other(@builtin(global_invocation_id) g: vec3<u32>) { o[g.x] = a[g.x]; }
"""
FLOATS = b"""@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) { o[g.x] = sqrt(f32(g.x)) * o[g.x]; }
"""
# Two overrides that change how, and one that changes what; a race by which the size of workgroups shows.
SWEPT = b"""override wg: u32 = 64u;
override unroll: u32 = 1u;
override scale: u32 = 3u;
@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(wg)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {
	var sum = 0u;
	for (var i = 0u; i < 16u; i += unroll) {
		for (var k = 0u; k < unroll; k++) { sum += (i + k) * scale; }
	}
	if (g.x < arrayLength(&o)) { o[g.x] = sum + g.x; }
}
"""
RACY = b"""override wg: u32 = 64u;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(wg) fn main(@builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_index) l: u32) {
	o[a[g.x]] = l;
}
"""
N = 256
# No table knows the mock: of one that may take more turns than any device does, its limits are searched for, two seconds of a processor.
MOCK = ["--max-turns", "4000", "--backend"]


def line(document, n):
    return next((x for x in document["lines"] if x["line"] == n), {})


class Tune(Harness):
    def __init__(self):
        super().__init__()
        self.shader = self.write("kernel.wgsl", SHADER)
        self.data = self.write("a.bin", struct.pack(f"<{N}I", *range(N)))
        self.given = ["--entry", "main", "--dispatch", "4", "--bind", "a=" + self.data, "--bind", f"o=zero:{4 * N}"]

    def tune(self, *args):
        return self.run("shader", "tune", self.shader, *self.given, *args)

    def document(self, name, *args):
        status, out, err = self.run("--json", "shader", "tune", self.shader, *self.given, *args)
        self.check(f"{name}: ends well", status == 0, err + out.decode())
        return json.loads(out)

    def counts(self):
        d = self.document("counts", "--backend", "cpu")
        self.check("schema", d["schema"] == "pipectl.shader.tune/1", d["schema"])
        self.check("what ran", (d["entry"], d["groups"], d["workgroup_size"], d["invocations"]) ==
                   ("main", [4, 1, 1], [64, 1, 1], str(N)), str(d)[:400])
        self.check("by the reference", d["counted_by"].startswith("cpu:0"), d["counted_by"])
        for n, runs in ((12, 4 * N), (14, N), (17, N // 2), (18, N // 2), (23, N // 2)):
            self.check(f"line {n} runs {runs} times", line(d, n).get("runs") == str(runs), str(line(d, n)))
        self.check("the test runs once more than the body", line(d, 11)["runs"] == str(5 * N), str(line(d, 11)))
        self.check("a division a turn", line(d, 12)["slow"] == str(4 * N) and line(d, 12)["loads"] == str(4 * N), str(line(d, 12)))
        self.check("bytes", line(d, 12)["read_bytes"] == str(16 * N) and line(d, 23)["write_bytes"] == str(2 * N), str(line(d, 23)))
        self.check("workgroup memory", line(d, 14)["shared_bytes"] == str(4 * N), str(line(d, 14)))
        self.check("a function's line", line(d, 6)["runs"] == str(N // 2), str(line(d, 6)))
        for key in ("integer", "slow", "loads", "stores", "read_bytes", "write_bytes", "shared_bytes", "barriers"):
            sums = sum(int(x[key]) for x in d["lines"]) + int(d["elsewhere"][key])
            self.check(f"total of {key}", sums == int(d["total"][key]), f"{sums} {d['total'][key]}")
        turns = sum((sum(x // i for i in range(1, 5)) - 8) // 3 + 1 for x in range(1, N, 2) if sum(x // i for i in range(1, 5)) > 7)
        self.check("the loop that nothing bounds", line(d, 21)["runs"] == str(turns), f"{line(d, 21)} {turns}")
        self.check("least bytes", d["least_bytes"] == str(8 * N), d["least_bytes"])
        self.check("it is told to take turns", [r["line"] for r in d["remarks"] if r["kind"] == "turns"] == [20], str(d["remarks"]))
        self.check("no blocks unasked", "blocks" not in d)
        return d

    def flags(self, first):
        d = self.document("--override", "--backend", "cpu", "--override", "turns=7")
        self.check("--override: more turns", line(d, 12)["runs"] == str(7 * N), str(line(d, 12)))
        d = self.document("--blocks", "--backend", "cpu", "--blocks")
        self.check("--blocks: as much as lines", sum(int(b["loads"]) for b in d["blocks"]) == int(d["total"]["loads"]))
        self.check("--blocks: functions", {b["function"] for b in d["blocks"]} == {"main", "twice"}, str(d["blocks"])[:300])
        d = self.document("--counts none", "--backend", "cpu", "--counts", "none")
        self.check("--counts none: no lines", "lines" not in d and d["counted_by"] is None and int(d["time"]["median_ns"]) > 0, str(d)[:300])
        d = self.document("--counts device", "--backend", "opencl", "--counts", "device")
        self.check("--counts device: by it", d["counted_by"].startswith("opencl:"), d["counted_by"])
        self.check("--counts device: the same", d["lines"] == first["lines"] and d["total"] == first["total"], str(d["lines"])[:400])
        self.check("indices that are checked", any(r["kind"] == "guard" and r["line"] == 12 for r in d["remarks"]), str(d["remarks"]))
        d = self.document("--repeat", "--backend", "opencl", "--repeat", "4")
        self.check("--repeat: rounds", d["time"]["rounds"] == 4, str(d["time"]))
        self.check("device time", d["time"]["clock"] == "device" and d["time"]["why"] is None and
                   int(d["time"]["least_ns"]) <= int(d["time"]["median_ns"]) <= int(d["time"]["most_ns"]), str(d["time"]))
        self.check("a copy", int(d["copy_bytes"]) > 0 and int(d["copy"]["median_ns"]) > 0, str(d["copy"]))
        status, out, err = self.run("--json", "shader", "tune", self.shader, "--entry", "other", "--dispatch", "4", "--bind",
                                    "a=" + self.data, "--bind", f"o=zero:{4 * N}", "--backend", "cpu")
        self.check("--entry", status == 0 and [x["line"] for x in json.loads(out)["lines"]] == [25], out.decode()[:300] + err)
        status, _, err = self.tune("--backend", "cpu", "--max-turns", "2")
        self.check("--max-turns", status == 9 and "PC5226" in err, err)
        floats = self.write("floats.wgsl", FLOATS)
        given = [floats, "--dispatch", "1", "--bind", "o=zero:256", "--class", "approximate"]
        status, _, err = self.run("shader", "tune", *given[:-1], "integer", "--backend", "cpu")
        self.check("--class", status == 3 and "PC4114" in err, err)
        status, out, err = self.run("--json", "--policy", self.approximate, "shader", "tune", *given, "--backend", "vulkan:0", "--forms", "native")
        self.check("--forms native: not compared", status == 0 and json.loads(out)["compared"] is False, out.decode()[:200] + err)
        status, out, err = self.run("--json", "shader", "tune", *given, "--backend", "vulkan:0")
        self.check("strict: compared", status == 0 and json.loads(out)["compared"] is True, out.decode()[:200] + err)
        helped = self.write("helped.wgsl", b"@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
                            b"@compute @workgroup_size(1) fn main() { o[0] = u32(fixed_mul(1, 2)); }\n")
        status, _, err = self.run("shader", "tune", helped, "--dispatch", "1", "--bind", "o=zero:4", "--with", "nothing")
        self.check("--with", status != 0 and "PC6104" in err, err)

    def text(self):
        status, out, err = self.tune("--backend", "opencl", "--blocks")
        text = out.decode()
        self.check("text", status == 0 and re.search(r"^time +\S+ \S+ by the device's clock, median of \d+", text, re.M) and
                   re.search(r"^copy +\S+ GB/s", text, re.M) and re.search(r"^limit .*of the time$", text, re.M) and
                   re.search(rf"^ +12 +{4 * N} .*sum \+= a\[g\.x\]", text, re.M), text + err)
        self.check("blocks", re.search(r"^ +\d+ .* main 11-11$", text, re.M), text)
        self.check("places", "kernel.wgsl:20:2: nothing bounds this loop" in text, text)

    def sweep(self):
        swept = self.write("swept.wgsl", SWEPT)
        given = [swept, "--bind", f"o=zero:{4 * N}", "--backend", "cpu", "--repeat", "2"]
        sizes = ["--workgroup", "32,64,128", "--override", "unroll=1,2,4"]
        status, out, err = self.run("--json", "shader", "tune", *given, "--invocations", str(N), *sizes)
        d = json.loads(out)
        self.check("a sweep", status == 0, err)
        cases = d["cases"]
        self.check("every combination", sorted(c["case"] for c in cases) ==
                   sorted(f"unroll={u} wg={w}" for u in (1, 2, 4) for w in (32, 64, 128)), str([c["case"] for c in cases]))
        times = [int(c["time"]["median_ns"]) for c in cases]
        self.check("sorted, the best first", times == sorted(times) and [c["best"] for c in cases] == [True] + [False] * 8, str(times))
        self.check("--invocations: as many in each", all(c["invocations"] == str(N) and c["workgroup_size"][0] * c["groups"][0] == N
                                                         for c in cases), str(cases)[:300])
        self.check("--repeat", {c["time"]["rounds"] for c in cases} == {2}, str(cases)[:300])
        status, out, err = self.run("shader", "tune", *given, "--invocations", str(N), *sizes)
        rows = out.decode().splitlines()
        self.check("as text", status == 0 and "9 ways, all with the same bytes" in rows[0] and len(rows) == 11 and
                   rows[2].rstrip().endswith("best") and rows[1].startswith("values"), out.decode() + err)
        for name, more, words in (("another result", ["--invocations", str(N), "--override", "scale=3,5"], "with scale=5 than with scale=3: it is free of races"),
                                  ("another number", ["--dispatch", "2", "--workgroup", "64,128"], "with wg=128 than with wg=64"),):
            status, out, err = self.run("shader", "tune", *given, *more)
            self.check(name, status == 6 and not out and "PC5227" in err and words in err, f"{status} {err}")
            if name == "another result":
                self.planted("a kernel whose override changes its result", "shader tune", "PC5227", err)
        racy = self.write("racy.wgsl", RACY)
        trusting = self.write("trusting.cfg", b'policy : { race = "trusted"; };')
        status, out, err = self.run("--policy", trusting, "shader", "tune", racy, "--bind", "a=zero:256", "--bind", "o=zero:4", "--backend", "cpu",
                                    "--invocations", "64", "--override", "wg=16,64")
        self.check("a race is named", status == 6 and "PC5227" in err and "racy.wgsl:5:2" in err and "not proven free of races" in err, f"{status} {err}")
        kernel = [self.shader, "--entry", "main", "--bind", "a=" + self.data, "--bind", f"o=zero:{4 * N}"]
        for name, args in (("--workgroup of a literal", [*kernel, "--dispatch", "4", "--workgroup", "32,64"]),
                           ("--workgroup of nothing", [*given, "--dispatch", "4", "--workgroup", "32,,64"]),
                           ("--workgroup twice", [*given, "--dispatch", "4", "--workgroup", "32", "--override", "wg=64"]),
                           ("a list with a word", [*given, "--dispatch", "4", "--override", "unroll=1,x"]),
                           ("--dispatch and --invocations", [*given, "--dispatch", "4", "--invocations", "64"]),
                           ("--invocations of nothing", [*given, "--invocations", "0"]),
                           ("--counts of a sweep", [*given, "--dispatch", "4", "--workgroup", "32,64", "--counts", "device"]),
                           ("too many ways", [*given, "--dispatch", "4", "--override", "scale=" + ",".join(map(str, range(257)))])):
            status, out, err = self.run("shader", "tune", *args)
            self.check(name, status == 2 and not out and "PC0010" in err, f"{status} {out} {err}")

    def lies(self):
        for fault, words in (("clock-zero", "no time"), ("clock-back", "backwards"), ("clock-huge", "longer than the host waited")):
            d = self.document(fault, *MOCK, f"mock:wrap=cpu+{fault}", "--repeat", "3")
            said = d["time"]["why"] or ""
            self.check(f"{fault}: not believed", d["time"]["clock"] == "host" and words in said and int(d["time"]["median_ns"]) > 0, str(d["time"]))
            self.planted(f"mock {fault}: timestamps that cannot be", "shader tune", "the host's clock in their place", said)
        d = self.document("an honest mock", *MOCK, "mock:wrap=cpu", "--repeat", "3")
        self.check("an honest mock is believed", d["time"]["clock"] == "device", str(d["time"]))
        for what, fault, args, words in (
                ("counting changes bytes", "flip-bit@shader:binding=0.1:repeat=2", ["--counts", "device"], "when it counts"),
                ("counts that cannot be", "flip-bit@shader:element=2:binding=65537.0:repeat=2", ["--counts", "device"], "invocations of 256"),
                ("bytes of another round", "flip-bit@shader/3:binding=0.1", ["--repeat", "3", "--counts", "none"], "again and again"),
                ("bytes of its own", "flip-bit@shader:binding=0.1", [], "than on the reference")):
            status, _, err = self.tune(*MOCK, f"mock:wrap=cpu+{fault}", *args)
            self.check(what, status == 6 and "PC5208" in err and words in err, f"{status} {err}")
            self.planted(f"mock {fault.split(':')[0]}: {what}", "shader tune", "PC5208", err)

    def refusals(self):
        for name, code, args in (("--counts of nobody", "PC0010", ["--counts", "me"]),
                                 ("no rounds", "PC0010", ["--repeat", "0"]),
                                 ("too many rounds", "PC0010", ["--repeat", "1001"]),
                                 ("rounds that are no number", "PC0010", ["--repeat", "x"]),
                                 ("an override that is not there", "PC2", ["--override", "nothing=1"]),
                                 ("a variable that is not there", "PC4123", ["--bind", "nothing=zero:4"]),
                                 ("a device that is not there", "PC3231", ["--backend", "opencl:77"])):
            status, out, err = self.tune(*args)
            codes = set(re.findall(r"error: (PC\d+)", err))
            self.check(name, status != 0 and not out and len(codes) == 1 and code in codes.pop(), f"{status} {out} {err}")
        status, _, err = self.run("shader", "tune", self.shader, "--entry", "main", "--dispatch", "1", "--bind", "a=-", "--bind", "o=zero:4")
        self.check("standard input", status == 2 and "PC0010" in err and "standard input" in err, err)
        status, _, err = self.run("shader", "tune", self.shader, "--entry", "main", "--dispatch", "1", "--bind", "o=zero:4")
        self.check("unbound", status == 3 and "PC4103" in err, err)

    def nothing_stored(self):
        status, _, err = self.run("cas", "verify")
        self.check("the store is whole", status == 0, err)
        status, out, _ = self.run("cas", "ls")
        self.check("nothing is stored", status == 0 and out == b"", out.decode())


def main():
    h = Tune()
    first = h.counts()
    h.flags(first)
    h.text()
    h.sweep()
    h.lies()
    h.refusals()
    h.nothing_stored()
    h.finish()


main()
