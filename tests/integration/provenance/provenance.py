"""`pipectl provenance`, `cas export` and `cas import`: outputs worked out here, archives read by car.py."""
import json
import os
import sqlite3
import struct
import sys
from xml.etree import ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import car  # noqa: E402
from harness import Harness  # noqa: E402

h = Harness()

ADD = b"""//# max dispatch = 1024,1,1
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(1) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  o[id.x] = a[id.x] * 3u + b[id.x];
}
"""


def name(data):
    return car.text(car.cid_of(data))


def compute(a, b):
    return struct.pack("<8I", *((x * 3 + y) & 0xFFFFFFFF for x, y in zip(struct.unpack("<8I", a), struct.unpack("<8I", b))))


def run(what, *args, status=0, code=""):
    got, out, err = h.run(*args)
    h.check(what, got == status and code in err, f"exit status {got}\n{err}")
    return out.decode()


def answer(what, *args, **more):
    out = run(what, "--json", *args, **more)
    return json.loads(out) if out.strip() else {}


def submit(what, first, second):
    return answer(what, "job", "submit", "--shader", name(ADD), "--input", first, "--bind", f"0:2={second}", "--dispatch",
                  "2", "--gas-limit", "100000", "--output-bytes", "32", "--sender", "ann")["job"]


def make_chain():
    """x, y given. j1: x y -> A; j2: A(of j1) y -> B; next block: j3: B A -> C; j4: x y -> A again."""
    x, y = struct.pack("<8I", *range(8)), struct.pack("<8I", *(7 * i + 0xFFFFFFF0 & 0xFFFFFFFF for i in range(8)))
    a = compute(x, y)
    b = compute(a, y)
    c = compute(b, a)
    answer("credit", "ledger", "credit", "ann", "10_000_000")
    run("upload", "shader", "upload", h.write("add.wgsl", ADD), "--sender", "bob")
    for n, data in (("x", x), ("y", y)):
        h.check(f"put {n}", run(f"put {n}", "cas", "put", h.write(n, data)).strip() == name(data))
    j1 = submit("j1", name(x), name(y))
    j2 = submit("j2", f"job:{j1}", name(y))
    run("block 1", "block", "end", "--backend", "cpu")
    j3 = submit("j3", name(b), name(a))
    j4 = submit("j4", name(x), name(y))
    run("block 2", "block", "end", "--backend", "cpu")
    return {"x": x, "y": y, "a": a, "b": b, "c": c}, (j1, j2, j3, j4)


