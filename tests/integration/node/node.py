"""`pipectl node` driven by two clients that share no code: node_client in C over libpipectl's own messages, and wire.py,
which knows the documents alone. Every kind of message, frames that are none, clients that stall, eight at once, and what
a killed node had answered."""
import hashlib
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time

from harness import Harness
import wire

h = Harness()
here = os.path.dirname(os.path.abspath(__file__))
source = open(os.path.join(here, "double.wgsl"), "rb").read()
words = struct.pack("<4I", 1, 2, 3, 0x80000001)
EMPTY = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"


def cid(data):
    import base64
    raw = b"\x01\x55\x12\x20" + hashlib.sha256(data).digest()
    return "b" + base64.b32encode(raw).decode().lower().rstrip("=")


SHADER, INPUT = cid(source), cid(words)
OUTPUT = cid(struct.pack("<4I", 2, 4, 6, 2))


def job(sender="alice", **more):
    return dict({"sender": sender, "shader_cid": SHADER, "input_cid": INPUT, "dispatch": {"x": 1, "y": 1, "z": 1},
                 "gas_limit": 100000, "output_bytes": 16}, **more)


def wants(name, answer, kind, **fields):
    got = {f: answer[1].get(f) for f in fields} if answer[0] == kind else answer
    return h.check(name, answer[0] == kind and got == fields, f"{answer}, wanted {kind} {fields}")


def every_kind(c):
    wants("put", c.ask("put", data=words), "put", cid=INPUT)
    wants("put of nothing", c.ask("put"), "put", cid=EMPTY)
    wants("get", c.ask("get", cid=INPUT), "get", data=words)
    wants("get of what is not there", c.ask("get", cid=cid(b"x")), "error", code=5004)
    kind, up = c.ask("upload", sender="alice", wgsl_source=source, description="doubles", tags=["a", "b"])
    h.check("upload", kind == "upload" and up["shader_cid"] == SHADER and up["profile"]["cost_per_workgroup"] > 0, up)
    credit = c.ask("ledger", sender="alice", op=1, to="alice", amount=10**12)
    wants("credit", credit, "ledger", proposal=0)
    h.check("sequence goes up", c.ask("ledger", sender="alice", op=1, to="bob", amount=10**9)[1]["sequence"]
            == credit[1]["sequence"] + 1)
    wants("transfer", c.ask("ledger", sender="alice", op=2, to="bob", amount=5), "ledger")
    wants("transfer of too much", c.ask("ledger", sender="bob", op=2, to="alice", amount=10**15), "error", code=5713)
    wants("bond", c.ask("ledger", sender="bob", op=3, amount=1000), "ledger")
    wants("unbond", c.ask("ledger", sender="bob", op=4, amount=10), "ledger")
    kind, proposal = c.ask("params", sender="bob", op=1, height=50, changes=[{"name": "dependency_cost", "value": "501"}])
    h.check("propose", kind == "params" and proposal["proposal"] != 0, proposal)
    wants("vote", c.ask("params", sender="bob", op=2, proposal=proposal["proposal"], yes=True), "params")
    wants("apply", c.ask("params", sender="bob", op=3, proposal=proposal["proposal"]), "params")
    wants("link", c.ask("link", sender="bob", source=INPUT, target=SHADER), "link")
    wants("alias", c.ask("name", sender="bob", op=1, name="double", cid=SHADER), "name")
    kind, first = c.ask("execute", **job())
    h.check("execute", kind == "execute" and len(first["job_id"]) == 64 and first["logical_clock"] >= 1, first)
    kind, second = c.ask("execute", **job(input_cid="job:" + first["job_id"]))
    h.check("execute after it", kind == "execute" and second["logical_clock"] == first["logical_clock"] + 1, second)
    kind, third = c.ask("execute", **job())
    wants("cancel", c.ask("cancel", sender="alice", job_id=third["job_id"]), "cancel")
    wants("pending", c.ask("query", job_id=first["job_id"]), "query", status=0, output_cid="", gas_used=0)
    wants("unknown job", c.ask("query", job_id="0" * 64), "error", code=5801)
    wants("execute without an account", c.ask("execute", **job("carol")), "error", code=5714)
    wants("verdict without a bond", c.ask("verdict", sender="carol", accused="bob", evidence=INPUT), "error", code=5714)
    kind, block = c.ask("block_end", height=1)
    h.check("block end", kind == "block_end" and block["height"] == 1 and block["jobs_total"] == 3  # the cancelled one too
            and block["final_clock"] >= second["logical_clock"], (kind, block))
    wants("block query", c.ask("block_query", height=1), "block_query", **block)
    wants("block query of none", c.ask("block_query", height=7), "error", code=5852)
    wants("complete", c.ask("query", job_id=first["job_id"]), "query", status=2, output_cid=OUTPUT)
    wants("complete after it", c.ask("query", job_id=second["job_id"]), "query", status=2,
          output_cid=cid(struct.pack("<4I", 4, 8, 12, 4)))
    wants("cancelled", c.ask("query", job_id=third["job_id"]), "query", status=3)
    wants("output", c.ask("get", cid=OUTPUT), "get", data=struct.pack("<4I", 2, 4, 6, 2))
    wants("deprecate by another", c.ask("name", sender="bob", op=2, cid=SHADER), "error", code=5823)
    wants("deprecate", c.ask("name", sender="alice", op=2, cid=SHADER), "name")
    wants("execute of what is deprecated", c.ask("execute", **job()), "error", code=5805)
    wants("a block of another height", c.ask("block_end", height=9), "error", code=5851)


