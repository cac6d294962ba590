"""Chains of version 2 of the rules that the repository keeps (../../golden/chain): how each is made, the same on every machine. `rules-2` begins with accounts and has every kind of message,
taken in and refused, behind an engine; `rules-1-to-2` goes on from the kept blocks of version 1; `rules-2-contracts` has contracts and needs Wasmtime."""
import hashlib
import os
import shutil
import signal
import struct
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("node", "engine"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))

import abci
import wire
from ed25519 import Key
from signed import Chain, cid
from world import World

GOLDEN = os.path.join(HERE, "..", "..", "golden", "chain")
SNAPSHOTS = {"rules-2": 6, "rules-1-to-2": 6, "rules-2-contracts": 2}  # the block whose state is kept, too
ADD = b"""struct U { @size(4) n: u32, @size(4) k: i32, }
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<uniform> u: U;
@group(0) @binding(2) var<storage, read> c: array<u32>;
@group(1) @binding(0) var<storage, read_write> o: array<u32>;
override more: u32 = 1u;
@compute @workgroup_size(4)
fn add(@builtin(global_invocation_id) id: vec3<u32>) {
  o[id.x] = a[id.x] + c[id.x] * u.n + more;
}
"""
TWICE = b"""//# max dispatch = 64, 1, 1
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(1) @binding(0) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  o[id.x] = a[id.x] * 2u;
}
"""
RACY = TWICE.replace(b"o[id.x] =", b"o[0] =")
WORDS, OTHERS, BRIEF = (struct.pack("<16I", *(f(i) for i in range(16))) for f in (lambda i: i + 1, lambda i: 7 * i * i + 4000000000, lambda i: 3 * i))
UNIFORM = b"\xa2\x61k\x22\x61n\x05"  # {"k": -3, "n": 5}


class Maker:
    """One node behind an engine. Each message is given with the code that it has to have in its block; what a refusal costs uses a number up."""

    FREE = (*range(5840, 5847), 5869)  # not signed right, too late, replayed: of no account, and no trace of it

    def __init__(self, h, name, names, roles, **params):
        self.h, self.name, self.height, self.ids, self.hashes = h, name, 0, {}, [b""]
        self.chain = Chain(h, names, params=dict({"fee_ppm": "1_000_000"}, **params), roles=roles)
        self.home = self.chain.home(name)
        self.start()
        self.node.consensus.ask("init_chain", chain_id=self.chain.name, initial_height=1)

    def start(self):
        self.node = abci.Node(self.h, self.home, "cpu", options=("--snapshot-blocks", "0"))

    def stop(self):
        self.h.check("the node ends", self.node.stop(signal.SIGTERM) == 0, self.node.words())

    def say(self, sender, kind, want=0, label=None, **values):
        how = {k: values.pop(k) for k in ("signers", "number", "expiry", "chain") if k in values}
        message = self.chain.signed(sender, kind, values, **how)
        if want in self.FREE and "number" not in how:
            self.chain.numbers[sender] -= 1
        return message, want, label

    def block(self, *told):
        self.height += 1
        made = self.node.consensus.ask("finalize_block", txs=[m for m, _, _ in told], height=self.height)
        for (message, code, name), result in zip(told, made["tx_results"]):
            self.h.check(f"{self.name}, block {self.height}: {name or 'a message'}: PC{code}", result["code"] == code, (result["code"], result["log"], str(wire.decode("Request", message))[:300]))
            if name is not None and code == 0:
                self.ids[name] = wire.decode("Response", result["data"])["execute"]["job_id"]
        self.node.consensus.ask("commit")
        self.hashes.append(made["app_hash"])

    def snapshot(self):
        """The state of the last block, as files beside the home."""
        self.stop()
        self.chain.run(self.home, "ledger", "snapshot", "write", self.home + "-snapshot")
        self.start()

    def job(self, sender, shader, given, want=0, label=None, groups=2, gas=10**6, **more):
        return self.say(sender, "execute", want, label, shader_cid=cid(shader), input_cid=given, dispatch={"x": groups, "y": 1, "z": 1}, gas_limit=gas, output_bytes=16 * groups, **more)


