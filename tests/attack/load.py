"""What messages make a node keep and answer, beyond what they pay: memory of kernels that come to nothing, answers of a block that no engine takes, and somebody else's word that stops jobs.
Behind an engine, where strangers' messages come from. Each succeeded against the program before it was mended, which its numbers say."""
import json
import os
import signal
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("", "node", "engine"):
    sys.path.insert(0, os.path.join(HERE, "..", "integration", folder))

from harness import Harness  # noqa: E402
import abci  # noqa: E402
from signed import Chain, cid  # noqa: E402
import sizes  # noqa: E402
import wire  # noqa: E402

h = Harness()
MIB = 1 << 20
WORDS = struct.pack("<8I", *range(8))
# 256 KiB of text around a kernel that divides by an override.
LONG = ("//" + "x" * (256 << 10) + "\noverride o : u32 = 1u;\n" + sizes.kernel("x = d / o;\n")).encode()
BARRIER = "workgroupBarrier();"
# 900 bytes whose profile has 6,000 ticks, in some 60 KB.
TICKS = (sizes.HEAD + "fn t() { " + BARRIER * 15 + " }\nfn b() { " + "t();" * 30 + " }\n" + "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) g : vec3<u32>) {\n"
         + "b();" * 15 + "r[g.x] = a[g.x]; }\n").encode()
chain = Chain(h, ["ada", "mallory"], params={"fee_ppm": "1_000_000"})


class Nodes:
    """Two of them, told of the same blocks."""

    def __init__(self):
        self.height = 0
        self.all = [abci.Node(h, chain.home(name), "cpu", options=("--snapshot-blocks", "0")) for name in ("one", "two")]
        for n in self.all:
            n.consensus.ask("init_chain", chain_id=chain.name, initial_height=1)

    def block(self, txs, only=None):
        self.height += 1
        made = [n.consensus.ask("finalize_block", txs=txs, height=self.height) for n in self.all]
        for n in self.all:
            n.consensus.ask("commit")
        h.check(f"block {self.height} is the same at both", made[0]["app_hash"] == made[1]["app_hash"] and [(r["code"], r["data"]) for r in made[0]["tx_results"]] ==
                [(r["code"], r["data"]) for r in made[1]["tx_results"]])
        return made[0]["tx_results"]

    def resident(self):
        with open(f"/proc/{self.all[0].process.pid}/status", encoding="ascii", errors="replace") as f:
            return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmRSS:"))


def job(shader, number, **more):
    return chain.message("mallory", "execute", shader_cid=cid(shader), input_cid=cid(WORDS), dispatch={"x": number, "y": 1, "z": 1}, gas_limit=1, output_bytes=32 * number, **more)