def histories(data, jobs):
    j1, j2, j3, j4 = jobs
    p = answer("history", "provenance", name(data["c"]))
    steps = p["steps"]
    h.check("in their order", [(s["job"], s["block"], s["depth"]) for s in steps] ==
            [(j1, "1", 2), (j2, "1", 2), (j3, "2", 1)], steps)
    h.check("whole", p["schema"] == "pipectl.provenance/1" and p["whole"] and p["makers"] == "1", p)
    h.check("outputs", [s["output"] for s in steps] == [name(data[k]) for k in "abc"], steps)
    h.check("who and by what", all((s["sender"], s["shader"], s["author"], s["status"]) ==
                                   ("ann", name(ADD), "bob", "complete") for s in steps), steps)
    h.check("clocks ascend", [int(s["clock"]) for s in steps] == sorted(int(s["clock"]) for s in steps) and
            int(steps[0]["clock"]) < int(steps[1]["clock"]), steps)
    for s in steps:
        shown = answer("job show", "job", "show", s["job"])
        h.check("gas", s["gas"] == shown["gas_used"] and int(s["gas"]) > 0, (s, shown))
    given = {(i["name"], i["job"]) for s in steps for i in s["inputs"] if i["kind"] == "input"}
    h.check("what was taken", given == {(name(data["x"]), None), (name(data["y"]), None), (name(data["a"]), j1),
                                        (name(data["b"]), j2)}, given)
    twice = answer("made twice", "provenance", name(data["a"]))
    h.check("the first", twice["makers"] == "2" and [s["job"] for s in twice["steps"]] == [j1], twice)
    both = answer("all", "provenance", name(data["a"]), "--all")
    h.check("both", {s["job"] for s in both["steps"]} == {j1, j4}, both)
    cut = answer("cut", "provenance", name(data["c"]), "--depth", "1")
    h.check("says so", not cut["whole"] and cut["cut_depth"] != "0" and len(cut["steps"]) == 1, cut)
    cut = answer("cut", "provenance", name(data["c"]), "--limit", "2")
    h.check("says so", not cut["whole"] and cut["cut_limit"] != "0" and len(cut["steps"]) == 2, cut)
    forward = answer("forward", "provenance", name(data["a"]), "--forward")
    h.check("what came of it", [s["job"] for s in forward["steps"]] == [j2, j3], forward)
    of_job = answer("of a job", "provenance", f"job:{j2}")
    h.check("its own", [s["job"] for s in of_job["steps"]] == [j1, j2], of_job)
    waiting = submit("a job that waits", f"job:{j3}", name(data["y"]))
    pending = answer("of one that waits", "provenance", f"job:{waiting}")
    h.check("its message says what it takes", [(s["job"], s["status"]) for s in pending["steps"]][-1] == (waiting, "pending") and
            [(i["name"], i["job"]) for i in pending["steps"][-1]["inputs"]] == [(f"job:{j3}", j3), (name(data["y"]), None)],
            pending)
    verified = answer("verify it", "provenance", f"job:{waiting}", "--verify")
    h.check("nothing to compare yet", [s["verified"] for s in verified["steps"]] == ["same"] * 3 + ["no output"], verified)
    text = run("as text", "provenance", name(data["c"])).splitlines()
    h.check("one line each", text[0].startswith(f"{name(data['c'])} <- job:{j3} block 2 ") and
            any(line.strip() == f"{name(data['x'])} given" for line in text), text)
    dot = run("dot", "provenance", name(data["c"]), "--dot")
    h.check("a graph", dot.startswith("digraph provenance {") and f'"job:{j3}" -> "{name(data["c"])}";' in dot and
            dot.endswith("}\n"), dot)
    run("a picture", "provenance", name(data["c"]), "--svg", h.path("history.svg"))
    drawn = ElementTree.fromstring(h.read("history.svg"))
    titles = [t.text for t in drawn.iter("{http://www.w3.org/2000/svg}title")]
    h.check("has each job and what was given", sum(t.startswith("job:") for t in titles) == 3 and
            {name(data[k]) for k in "xyc"} <= set(titles), titles)
    run("pictures of two kinds", "provenance", name(data["c"]), "--svg", h.path("history.svg"), "--dot", status=2, code="PC0010")
    run("unknown", "provenance", name(b"nobody knows"), status=3, code="PC5883")
    run("no name", "provenance", "job:12", status=3, code="PC5880")
    run("both forms", "--json", "provenance", name(data["c"]), "--dot", status=2, code="PC0010")