def named(key):
    return "key." + hashlib.sha256(key.public).hexdigest()[:60]


def keys_of(*names):
    return sorted((Key(hashlib.sha256(n.encode()).digest()) for n in names), key=lambda k: k.public)


def statement(chain, key, height, root):
    return dict(key=key.public, height=height, root=root, signature=key.sign(b"pipectl statement 1\0" + chain.id + struct.pack("<Q", height) + root))


def every_kind(h, name):
    """rules-2."""
    m = Maker(h, name, ["ada", "bob", "cay", "dan"], {"dan": ("credit", "block")}, epoch_blocks="4", epoch_iterations="1", unbonding_blocks="3", alias_blocks="2", stake_floor="1000",
              dispute_deposit="1000", throughput="20000", queue_jobs="4")
    chain, say, job, ids = m.chain, m.say, m.job, m.ids
    executor, = keys_of("executor")
    runs = named(executor)
    chain.keys[runs], chain.numbers[runs] = executor, 0
    # What the rest stands on; gas made by who may, and by who may not; a shader that is none, one that races; contracts, which this chain does not take.
    m.block(say("ada", "upload", wgsl_source=ADD, description="adds", tags=["sum", "words"], implements=cid(b"a paper")), say("ada", "upload", wgsl_source=TWICE, description="twice"),
            say("bob", "upload", 5808, wgsl_source=RACY, description="races"), say("bob", "upload", 2110, wgsl_source=b"fn main( {}", description="none"),
            say("ada", "blob", data=WORDS, blocks=1000), say("ada", "blob", data=OTHERS, blocks=1000), say("ada", "blob", data=UNIFORM, blocks=1000), say("bob", "blob", data=BRIEF, blocks=1),
            say("bob", "blob", 5837, data=BRIEF, blocks=1), say("dan", "ledger", op=1, to="eve", amount=10**6), say("ada", "ledger", 5847, op=1, to="ada", amount=5),
            say("ada", "ledger", op=2, to="rank", amount=10**10), say("ada", "ledger", op=2, to=runs, amount=10**10), say("bob", "ledger", op=3, amount=9 * 10**6), say("cay", "ledger", op=3, amount=10**6),
            say("cay", "ledger", 5713, op=2, to="bob", amount=10**18), say(runs, "ledger", op=3, amount=10**6), say("ada", "contract", 6115, code=b"\0asm\1\0\0\0"),
            say("ada", "call", 6115, contract=cid(b"none"), fuel=1000))
    # Jobs of every form, and ways in which one is refused at the door.
    m.block(job("ada", ADD, cid(WORDS), label="plain", uniform_cid=cid(UNIFORM), bindings=[dict(group=0, binding=2, cid=cid(OTHERS))]),
            job("ada", ADD, cid(OTHERS), label="changed", uniform_cid=cid(UNIFORM), bindings=[dict(group=0, binding=2, cid=cid(WORDS))], overrides=[dict(name="more", bits=9)], entry="add", gas=10**8, tip=77),
            job("bob", TWICE, cid(BRIEF), label="brief"), job("bob", TWICE, cid(WORDS), 5818, gas=10), job("bob", TWICE, cid(b"nobody's"), 5834), job("bob", RACY, cid(WORDS), 5804),
            job("cay", TWICE, cid(WORDS), 5810, groups=65), say("cay", "link", source=cid(WORDS), target=cid(OTHERS)), say("cay", "link", source=cid(b"x"), target=cid(b"y")),
            say("cay", "name", op=1, name="twice", cid=cid(TWICE)), say("bob", "name", 5821, op=1, name="twice", cid=cid(ADD)))
    # Jobs behind jobs, bytes that have expired; what is too late, signed by another, of another chain, or said before leaves no trace.
    m.block(job("ada", TWICE, "job:" + ids["plain"], label="behind", after=[ids["brief"]], parent_jobs=[ids["changed"]]), job("ada", TWICE, cid(BRIEF), 5834),
            say("ada", "ledger", 5843, op=2, to="bob", amount=1, expiry=2), say("ada", "ledger", 5844, op=2, to="bob", amount=1, signers=keys_of("bob")),
            say("ada", "ledger", 5841, op=2, to="bob", amount=1, chain=bytes(32)), say("ada", "ledger", 5842, op=2, to="bob", amount=1, number=0),
            say("bob", "params", op=1, height=6, changes=[{"name": "alias_cost", "value": "2000"}]), say("cay", "params", op=2, proposal=1, yes=False), say("cay", "params", 5727, op=3, proposal=1),
            say("bob", "params", op=2, proposal=1, yes=True), say("ada", "params", op=3, proposal=1), say("bob", "params", 5893, op=1, height=9, changes=[{"name": "rules", "value": "1"}]),
            say("ada", "params", 5900, op=1, height=9, changes=[{"name": "scale", "value": "7"}]))
    # A dispute about what was right, words about blocks that are right and that are not; the first epoch ends.
    m.block(say("bob", "verdict", job_id=ids["plain"], output=cid(b"another")), say("bob", "verdict", 5899, job_id=ids["plain"], output=cid(b"another")),
            say("cay", "statement", 6116, **statement(chain, executor, 2, m.hashes[2])), say("cay", "statement", **statement(chain, executor, 2, bytes(32))),
            say("cay", "statement", 6117, **dict(statement(chain, executor, 2, bytes(32)), key=keys_of("bob")[0].public)))
    # Keys that change, several that sign, a right that is given and taken, a bond on its way back, a name that has run out; more jobs than one block takes.
    two = keys_of("one", "two", "three")
    large = dict(uniform_cid=cid(UNIFORM), bindings=[dict(group=0, binding=2, cid=cid(OTHERS))], gas=10**8)  # a kernel of its own: most of a block
    m.block(say("cay", "keys", threshold=2, keys=[k.public for k in two]), say("cay", "ledger", 5844, op=2, to="bob", amount=1), say("cay", "ledger", 5846, op=2, to="bob", amount=1, signers=two[1:2]),
            say("cay", "ledger", op=2, to="bob", amount=1, signers=two[::2]), say("dan", "role", role=1, account="cay"), say("cay", "ledger", op=1, to="cay", amount=9, signers=two[:2]),
            say("dan", "role", role=1, account="cay", taken=True), say("cay", "ledger", 5847, op=1, to="cay", amount=9, signers=two[:2]), say("cay", "ledger", op=4, amount=5 * 10**5, signers=two[:2]),
            say("bob", "name", op=1, name="twice", cid=cid(ADD)), say("bob", "name", 5823, op=2, cid=cid(ADD)),
            *(job("ada", ADD, cid(WORDS), label=f"large{i}", overrides=[dict(name="more", bits=i)], tip=10**6 * i, **large) for i in range(4)), job("ada", TWICE, cid(WORDS), 5897),
            job("bob", ADD, cid(WORDS), label="lost", overrides=[dict(name="more", bits=9)], **large), job("bob", TWICE, cid(WORDS), label="small", groups=3, tip=5))
    # One of those that wait is taken back, and who waits for it fails; a shader is advised against, a link goes.
    m.block(say("ada", "cancel", 5824, job_id=ids["lost"]), job("bob", TWICE, "job:" + ids["lost"], label="orphan"), say("bob", "cancel", job_id=ids["lost"]), say("ada", "name", op=2, cid=cid(ADD)),
            job("ada", ADD, cid(WORDS), label="advised", uniform_cid=cid(UNIFORM), bindings=[dict(group=0, binding=2, cid=cid(OTHERS))]),
            say("cay", "link", source=cid(b"x"), target=cid(b"y"), taken=True, signers=two[:2]), say("cay", "link", 6105, source=cid(b"x"), target=cid(b"y"), taken=True, signers=two[:2]))
    m.snapshot()
    for i in range(6):
        m.block(*((job("bob", TWICE, "job:" + ids["behind"], label=f"late{i}", parent_clock=3),) if i % 2 else ()))
    m.stop()
    return m.home