def bad_frames(node):
    c = node.client()
    for name, body, code in (("no message", b"\xff\xff", 5781), ("unknown field", b"\xf2\x03\x01x", 5782),
                             ("not canonical", b"\x1a\x42\x0a\x40" + b"a" * 63 + b"\x00", 5787), ("empty", b"\x1a\x00", 5784)):
        c.socket.sendall(struct.pack("<I", len(body)) + body)
        kind, error = c.hear()
        h.check(f"bad frame: {name}", kind == "error" and error["code"] in (code, 5781, 5783, 5796), (kind, error))
    wants("the connection lives", c.ask("get", cid=INPUT), "get", data=words)
    c.socket.sendall(struct.pack("<I", 0))
    wants("a frame of nothing", c.hear(), "error", code=5797)
    try:
        c.hear()
        h.check("out of step is closed", False)
    except wire.Closed:
        h.check("out of step is closed", True)
    seed = 20261122
    rng = __import__("random").Random(seed)
    for i in range(200):
        c = node.client()
        c.socket.sendall(rng.randbytes(rng.randrange(1, 300)))
        if i % 2:
            c.socket.shutdown(socket.SHUT_WR)
        c.close()
    half = node.client()
    half.socket.sendall(b"\x10\x00\x00")
    c = node.client()
    wants("halves stop nobody", c.ask("get", cid=INPUT), "get", data=words)
    c.close()
    half.close()


def eight_at_once(node, n):
    answers, failed = [], []

    def one(k):
        try:
            c = node.client()
            for _ in range(n):
                c.send("execute", **job("bob"))
            answers.append([c.hear() for _ in range(n)])
            c.close()
        except Exception as e:  # noqa: BLE001 - counted below
            failed.append(repr(e))

    deaf = node.client()
    for _ in range(200):
        deaf.send("get", cid=SHADER)
    threads = [threading.Thread(target=one, args=(k,)) for k in range(8)]
    start = time.monotonic()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    seconds = time.monotonic() - start
    ids = [a[1]["job_id"] for some in answers for a in some if a[0] == "execute"]
    h.check("eight clients", not failed and len(ids) == 8 * n and len(set(ids)) == 8 * n, (failed, len(ids)))
    print(f"8 Python clients beside one that never reads: {8 * n} submits in {seconds:.2f} s", flush=True)
    deaf.close()


