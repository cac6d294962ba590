"""Messages and uniforms against encoders written here from the documents alone: protocol buffers (proto3), CBOR
(RFC 8949, deterministic), WGSL's uniform layout and the hash of a job's id. Shares nothing with core/chain but the field
numbers, which are what is tested. With `--corpus DIR` it writes
its good bytes as seeds for tests/fuzz."""
import hashlib
import pathlib
import random
import struct
import subprocess
import sys

PLANT = "--plant" in sys.argv  # three rules wrong here, so that the comparison is seen to fail
CID = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"
A, B, C = "a" * 64, "b" * 64, "0123456789abcdef" * 4


# ---- protocol buffers -----------------------------------------------------------------------

def varint(v):
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    return bytes(out) + bytes([v])


def number(field, v):
    return varint((field + (PLANT and field == 5)) << 3) + varint(v) if v else b""


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def text(field, s):
    return block(field, s) if s else b""


def upload(sender="alice", source="fn main() {}\n", description="Rank", tags=("graph", "rank"), implements=CID):
    return (text(1, sender) + text(2, source) + text(3, description) + b"".join(block(4, t) for t in tags)
            + text(5, implements))


def dispatch(x, y, z):
    return number(1, x) + number(2, y) + number(3, z)


def binding(group, slot, cid):
    return number(1, group) + number(2, slot) + text(3, cid)


def override(name, bits):
    return text(1, name) + number(2, bits)


def execute(sender="alice", shader=CID, given="job:" + A, groups=(64, 64, 1), gas=1000000,
            bindings=((0, 2, CID), (1, 1, "job:" + B)), clock=42, uniform=CID, output=4096, parents=(A, B), after=(C,),
            overrides=(("n", 7), ("scale", 2**64 - 1)), entry="main"):
    return (text(1, sender) + text(2, shader) + text(3, given) + (block(4, dispatch(*groups)) if groups else b"")
            + number(5, gas) + b"".join(block(6, binding(*b)) for b in bindings) + number(7, clock) + text(8, uniform)
            + number(9, output) + b"".join(block(10, j) for j in parents) + b"".join(block(11, j) for j in after)
            + b"".join(block(12, override(*o)) for o in overrides) + text(13, entry))


def tick(*v):
    return b"".join(number(i + 1, x) for i, x in enumerate(v))


def profile(ticks=((0, 5, 6, 7, 8, 1, 9, 0, 0, 0, 1), (1, 5, 6, 7, 8, 0, 9, 1, 2, 3, 0)), cost=77, loops=64, shared=256,
            most=(1024, 1, 0)):
    return (b"".join(block(1, tick(*t)) for t in ticks) + number(2, cost) + number(3, loops) + number(4, shared)
            + number(5, most[0]) + number(6, most[1]) + number(7, most[2]))


def upload_response(shader=CID, p=None):
    return text(1, shader) + (block(2, profile() if p is None else p) if p != b"" else b"")


def execute_response(job=A, clock=3):
    return text(1, job) + number(2, clock)


def query_response(status, cid="", gas=0, clock=1, error=""):
    return number(1, status) + text(2, cid) + number(3, gas) + number(4, clock) + text(5, error)


def block_info(height=9, clock=12, root=A, commit="c" * 40, jobs=(B, A), deferred=(C,), gas=5, budget=10, messages=3,
               executor="bob", totals=(2, 9)):
    return (number(1, height) + number(2, clock) + text(3, root) + text(4, commit) + b"".join(block(5, j) for j in jobs)
            + b"".join(block(6, j) for j in deferred) + number(7, gas) + number(8, budget) + number(9, messages)
            + text(10, executor) + number(11, totals[0]) + number(12, totals[1]))


def ledger(sender="alice", op=2, to="bob", amount=2**64 - 1):
    return text(1, sender) + number(2, op) + text(3, to) + number(4, amount)


def params(sender="alice", op=1, height=9, proposal=0, yes=0, changes=(("quorum_ppm", "500_000"), ("scale", "1000"))):
    return (text(1, sender) + number(2, op) + number(3, height) + number(4, proposal)
            + (varint(5 << 3) + b"\1" if yes else b"") + b"".join(block(6, text(1, n) + text(2, v)) for n, v in changes))