def commits(w):
    return [b["commit"] for b in w.blocks()]


def log_of(home):
    return os.path.join(home, "chain", "blocks.git")


def taken_from(h, name, kept):
    """A home whose log holds what a bundle has."""
    w = World(h, name)
    w.text("ledger", "show")  # makes a log without blocks, which git fills
    subprocess.run(["git", "--git-dir", log_of(w.home), "fetch", "-q", os.path.join(GOLDEN, kept, "blocks.bundle"), "refs/heads/blocks:refs/heads/blocks"], check=True, capture_output=True)
    return log_of(w.home)


def upgraded(h, name):
    """rules-1-to-2: the kept blocks of version 1, in whose last it was voted for version 2, and what comes next: the first keys of an account, and what signed messages do."""
    w = World(h, name)
    for blob in sorted(os.listdir(os.path.join(GOLDEN, "rules-1", "blobs"))):
        w.text("cas", "put", os.path.join(GOLDEN, "rules-1", "blobs", blob))
    w.text("block", "replay", "--from", taken_from(h, name + "-log", "rules-1"), "--backend", "cpu")
    chain = Chain(h, ["alice"])
    chain.id = bytes.fromhex(w.answer("ledger", "show")["chain"])
    chain.numbers["alice"] = int(w.answer("ledger", "show", "alice")["sequence"])

    def tell(kind, **values):
        w.text("ledger", "apply", h.write("message", chain.signed("alice", kind, values)))

    w.end("cpu")
    tell("keys", threshold=1, keys=[chain.keys["alice"].public])
    tell("upload", wgsl_source=TWICE, description="twice")
    tell("blob", data=WORDS, blocks=9)
    w.end("cpu")
    tell("execute", shader_cid=cid(TWICE), input_cid=cid(WORDS), dispatch={"x": 2, "y": 1, "z": 1}, gas_limit=10**6, output_bytes=32)
    tell("ledger", op=2, to="bob", amount=7)
    w.end("cpu")
    w.text("ledger", "snapshot", "write", w.home + "-snapshot")
    w.end("cpu")
    return w.home