def killed_and_back(node):
    """What was answered before kill -9 is there afterwards."""
    c = node.client()
    told = []

    def listen():
        try:
            while True:
                told.append(c.hear())
        except (wire.Closed, OSError):
            pass

    t = threading.Thread(target=listen)
    t.start()
    try:
        for i in range(20000):
            c.send("execute", **job("bob"))
            if len(told) > 300:
                break
        node.stop(signal.SIGKILL)
    except OSError:
        node.stop(signal.SIGKILL)
    t.join()
    h.check("answered before the kill", len(told) > 300 and all(k == "execute" for k, _ in told), len(told))
    h.check("a dead node leaves its socket", os.path.exists(node.path))
    again = wire.Node(h)
    c = again.client()
    there = [c.ask("query", job_id=a["job_id"]) for _, a in told]
    h.check("all of it is there", all(k == "query" and a["status"] == 0 for k, a in there))
    c.close()
    return again


def start_and_stop():
    node = wire.Node(h)
    h.check("mode 0600", stat.S_IMODE(os.stat(node.path).st_mode) == 0o600)
    code, _, err = h.run("node", "--socket", node.path, "--backend", "cpu")
    h.check("a second node", code == 3 and "PC6111" in err, (code, err))
    c = node.client()
    every_kind(c)
    c.close()
    bad_frames(node)
    h.check("SIGINT", node.stop(signal.SIGINT) == 130)
    h.check("no socket is left", not os.path.exists(node.path))
    code, _, err = h.run("node", "--socket", h.write("file", b""), "--backend", "cpu")
    h.check("a file in the way", code == 1 and "PC6110" in err and os.path.exists(h.path("file")), (code, err))
    code, _, err = h.run("node", "--socket", "/tmp/" + "x" * 120, "--backend", "cpu")
    h.check("a long path", code == 1 and "PC6110" in err, (code, err))
    for flag, value in (("--clients", "0"), ("--clients", "many"), ("--verify", "some")):
        code, _, err = h.run("node", "--socket", node.path, "--backend", "cpu", flag, value)
        h.check(f"{flag} {value}", code == 2 and "PC0010" in err, (code, err))
    one = wire.Node(h, "--clients", "1", "--verify", "all")
    c = one.client()
    wants("the one client", c.ask("put", data=words), "put", cid=INPUT)
    away = one.client()
    wants("a second one is turned away", away.hear(), "error", code=6112)
    away.close()
    c.close()
    h.check("and it ends", one.stop(signal.SIGINT) == 130)
    code, _, err = h.run("node")
    h.check("no path", code == 2, (code, err))


def with_the_client_in_c():
    node = wire.Node(h)
    done = subprocess.run([os.environ["NODE_CLIENT"], node.path, "drive", "dora", os.path.join(here, "double.wgsl")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    h.check("the client in C", done.returncode == 0 and "status 2" in done.stdout
            and "bytes 02000000040000000600000008000000" in done.stdout, done.stdout)
    c = node.client()
    wants("the input", c.ask("put", data=words), "put", cid=INPUT)
    wants("gas for bob", c.ask("ledger", sender="bob", op=1, to="bob", amount=10**14), "ledger")
    c.close()
    eight_at_once(node, 50)
    done = subprocess.run([os.environ["NODE_CLIENT"], node.path, "submit", "bob", SHADER, INPUT, "16",
                           sys.argv[1] if len(sys.argv) > 1 else "3000", "500"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    h.check("many submits", done.returncode == 0, done.stdout)
    print("over the socket, client in C: " + done.stdout.strip(), flush=True)
    again = killed_and_back(node)
    h.check("SIGTERM", again.stop(signal.SIGTERM) == 0)
    h.check("no socket is left after SIGTERM", not os.path.exists(again.path))
    code, out, err = h.run("ledger", "show")
    h.check("the ledger's sums hold", code == 0, err)


start_and_stop()
h.env["PIPECTL_HOME"] = h.path("second")  # one without a deprecated shader
with_the_client_in_c()
h.finish()