def name(sender="alice", op=1, called="rank-1.0", cid=CID):
    return text(1, sender) + number(2, op) + text(3, called) + text(4, cid)


def three(a="alice", b=CID, c=CID):
    return text(1, a) + text(2, b) + text(3, c)


def ack(sequence=7, proposal=0):
    return number(1, sequence) + number(2, proposal)


def error(code=5786, message="no CID"):
    return number(1, code) + text(2, message)


GOOD = {
    "request": [block(1, upload()), block(1, upload(description="", tags=(), implements="")), block(2, execute()),
                block(2, execute(given=CID, groups=(0, 0, 0), bindings=(), clock=0, uniform="", output=0, parents=(),
                                 after=(), overrides=(("zero", 0),), entry="")),
                block(3, text(1, A)), block(4, b""), block(4, number(1, 7)), block(5, number(1, 2**63 - 1)),
                block(4, number(1, 7) + text(2, "bob")), block(6, ledger()), block(6, ledger(op=1)),
                block(6, ledger(op=3, to="")), block(6, ledger(op=4, to="", amount=1)), block(7, params()),
                block(7, params(op=2, height=0, proposal=3, yes=1, changes=())),
                block(7, params(op=2, height=0, proposal=3, changes=())),
                block(7, params(op=3, height=0, proposal=3, changes=())), block(8, name()), block(8, name(op=2, called="")),
                block(9, text(1, "alice") + text(2, A)), block(10, three()), block(11, three(b="bob")),
                block(12, b""), block(12, block(1, bytes(range(256)))), block(13, text(1, CID))],
    "response": [block(1, upload_response()), block(2, execute_response()), block(3, query_response(0)),
                 block(3, query_response(1)), block(3, query_response(2, CID, 500)),
                 block(3, query_response(3, "", 9, 4, "dependency failed")), block(4, block_info()),
                 block(5, block_info(jobs=(), deferred=(), commit=B, gas=0, budget=0, messages=0, executor="", totals=(0, 0))),
                 block(15, error()), block(6, ack()), block(7, ack(8, 2)), block(8, b""), block(9, ack()), block(10, ack()),
                 block(11, ack()), block(12, text(1, CID)), block(13, b""), block(13, block(1, b"x\0"))],
}