def contracts(h, name):
    """rules-2-contracts."""
    import contracts as shared
    m = Maker(h, name, ["ada"], {}, contracts="1")
    say, main = m.say, cid(shared.contract())

    def call(function, argument=b"", want=0, fuel=10**7, **more):
        return say("ada", "call", want, contract=main, function=function, argument=argument, fuel=fuel, **more)

    # Modules, one of them none; calls that submit, write and give; that trap, run out of fuel, return another value, find no function.
    m.block(say("ada", "contract", code=shared.contract()), say("ada", "contract", 6121, code=b"no module"), say("ada", "contract", 6131, code=shared.contract()),
            say("ada", "upload", wgsl_source=shared.source, description="doubles"), say("ada", "blob", data=shared.words, blocks=9))
    m.block(call("submit", shared.message(), pay=10**6), call("put", b"key1one value"), call("put", b"key2"), call("drop", b"key2"), call("give", b"bob", pay=9), call("deep"), call("spin"),
            call("nothing"), call("take", b"key3"), call("who", want=6132, fuel=10**13), say("ada", "call", 6130, contract=cid(b"none"), fuel=1000))
    m.snapshot()
    m.block(call("take", b"key1"), call("down", bytes(5000)), call("who", pay=3))
    m.block()
    m.stop()
    return m.home


MADE = {"rules-2": every_kind, "rules-1-to-2": upgraded, "rules-2-contracts": contracts}


def keep(h, name, home):
    """What the repository has of a chain of a draft: in place of what was there."""
    to = os.path.join(GOLDEN, name)
    shutil.rmtree(to, ignore_errors=True)
    os.makedirs(to)
    subprocess.run(["git", "--git-dir", log_of(home), "bundle", "create", os.path.join(to, "blocks.bundle"), "--all", "HEAD"], check=True, capture_output=True)
    w = World(h, name)
    with open(os.path.join(to, "commits"), "w", encoding="utf-8") as f:
        f.write("\n".join(commits(w)) + "\n")

    def plain(info):
        info.mtime = info.uid = info.gid = 0
        info.uname = info.gname = ""
        return info
    with tarfile.open(os.path.join(to, "snapshot.tar.xz"), "w:xz", format=tarfile.USTAR_FORMAT) as tar:
        tar.add(home + "-snapshot", "snapshot", filter=plain)


if __name__ == "__main__":
    sys.exit("golden.py makes and tries them")
