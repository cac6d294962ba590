"""Listings: on a terminal of 40, 60, 80 and 200 columns no line is wider than it, but for a word that is (a CID is never parted),
and all that a script is given stands there; without a terminal every row is the line that scripts have always been given,
whatever COLUMNS says."""
import json
import os
import re
import struct
import unicodedata

from harness import Harness

WIDTHS = (40, 60, 80, 200)

PIPELINE = """pipeline : { name = "wide"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };
  jobs = ( { id = "a_job_with_a_long_name"; op = "int.not@1"; in : { x = "$x"; }; } );
  outputs : { y = "a_job_with_a_long_name.y"; }; };
"""

SHADER = b"""//# max dispatch = 64, 1, 1
@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) g : vec3<u32>) { b[g.x] = ~a[g.x]; }
"""


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def world(h):
    """A home with something to list; a sender, a description and a tag that take two columns a character."""
    run = lambda *args: h.run(*args)
    run("ledger", "credit", "archivist", "1000000000")
    status, out, err = run("--json", "shader", "upload", "--sender", "archivist", "--description", "反転 — すべてのビットを反転する計算シェーダー",
                           "--tag", "logic", h.write("s.wgsl", SHADER))
    h.check("a shader with wide words", status == 0, err)
    shader = json.loads(out)["shader"]
    run("shader", "alias", "--sender", "archivist", "invert", shader)
    a = run("cas", "put", h.write("a", struct.pack("<16I", *range(16))))[1].decode().strip()
    status, out, err = run("--json", "job", "submit", "--sender", "archivist", "--shader", shader, "--input", a, "--dispatch", "8",
                           "--output-bytes", "32", "--gas-limit", "1000000")
    h.check("a job", status == 0, err)
    run("block", "end", "--backend", "cpu", "--executor", "node")
    return json.loads(out)["job"]


def at(h, columns, args):
    status, text = h.terminal(*args, columns=columns, shown="out")
    return status, text.decode("utf-8").replace("\r\n", "\n").split("\r\x1b[K")[-1]


def timeless(text):
    """Without what took how long, which is never the same."""
    return re.sub(r" *[\d.]+ (ns|us|ms|s)\b", "", text)


def listing(h, name, args, rows):
    """rows: the pattern of each line that a script is given."""
    status, piped, err = h.run(*args)
    plain = piped.decode()
    h.check(f"{name}: goes", status in (0, 6) and plain, err)
    bad = [line for line in plain.splitlines() if not re.fullmatch(rows, line)]
    h.check(f"{name}: a script is given the lines it knows", not bad, str(bad[:3]))
    h.env["COLUMNS"] = "40"
    h.check(f"{name}: COLUMNS is no terminal", timeless(h.run(*args)[1].decode()) == timeless(plain))
    del h.env["COLUMNS"]
    for columns in WIDTHS:
        status, text = at(h, columns, args)
        over = [line for line in text.splitlines() if width(line) > columns and len(line.split()) > 1
                and max(map(width, line.split())) + 20 < columns]
        h.check(f"{name} at {columns}: fits", not over, "\n".join(over[:4]))
        words = [w for w in re.findall(r"[\w.:@]{4,}", timeless(plain)) if w not in text]
        h.check(f"{name} at {columns}: nothing is lost", not [w for w in words if w not in LITERALS], f"{words[:5]}\n{text[:600]}")


# Words between the cells of a script's line, which stand in heads.
LITERALS = {"clock", "reserved", "bond", "decision", "height", "alias", "output", "complete", "failed", "deferred", "operation", "device"}
CID = r"bafk\w+"


def main():
    h = Harness()
    job = world(h)
    pipeline, x = h.write("wide.pipe.cfg", PIPELINE.encode()), h.write("x", bytes(range(64)))
    listing(h, "device list", ["device", "list"], r"\S+ +(reference|cpu|integrated|discrete|other) +.+ \(.+\).*")
    listing(h, "plugin list", ["plugin", "list"], r"\w+ +(backend|oplib) +\w+ +.+")
    listing(h, "op list", ["op", "list"], r"[\w.]+@\d+ +(function|plan) +.+")
    listing(h, "op support", ["op", "support", "int.not"], r" +Dense .*|[a-z0-9_]+( +(Y|PC\d{4})){12} *|\w+ of [a-z0-9_ ]+: .+|(int\.not@1 x|  works  .*|  refused PC\d+ .*)?")
    listing(h, "certs list", ["certs", "list"], r".*")
    listing(h, "certify --list", ["certify", "--list", "--ops", "int.not@1", "--level", "L1"], r"L\d\w? +\w+ +\S+ +.+")
    listing(h, "cas ls", ["cas", "ls"], CID + r" \d+")
    listing(h, "shader list", ["shader", "list"],
            rf"{CID}  archivist  \[logic\]  反転.*|alias invert decision \d+: {CID} by archivist at height \d+")
    listing(h, "job list", ["job", "list"], rf"[0-9a-f]{{64}} complete clock 1 gas \d+ by archivist output {CID}")
    listing(h, "job show", ["job", "show", job], r"[0-9a-f]{64} complete clock .*|  shader .*")
    listing(h, "block list", ["block", "list"], r"1 clock \d+ complete 1 failed 0 deferred 0 gas \d+ [0-9a-f]{40}")
    listing(h, "block show", ["block", "show"], r".*")
    listing(h, "ledger show", ["ledger", "show"], r"\S+ \d+ reserved \d+ bond \d+|(supply|treasury|burned) +\d+|chain +[0-9a-f]{64}")
    listing(h, "ledger params list", ["ledger", "params", "list"], r"[a-z_0-9]+ +\S+  \(\S+ to \S+\) .+")
    listing(h, "provenance", ["provenance", "job:" + job], r".*")
    listing(h, "plan", ["plan", pipeline, "--in", "x=" + x, "--backend", "cpu"], r".*")
    listing(h, "audit", ["audit", pipeline, "--in", "x=" + x, "--backends", "cpu,mock:wrap=cpu", "--no-quarantine"], r".*")
    listing(h, "doctor", ["doctor"], r".*")
    h.finish()


if __name__ == "__main__":
    main()