def decisions(data, jobs):
    """Shaders, names and accounts have a history too: what was decided about them, by whom, and when."""
    shader = run("upload again", "shader", "upload", h.path("add.wgsl"), "--sender", "bob").split()[0]
    run("alias", "shader", "alias", "adder", shader, "--sender", "ann")
    run("deprecate", "shader", "deprecate", shader, "--sender", "bob")

    def of(what):
        return [(d["kind"], d["source"], d["target"], d["by"]) for d in answer(what, "provenance", what)["decisions"]]

    upload, alias = ("upload", "account:bob", shader, None), ("alias", "alias:adder", shader, "account:ann")
    gone = ("deprecated", "account:bob", shader, None)
    h.check("of a shader", sorted(of(shader), key=str) == sorted([upload, alias, gone], key=str), of(shader))
    h.check("of a name", of("alias:adder") == [alias], of("alias:adder"))
    h.check("of an account", of("account:bob") == [upload, gone], of("account:bob"))
    ran = [s["job"] for s in answer("what an account had run", "provenance", "account:ann", "--forward")["steps"]]
    h.check("its jobs", sorted(ran) == sorted(jobs), ran)
    h.check("who uploads has run none", answer("nothing run", "provenance", "account:bob", "--forward")["steps"] == [])
    h.check("bytes have none", of(name(data["c"])) == [], of(name(data["c"])))
    text = run("as text", "provenance", "alias:adder")
    h.check("who decided", f"alias alias:adder -> {shader} by account:ann" in text, text)
    h.check("a name is none of bytes", text.startswith("alias:adder is a name of a shader\n") and "given" not in text, text)
    text = run("an account as text", "provenance", "account:bob")
    h.check("nor is an account", text.startswith("account:bob is an account\n") and "given" not in text, text)
    text = run("a shader as text", "provenance", shader)
    h.check("a shader is", text.startswith(f"{shader} given: no job made it\n"), text)
    cut = answer("cut", "provenance", shader, "--limit", "1")
    h.check("left out, and said", len(cut["decisions"]) == 1 and cut["decisions_left_out"] == 2, cut)


def state():
    return os.path.join(h.path("home"), "chain", "state.sqlite")


def planted(what, statements, wanted, code, status):
    """Verification finds what was changed in the state; afterwards the state is put back."""
    with sqlite3.connect(state()) as db:
        kept = list(db.iterdump())
        for sql, values in statements:
            h.check(f"{what}: the fault is planted", db.execute(sql, values).rowcount == 1)
    db.close()
    found = answer(what, "provenance", wanted, "--verify", status=status, code=code)
    h.check(f"{what}: no step is the same and wrong", any(s["verified"] != "same" for s in found.get("steps", [])), found)
    for end in ("", "-wal", "-shm"):
        if os.path.exists(state() + end):
            os.unlink(state() + end)
    with sqlite3.connect(state()) as db:
        db.executescript("\n".join(kept))
        db.execute("PRAGMA user_version = 1")
        db.execute("PRAGMA journal_mode = WAL")
    db.close()


def blob_path(data):
    for folder, _, files in os.walk(os.path.join(h.path("home"))):
        for file in files:
            path = os.path.join(folder, file)
            if os.path.getsize(path) == len(data) and open(path, "rb").read() == data and "cas" in folder:
                return path
    return None


def verification(data, jobs):
    j1, j2, j3, _ = jobs
    good = answer("verify", "provenance", name(data["c"]), "--verify")
    run("on a device that is named", "provenance", name(data["c"]), "--verify", "--backend", "vulkan:llvmpipe")
    h.check("all the same", [s["verified"] for s in good["steps"]] == ["same"] * 3, good)
    run("a part is not all", "provenance", name(data["c"]), "--verify", "--depth", "1", status=3, code="PC5887")
    job3 = bytes.fromhex(j3)
    wrong = car.cid_of(b"wrong")
    # The output is another in every row alike: only running it again can tell.
    planted("a wrong output", [
        ("UPDATE jobs SET output = ? WHERE id = ?", (car.text(wrong), job3)),
        ("UPDATE names SET name = ?, mark = ? WHERE name = ?",
         (b"c" + wrong[4:], int.from_bytes(wrong[4:10], "big"), b"c" + car.cid_of(data["c"])[4:])),
    ], car.text(wrong), "PC5885", 6)
    planted("another clock", [("UPDATE edges SET clock = clock + 1 WHERE kind = 4 AND job = (SELECT id FROM names "
                               "WHERE name = ?)", (b"j" + job3,))], name(data["c"]), "PC5886", 8)
    planted("an edge too many", [("INSERT INTO edges (kind, source, target, via, job, height, clock) SELECT kind, (SELECT id "
                                  "FROM names WHERE name = ?), target, via, job, height, clock FROM edges WHERE kind = 3 AND "
                                  "job = (SELECT id FROM names WHERE name = ?) LIMIT 1",
                                  (b"c" + car.cid_of(data["x"])[4:], b"j" + job3))], name(data["c"]), "PC5886", 8)
    planted("no row", [("DELETE FROM jobs WHERE id = ?", (job3,))], name(data["c"]), "PC5886", 8)
    path = blob_path(data["y"])
    h.check("the blob is found", path is not None)
    os.rename(path, path + "-away")
    found = answer("missing bytes", "provenance", name(data["c"]), "--verify", status=3, code="PC5884")
    h.check("which", [s["verified"] for s in found["steps"]] == ["missing", "missing", "same"], found)
    _, _, err = h.run("provenance", name(data["c"]), "--verify")
    h.check("says which", name(data["y"]) in err, err)
    os.rename(path + "-away", path)
    run("all is back", "provenance", name(data["c"]), "--verify")