BAD_REQUESTS = [
    (5784, block(1, upload(sender=""))), (5785, block(1, upload(sender="Al"))), (5784, block(1, upload(source=""))),
    (5788, block(1, upload(source=b"\xff"))), (5788, block(1, upload(description=b"\xc0\x80"))),
    (5789, block(1, upload(description="x" * 1025))), (5792, block(1, upload(tags=("b", "a")))),
    (5784, block(1, upload(tags=("",)))), (5789, block(1, upload(tags=tuple(f"t{i:02}" for i in range(17))))),
    (5786, block(1, upload(implements="Qm"))),
    (5784, block(2, execute(sender=""))), (5785, block(2, execute(sender="a/b"))), (5784, block(2, execute(shader=""))),
    (5786, block(2, execute(shader=CID.upper()))), (5784, block(2, execute(given=""))),
    (5787, block(2, execute(given="job:" + A[1:]))), (5784, block(2, execute(groups=None))),
    (5790, block(2, execute(groups=(65536, 1, 1)))), (5790, block(2, execute(groups=(1, 65536, 1)))),
    (5790, block(2, execute(groups=(1, 1, 65536)))), (5784, block(2, execute(gas=0))),
    (5791, block(2, execute(bindings=((4, 0, CID),)))), (5791, block(2, execute(bindings=((0, 0, CID),)))),
    (5792, block(2, execute(bindings=((0, 2, CID), (0, 2, CID))))), (5786, block(2, execute(bindings=((0, 2, "x"),)))),
    (5789, block(2, execute(bindings=tuple((2, i, CID) for i in range(7))))), (5793, block(2, execute(clock=2**63))),
    (5786, block(2, execute(uniform="x"))), (5793, block(2, execute(output=2**27 + 4))), (5793, block(2, execute(output=2))),
    (5787, block(2, execute(parents=("x",)))), (5792, block(2, execute(parents=(B, A)))),
    (5787, block(2, execute(after=("x",)))), (5792, block(2, execute(after=(A,)))),
    (5784, block(2, execute(overrides=(("", 1),)))), (5792, block(2, execute(overrides=(("b", 1), ("a", 1))))),
    (5788, block(2, execute(entry=b"\x01"))),
    (5784, block(3, b"")), (5787, block(3, text(1, "12"))), (5793, block(4, number(1, 2**63))),
    (5793, block(5, number(1, 2**64 - 1))), (5796, b""), (5782, block(18, b"")), (5782, block(3, text(1, A) + number(2, 1))),
    (5785, block(4, text(2, "B"))), (5784, block(6, ledger(sender=""))), (5784, block(6, ledger(op=0))),
    (5730, block(6, ledger(op=5))), (5785, block(6, ledger(to="B"))), (5730, block(6, ledger(op=3))),
    (5784, block(6, ledger(amount=0))), (5730, block(7, params(op=4))), (5784, block(7, params(height=0))),
    (5784, block(7, params(changes=()))), (5730, block(7, params(yes=1))),
    (5792, block(7, params(changes=(("b", "1"), ("a", "1"))))), (5784, block(7, params(changes=(("a", ""),)))),
    (5784, block(7, params(op=2, height=0, changes=()))), (5730, block(7, params(op=3, height=1, proposal=3, changes=()))),
    (5783, block(7, params(op=2, height=0, proposal=3, yes=1, changes=()).replace(b"\x28\x01", b"\x28\x02"))),
    (5731, block(8, name(called="Rank"))), (5730, block(8, name(op=2))), (5784, block(8, name(cid=""))),
    (5787, block(9, text(1, "alice") + text(2, "x"))), (5786, block(10, three(b="x"))), (5786, block(11, three(b="bob", c="x"))),
    (5785, block(11, three(b="B"))), (5789, block(12, block(1, bytes(2**20 + 1)))), (5784, block(13, b"")),
    (5781, block(3, text(1, A))[:-1]), (5781, number(3, 1) + b"\x80"), (5783, block(3, text(1, A)) * 2),
    (5783, block(4, b"\x08\x00")), (5783, block(2, number(5, 1) + execute(gas=0))),
    (5783, block(2, execute(overrides=(("a", 1),)).replace(b"\x0a\x01a\x10\x01", b"\x10\x01\x0a\x01a"))),
]
BAD_RESPONSES = [
    (5786, block(1, upload_response(shader="x"))), (5784, block(1, upload_response(p=b""))),
    (5784, block(1, upload_response(p=profile(ticks=())))),
    (5794, block(1, upload_response(p=profile(ticks=((1,),))))),
    (5794, block(1, upload_response(p=profile(ticks=((0, 0, 0, 0, 0, 1),))))),
    (5794, block(1, upload_response(p=profile(loops=0)))), (5793, block(1, upload_response(p=profile(shared=16385)))),
    (5793, block(1, upload_response(p=profile(most=(65536, 0, 0))))),
    (5787, block(2, execute_response(job="x"))), (5784, block(2, execute_response(clock=0))),
    (5795, block(3, query_response(4))), (5795, block(3, query_response(2**64 - 1))), (5795, block(3, query_response(0, CID))),
    (5784, block(3, query_response(2))), (5795, block(3, query_response(1, "", 1))),
    (5784, block(3, query_response(3))), (5795, block(3, query_response(2, CID, 0, 1, "x"))),
    (5784, block(4, block_info(height=0))), (5787, block(4, block_info(root="x"))),
    (5787, block(5, block_info(commit="c" * 41))), (5787, block(5, block_info(jobs=("x",)))),
    (5787, block(5, block_info(deferred=("x",)))), (5796, block(15, error(code=4242))),
    (5784, block(15, error(message=""))), (5796, b""), (5782, block(18, b"")),
    (5793, block(4, block_info(totals=(1, 9)))), (5793, block(4, block_info(totals=(2, 0)))),
    (5785, block(4, block_info(executor="B"))), (5730, block(6, ack(1, 1))), (5793, block(7, ack(2**63))),
    (5786, block(12, text(1, "x"))), (5789, block(13, block(1, bytes(2**20 + 1)))),
]


# ---- CBOR and blocks ------------------------------------------------------------------------