def forgotten(nodes):
    """Jobs that are refused, of one large text: for each of them every node kept a copy of it, or two, for ever: 256 or 512 KiB a message of 300 bytes. (Succeeded: 120 messages took 46 MiB.)"""
    nodes.block([job(LONG, i) for i in range(1, 11)] + [job(LONG, 1, overrides=[dict(name="o", bits=0)])])
    before = nodes.resident()
    results = nodes.block([job(LONG, 100 + i) for i in range(60)] + [job(LONG, 1 + i, overrides=[dict(name="o", bits=0)]) for i in range(60)])
    h.check("jobs for too little gas, and jobs of no kernel, are refused", [r["code"] for r in results] == [5818] * 60 + [2045] * 60, results[0])
    grown = nodes.resident() - before
    h.check("and leave nothing in memory", grown < 24 * MIB, grown // MIB)
    print(f"120 refused jobs of a text of {len(LONG) >> 10} KiB: {grown / MIB:.1f} MiB more")


def answers(nodes):
    """A small text with a large profile, uploaded again and again: a block of 4 MiB of it had answers of 290 MiB, which CometBFT (100 MiB a response) does not read: no block would have come after it, at
    any node, for eight blocks' worth of gas. (Succeeded: 17.9 MiB for 300 messages of 870 bytes, in a protocol of frames of 16 MiB.)"""
    results = nodes.block([chain.message("mallory", "upload", wgsl_source=TICKS, description="") for _ in range(300)])
    one, total = len(results[0]["data"]), sum(len(r["data"]) for r in results)
    h.check("an answer is large", results[0]["code"] == 0 and one > 50000, (results[0]["code"], results[0]["log"], one))
    h.check("those of a block are bounded", total <= 8 * MIB, total)
    h.check("as many as there is room for are there", total > 8 * MIB - one and [len(r["data"]) for r in results] == [one] * (total // one) + [0] * (300 - total // one))
    h.check("each was taken in", {r["code"] for r in results} == {0})
    # Texts are for people, and bounded likewise.
    results = nodes.block([chain.message("mallory", "execute", shader_cid=cid(TICKS), input_cid=cid(b"%d" % i), dispatch={"x": 1, "y": 1, "z": 1}, gas_limit=1, output_bytes=4) for i in range(20)])
    h.check("who is refused is told why", all(r["code"] == 5834 and r["log"] for r in results))
    print(f"300 answers of {one} bytes: {total} in the block")


def withdrawn(nodes):
    """A copy of somebody's upload that comes first, and is deprecated: the author's jobs are taken in."""
    text = sizes.kernel("x = x * 7u + 3u;\n").encode()
    mine = chain.message("ada", "upload", wgsl_source=text, description="mine")
    results = nodes.block([chain.message("mallory", "upload", wgsl_source=text, description="a copy"), chain.message("mallory", "name", op=2, cid=cid(text)), mine,
                           chain.message("ada", "execute", shader_cid=cid(text), input_cid=cid(WORDS), dispatch={"x": 1, "y": 1, "z": 1}, gas_limit=10**6, output_bytes=32),
                           chain.message("ada", "name", op=1, name="mine", cid=cid(text))])
    h.check("a deprecated copy stops neither jobs nor names", [r["code"] for r in results] == [0] * 5, [(r["code"], r["log"]) for r in results])
    job_id = wire.decode("Response", results[3]["data"])["execute"]["job_id"]
    home = nodes.all[0].home
    shown = json.loads(chain.run(home, "--json", "job", "show", job_id))
    h.check("and the job runs", shown["state"] == "complete", shown)


def bounded():
    """Messages that are refused have no gas, and were bounded by a block's bytes alone: 8,192 jobs of too little gas, whose kernels every node compiles and judges, several times a block. (Succeeded.)"""
    small = Chain(h, ["mallory"], params={"fee_ppm": "1_000_000", "throughput": "400"})  # a block has 1,000,000 gas
    node = abci.Node(h, small.home("small"), "cpu", options=("--snapshot-blocks", "0"))
    node.consensus.ask("init_chain", chain_id=small.name, initial_height=1)
    text = sizes.kernel("x = x * 9u + 3u;\n").encode()
    begin = [small.message("mallory", "upload", wgsl_source=text, description=""), small.message("mallory", "blob", data=WORDS, blocks=1000)]
    h.check("a shader and bytes", [r["code"] for r in node.consensus.ask("finalize_block", txs=begin, height=1)["tx_results"]] == [0, 0])
    node.consensus.ask("commit")
    txs = [small.message("mallory", "execute", shader_cid=cid(text), input_cid=cid(WORDS), dispatch={"x": i + 1, "y": 1, "z": 1}, gas_limit=1, output_bytes=32 * (i + 1)) for i in range(12)]
    chosen = node.consensus.ask("prepare_proposal", txs=txs, height=2, max_tx_bytes=1 << 20)["txs"]
    h.check("a proposal has as many as a block's gas pays for", chosen == txs[:8], len(chosen))
    said = [node.consensus.ask("process_proposal", txs=txs[:n], height=2)["status"] for n in (8, 9)]
    h.check("and one of more is rejected", said == [1, 2], said)
    # A block that was decided all the same is followed.
    made = node.consensus.ask("finalize_block", txs=txs, height=2)["tx_results"]
    h.check("what was decided is followed", {r["code"] for r in made} == {5818}, made[0])
    node.consensus.ask("commit")
    h.check("it stops", node.stop(signal.SIGTERM) == 0, node.words())


nodes = Nodes()
h.check("what the rest stands on", {r["code"] for r in nodes.block([chain.message("ada", "upload", wgsl_source=LONG, description=""), chain.message("ada", "upload", wgsl_source=TICKS, description=""),
                                                                    chain.message("ada", "blob", data=WORDS, blocks=1000)])} == {0})
forgotten(nodes)
answers(nodes)
withdrawn(nodes)
bounded()
for n in nodes.all:
    h.check("stops", n.stop(signal.SIGTERM) == 0, n.words())
status = h.run("--home", nodes.all[0].home, "block", "verify", f"1..{nodes.height}", "--backend", "cpu")
h.check("and its blocks are run again", status[0] == 0, status)
h.finish()
