"""What the verbs print: JSON that parses with its schema, CIDs that agree between backends, memo, repeat, verify."""
import hashlib
import base64
import json
import os
import struct

from harness import Harness

REPEAT = """pipeline : {
  name = "doubling"; class = "integer";
  params : { times = 5; };
  inputs : { x : { type = "u32[n]"; }; one : { type = "u32[n]"; }; };
  jobs = ( { id = "twice"; op = "int.add@1"; in : { a = "$x"; b = "$one"; };
             repeat : { count = "$times"; carry : { a = "y"; }; }; } );
  outputs : { y = "twice.y"; };
};
"""


def cid_of(data):
    raw = b"\x01\x55\x12\x20" + hashlib.sha256(data).digest()
    return "b" + base64.b32encode(raw).decode().lower().rstrip("=")


def repeats(h):
    pipeline = h.write("repeat.cfg", REPEAT.encode())
    x = h.write("x.bin", struct.pack("<300I", *range(300)))
    one = h.write("one.bin", struct.pack("<300I", *([7] * 300)))
    for times in (0, 1, 2, 3, 8, 301):
        want = struct.pack("<300I", *(i + 7 * times for i in range(300)))
        for backend in ("cpu", "vulkan:llvmpipe", "opencl:portable"):
            status, out, err = h.run("--json", "run", pipeline, "--in", "x=" + x, "--in", "one=" + one, "--set", f"times={times}",
                                     "--backend", backend, "--out", "y=" + h.path("y"))
            if h.check(f"{times} rounds, {backend}", status == 0, err):
                h.check_bytes(f"{times} rounds, {backend}", h.read("y"), want, 4)
                h.check("the CID is that of the bytes", json.loads(out)["outputs"][0]["cid"] == cid_of(want), out)


def memo(h):
    pipeline = h.write("repeat.cfg", REPEAT.encode())
    x = h.write("x.bin", struct.pack("<16I", *range(16)))
    args = ["--json", "run", pipeline, "--in", "x=" + x, "--in", "one=" + x]
    first = json.loads(h.run(*args, "--backend", "cpu")[1])
    second = json.loads(h.run(*args)[1])
    named = json.loads(h.run(*args, "--backend", "cpu")[1])
    fresh = json.loads(h.run(*args, "--no-memo")[1])
    other = json.loads(h.run(*args, "--set", "times=6")[1])
    h.check("the first run computes", not first["memoised"] and len(first["jobs"]) == 1, str(first))
    h.check("the second remembers", second["memoised"] and second["outputs"][0]["cid"] == first["outputs"][0]["cid"], str(second))
    h.check("a named backend never reads the memo", not named["memoised"], str(named))
    h.check("--no-memo computes", not fresh["memoised"], str(fresh))
    h.check("another parameter is another question", not other["memoised"], str(other))
    h.check("gas is the same, remembered or not", first["gas"] == second["gas"], first["gas"] + " " + second["gas"])


def verify(h):
    pipeline = h.write("repeat.cfg", REPEAT.encode())
    x = h.write("x.bin", struct.pack("<16I", *range(16)))
    status, out, err = h.run("--json", "run", pipeline, "--in", "x=" + x, "--in", "one=" + x, "--backend", "vulkan:llvmpipe",
                             "--verify", "all", "--receipt", h.path("receipt"))
    document = json.loads(out)
    h.check("verified against the reference", status == 0 and document["jobs"][0]["verified"], err)
    status, out, err = h.run("--json", "run", pipeline, "--in", "x=" + x, "--in", "one=" + x, "--backend", "cpu", "--verify", "all")
    document = json.loads(out)
    h.check("the reference does not verify itself, and says so", status == 0 and not document["jobs"][0]["verified"] and
            document["diagnostics"][0]["code"] == "PC5209", out)
    receipt = json.loads(h.run("--json", "receipt", "show", h.path("receipt"))[1])
    h.check("the receipt names the inputs", receipt["inputs"][0]["cid"] == cid_of(h.read("x.bin")), str(receipt))


def documents(h):
    for args in (["version"], ["plugin", "list"], ["device", "list"], ["op", "list"], ["op", "show", "int.add"], ["doctor"],
                 ["explain"], ["cas", "ls"], ["cas", "verify"], ["cas", "gc", "--dry-run"], ["plugin", "show", "cpu"]):
        status, out, err = h.run("--json", *args)
        try:
            document = json.loads(out)
        except ValueError:
            document = {}
        verb = args[0] if args[0] in ("version", "doctor", "explain") else ".".join(args[:2])
        h.check("json of " + " ".join(args), status == 0 and document.get("schema") == f"pipectl.{verb}/1", err)
    status, out, _ = h.run("help")
    h.check("help", status == 0 and b"usage: pipectl" in out)
    for shell in ("bash", "zsh", "fish"):
        h.check("completion of " + shell, h.run("completion", shell)[0] == 0)
    h.check("manual pages", h.run("man")[0] == 0 and h.run("man", "run")[0] == 0)
    shipped = sorted(os.path.join(os.environ["PIPELINES"], f) for f in os.listdir(os.environ["PIPELINES"]) if f.endswith(".cfg"))
    status, _, err = h.run("check", *shipped)
    h.check("every shipped pipeline passes check", status == 0 and shipped, err)


def main():
    h = Harness()
    repeats(h)
    memo(h)
    verify(h)
    documents(h)
    h.finish()


main()