def head(major, v):
    if v < 24:
        return bytes([major << 5 | v])
    for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if v < 1 << 8 * size:
            return bytes([major << 5 | code]) + v.to_bytes(size, "big")


def cbor(v):
    if isinstance(v, dict):
        pairs = sorted((cbor(k), cbor(x)) for k, x in v.items())
        return head(5, len(pairs)) + b"".join(k + x for k, x in pairs)
    if isinstance(v, (list, tuple)):
        return head(4, len(v)) + b"".join(map(cbor, v))
    if isinstance(v, str):
        return head(3, len(v.encode())) + v.encode()
    if isinstance(v, float):
        if v != v:
            return b"\xf9\x7e\x00"
        for code, form in ((b"\xf9", ">e"), (b"\xfa", ">f"), (b"\xfb", ">d")):
            try:
                if struct.unpack(form, struct.pack(form, v))[0] == v:
                    return code + struct.pack(form, v)
            except OverflowError:
                pass
    return head(0, v) if v >= 0 else head(1, -1 - v)


def item_bytes(i):
    return struct.pack("<3Ii", *i["at"], i["w"])


def f16(v):
    return b"\x00\x7e" if v != v else struct.pack("<e", v)


def f32(v):
    return struct.pack("<I", 0x7fc00000) if v != v else struct.pack("<f", v)


def block_bytes(u):
    """uniform.wgsl: count 0, total 8, delta 16, scale 24, half 28, m 32 (columns of 8), items 64 (16 each: an array's
    alignment is 16), pair 112, inner 128 (k 0, item 16), last 160; 176 in all."""
    out = bytearray(176)

    def put(at, data):
        out[at:at + len(data)] = data
    put(0, struct.pack("<I", u["count"]))
    put(8, struct.pack("<Q", u["total"]))
    put(16, struct.pack("<q", u["delta"]))
    put(24, f32(u["scale"]))
    put(28, f16(u["half"]))
    for c in range(3):
        put(32 + 8 * c, f32(u["m"][c][0]) + f32(u["m"][c][1]))
    for i in range(3):
        put(64 + 16 * i, item_bytes(u["items"][i]))
    put(112, struct.pack(">2i" if PLANT else "<2i", *u["pair"]))
    put(128, struct.pack("<I", u["inner"]["k"]))
    put(144, item_bytes(u["inner"]["item"]))
    put(160, struct.pack("<4I", *u["last"]))
    return bytes(out)


def some(rng, bits, signed):
    v = rng.choice((0, 1, 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63, rng.getrandbits(64))) % 2**bits
    if rng.random() < 0.2:
        v = 2**bits - 1
    return v - 2**bits if signed and v >= 2**(bits - 1) else v


def some_float(rng, form):
    size = struct.calcsize(form)
    special = (0.0, -0.0, 1.0, 65504.0, float("inf"), -float("inf"), float("nan"), 2.0**-24, 2.0**-14, 1.0 + 2.0**-10)
    if rng.random() < 0.5:
        return rng.choice(special)
    return struct.unpack(form, rng.getrandbits(8 * size).to_bytes(size, "little"))[0]


def some_item(rng):
    return {"at": [some(rng, 32, 0) for _ in range(3)], "w": some(rng, 32, 1)}


def some_uniform(rng):
    return {"count": some(rng, 32, 0), "total": some(rng, 64, 0), "delta": some(rng, 64, 1),
            "scale": some_float(rng, "<f"), "half": some_float(rng, "<e"),
            "m": [[some_float(rng, "<f") for _ in range(2)] for _ in range(3)], "items": [some_item(rng) for _ in range(3)],
            "pair": [some(rng, 32, 1) for _ in range(2)], "inner": {"k": some(rng, 32, 0), "item": some_item(rng)},
            "last": [some(rng, 32, 0) for _ in range(4)]}