def archives(data):
    out = h.path("c.car")
    report = answer("export", "cas", "export", name(data["c"]), "--car", out, "--provenance")
    roots, blocks = car.read(h.read("c.car"))
    want = {name(d): d for d in (*data.values(), ADD)}
    h.check("root", roots == [name(data["c"])], roots)
    h.check("the history's blobs", dict(blocks) == want and report["blobs"] == str(len(want)), (report, [b[0] for b in blocks]))
    h.check("in order, root last", [b[0] for b in blocks] == sorted(want.keys() - {roots[0]}) + roots)
    first = h.read("c.car")
    run("again", "cas", "export", name(data["c"]), "--car", out, "--provenance")
    h.check("the same bytes", h.read("c.car") == first)
    # What a stranger gets.
    h.env["PIPECTL_HOME"] = h.path("other")
    h.check("roots are printed", run("import", "cas", "import", "--car", out).split() == roots)
    h.check("all is there", {line.split()[0] for line in run("ls", "cas", "ls").splitlines()} == set(want))
    mine = [b"golden", b"", b"x" * 300]
    h.write("mine.car", car.write(mine[:2], mine))
    h.check("an archive made elsewhere", run("import mine", "cas", "import", "--car", h.path("mine.car")).split() ==
            [name(b"golden"), name(b"")])
    run("export mine", "cas", "export", name(b"golden"), name(b"x" * 300), "--car", h.path("golden.car"))
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.car")
    h.check_bytes("golden.car", h.read("golden.car"), open(golden, "rb").read(), 1)
    before = run("ls", "cas", "ls")
    fresh = car.write([b"not seen before"], [b"one more", b"not seen before"])
    for what, bad, code, status in (("a flipped bit", fresh[:-1] + bytes([fresh[-1] ^ 1]), "PC5892", 8),
                                    ("cut", fresh[:-52], "PC5890", 3), ("cut inside", fresh[:-7], "PC5890", 3),
                                    ("another codec", fresh.replace(b"\x01\x55\x12\x20", b"\x01\x70\x12\x20"), "PC5891", 3),
                                    ("no archive", b"hello, this is no archive", "PC5890", 3)):
        run(what, "cas", "import", "--car", h.write("bad.car", bad), status=status, code=code)
        h.check(f"{what}: nothing came in", run("ls", "cas", "ls") == before)
    run("no file", "cas", "export", name(b"golden"), status=2, code="PC0010")
    run("an absent blob", "cas", "export", name(b"absent"), "--car", h.path("no.car"), status=3, code="PC5004")
    h.check("no half file", not os.path.exists(h.path("no.car")) and
            not [f for f in os.listdir(h.dir) if ".tmp." in f])


if __name__ == "__main__":
    made, ids = make_chain()
    histories(made, ids)
    verification(made, ids)
    archives(made)
    h.env["PIPECTL_HOME"] = h.path("home")
    decisions(made, ids)
    h.finish()