def bad_uniforms(rng):
    u = some_uniform(rng)
    yield 5766, cbor({**u, "count": 2**32})
    yield 5766, cbor({**u, "count": -1})
    yield 5766, cbor({**u, "delta": 2**63})
    yield 5766, cbor({**u, "pair": [0, -2**31 - 1]})
    yield 5767, cbor({**u, "scale": 0.1})
    yield 5767, cbor({**u, "half": 65536.0})
    yield 5767, cbor({**u, "half": 2.0**-25})
    yield 5765, cbor({**u, "scale": 1})
    yield 5765, cbor({**u, "total": 1.0})
    yield 5765, cbor({**u, "inner": [1, 2]})
    yield 5768, cbor({**u, "m": u["m"][:2]})
    yield 5768, cbor({**u, "last": [1, 2, 3]})
    yield 5772, cbor({**u, "zz": 1})
    yield 5773, cbor({k: v for k, v in u.items() if k != "pair"})
    yield 5774, cbor(u) + b"\x00"


# ---- asking ---------------------------------------------------------------------------------

class Speak:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.asked = 0

    def ask(self, verb, data, *rest):
        self.asked += 1
        self.process.stdin.write(" ".join([verb, data.hex() or "-", *map(str, rest)]) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()


def check(faults, what, got, want):
    if got != want:
        faults.append(f"{what}: {got}, not {want}")


def main(speak):
    faults, rng = [], random.Random(57)
    for verb, messages in GOOD.items():
        for m in messages:
            check(faults, f"{verb} {m.hex()}", speak.ask(verb, m), ["ok", m.hex()])
    for verb, cases in (("request", BAD_REQUESTS), ("response", BAD_RESPONSES)):
        for code, m in cases:
            check(faults, f"{verb} {m.hex()}", speak.ask(verb, m), ["refused", str(code)])
    message = execute()
    check(faults, "execute", speak.ask("execute", block(2, message)), ["ok", message.hex()])
    ids = set()
    for height, sequence in ((0, 0), (0, 1), (1, 0), (2**63, 2**64 - 1)):
        domain = b"pipectl job-id 2\0" if PLANT else b"pipectl job-id 1\0"
        want = hashlib.sha256(domain + struct.pack("<QQQ", height, sequence, len(message)) + message)
        check(faults, "job id", speak.ask("job", message, height, sequence), ["ok", want.hexdigest()])
        ids.add(want.hexdigest())
    check(faults, "different jobs", len(ids), 4)
    for _ in range(300):
        u = some_uniform(rng)
        document, data = cbor(u), block_bytes(u)
        check(faults, f"uniform {u}", speak.ask("uniform", document), ["ok", data.hex()])
        check(faults, f"block {u}", speak.ask("block", data), ["ok", document.hex()])
        for at in (4, 30, 120, 132, 140):
            dirty = bytearray(data)
            dirty[at] = 1
            check(faults, f"padding {at}", speak.ask("block", bytes(dirty)), ["refused", "5776"])
    for code, document in bad_uniforms(rng):
        check(faults, f"uniform {document.hex()}", speak.ask("uniform", document), ["refused", str(code)])
    if faults:
        print("FAILED", *sorted({f.split()[0].rstrip(":") for f in faults}))
    print("\n".join(faults[:20]) or f"{speak.asked} messages, documents and blocks agree")
    return 1 if faults or speak.asked < 1000 else 0


def corpus(folder):
    """Seeds; the uniforms are those of the struct in fuzz_chain_uniform.c."""
    item = {"at": [1, 2, 2**32 - 1], "w": -1}
    u = {"n": 42, "big": 2**64 - 1, "delta": -2**63, "x": 1.5, "h": -2.0, "m": [[1.0, float("nan")], [2.0**-149, -0.0]],
         "items": [item, item]}
    zero = {"at": [0, 0, 0], "w": 0}
    z = {"n": 0, "big": 0, "delta": 0, "x": 0.0, "h": 0.0, "m": [[0.0, 0.0], [0.0, 0.0]], "items": [zero, zero]}
    uniforms = [cbor(u), cbor(z), bytes(80), cbor({**u, "n": -1}), cbor({**u, "y": 1}), cbor(u)[:-3], b"\xbf" + cbor(u)[1:]]
    for name, items in (("chain_message", GOOD["request"] + GOOD["response"]), ("chain_uniform", uniforms)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for i, m in enumerate(items):
            (folder / name / f"seed{i:02}").write_bytes(m)


if __name__ == "__main__":
    if sys.argv[1] == "--corpus":
        corpus(pathlib.Path(sys.argv[2]))
        sys.exit(0)
    sys.exit(main(Speak(*(a for a in sys.argv[1:] if a != "--plant"))))
