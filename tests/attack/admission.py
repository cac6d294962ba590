"""A load on every node for nothing: what an engine asks about a message before it is in a block (CheckTx), and what a proposer and its judges ask of one that is proposed, against what the
message costs in the block where it is paid for; and an engine that waits for a block's end before it is told anything else. `admission.py [contracts]`: with Wasmtime, of contracts alone."""
import os
import select
import signal
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("", "node", "engine"):
    sys.path.insert(0, os.path.join(HERE, "..", "integration", folder))

from harness import Harness  # noqa: E402
from signed import Chain, cid  # noqa: E402
import abci  # noqa: E402
import wire  # noqa: E402

CONTRACTS = sys.argv[1:] == ["contracts"]
TIMES = 20
h = Harness()
chain = Chain(h, ["ada", "mallory"], params={"fee_ppm": "1000000", "contracts": "1" if CONTRACTS else "0"})


def cpu():
    """Processor time of the node and its workers, in seconds: what other work beside takes is not in it."""
    total, of = 0, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                of[int(pid)] = [int(x) for x in f.read().rsplit(")", 1)[1].split()[1:15]]
        except OSError:
            pass  # it has ended
    pids = [node.process.pid]
    for pid in pids:
        total += sum(of[pid][10:14])  # its own, and of those that have ended
        pids += [child for child, fields in of.items() if fields[0] == pid]
    return total / os.sysconf("SC_CLK_TCK")


def spent(what):
    began = cpu()
    return what(), cpu() - began


class Engine:
    """One validator and its engine."""
    height = 0

    def decide(self, *txs):
        self.height += 1
        results = node.consensus.ask("finalize_block", txs=list(txs), height=self.height)["tx_results"]
        node.consensus.ask("commit")
        return [r["code"] for r in results]


def check(tx):
    return node.mempool.ask("check_tx", tx=tx)["code"]


def proposed(*txs):
    """The messages that a proposer takes and the others vote for."""
    chosen = node.consensus.ask("prepare_proposal", txs=list(txs), max_tx_bytes=1 << 22, height=engine.height + 1)["txs"]
    vote = node.consensus.ask("process_proposal", txs=chosen, height=engine.height + 1)["status"]
    return chosen, vote


def balance(name):
    return wire.decode("EngineAccount", node.query.ask("query", path="/account", data=name.encode())["value"])["balance"]


def dear(what, code, make):
    """Asked about TIMES times, then proposed, then in a block: only the block does the work, and there it is paid for."""
    first = chain.numbers["mallory"]
    txs = [make(i) for i in range(TIMES)]
    codes, asked = spent(lambda: [check(t) for t in txs])
    h.check(f"{what}: admitted by its form, its signature, its number and what its sender has", codes == [0] * TIMES, codes)
    (chosen, vote), judged = spent(lambda: proposed(txs[0]))
    h.check(f"{what}: proposed and voted for", chosen == [txs[0]] and vote == 1, (len(chosen), vote))
    had = balance("mallory")
    done, run = spent(lambda: engine.decide(txs[0]))
    h.check(f"{what}: PC{code:04} in its block", done == [code], done)
    h.check(f"{what}: its sender has paid", balance("mallory") < had, had)
    print(f"{what:34} asked {1e3 * asked / TIMES:8.2f} ms a time, proposed and judged {1e3 * judged:8.2f}, in its block {1e3 * run:8.1f}", flush=True)
    h.check(f"{what}: asked about {TIMES} times costs no more than twice in a block", asked < 2 * run + 0.03, (asked, run))
    chain.numbers["mallory"] = first + 1
    return judged, run


def contracts():
    import contracts as made  # noqa: E402  (tests/integration/node)
    main = made.contract()
    h.check("a contract", engine.decide(chain.message("mallory", "contract", code=main)) == [0])
    judged, run = dear("a call that spins", 0, lambda i: chain.message("mallory", "call", contract=cid(main), function="spin", fuel=90_000_000 + i))
    h.check("a call that spins: nor does a proposer or a voter run it", judged < run / 4, (judged, run))
    wide = made.assemble('(module (memory (export "memory") 1) ' + "".join(
        f"(func (param i64) (result i64) {'(i64.mul (i64.const %d) ' % (i + 3) * 100}(local.get 0){')' * 100})" for i in range(400)) + ")")
    judged, run = dear("a module to compile", 0, lambda i: chain.message("mallory", "contract", code=wide + b"\0\x03\x02" + struct.pack("<H", i)))
    h.check("a module to compile: nor does a proposer or a voter compile it", judged < run / 2, (judged, run))
    h.check("a call of a contract that is not there is for its block", check(chain.message("mallory", "call", contract=cid(b"x"), function="f", fuel=10 ** 6)) == 0)


SLOW = b"""@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g : vec3<u32>) {
  var x = a[0] + g.x;
  for (var i = 0u; i < 700u; i++) { x = (x * 1664525u) % (i + a[1] + 1000u) + i * 7u; }
  if (g.x < arrayLength(&b)) { b[g.x] = x + g.x; }
}
"""
BAD = SLOW + b"".join(b"fn f%d(x : u32) -> u32 { return x * %du + 7u; }\n" % (i, i) for i in range(1400)) + b"fn wrong() -> u32 { return 1.5f; }\n"
BAD_CODE = 2404
WORDS = struct.pack("<4I", 1, 2, 3, 4)


def slow(**how):
    return chain.message("ada", "execute", shader_cid=cid(SLOW), input_cid=cid(WORDS), dispatch={"x": 96, "y": 1, "z": 1}, gas_limit=240_000_000, output_bytes=24576, **how)


def others():
    setup = [chain.message("ada", "upload", wgsl_source=SLOW, description="slow"), *chain.bring("ada", WORDS), chain.message("mallory", "ledger", op=3, amount=10 ** 7)]
    h.check("a shader, bytes and a bond", engine.decide(*setup) == [0] * 3)
    dear("a shader that is none at its end", BAD_CODE, lambda i: chain.message("mallory", "upload", wgsl_source=BAD + b"// %d\n" % i, description=""))
    job = slow()
    done, run = spent(lambda: engine.decide(job))
    h.check("a long job", done == [0] and run > 0, (done, run))
    print(f"a long job {1e3 * run:.0f} ms")
    made = wire.decode("Response", node.query.ask("query", path="/block")["value"])["block_query"]
    ids = made["jobs"]
    dear("a dispute of a long job", 0, lambda i: chain.message("mallory", "verdict", job_id=ids[0], output=cid(b"%d" % i)))
    waiting()


def ready(c):
    return bool(select.select([c.socket], [], [], 0)[0])


def waiting():
    """While a block runs: is anybody else answered?"""
    answers, longest = {"info": 0, "query": 0, "check": 0}, 0.0
    # On a busy machine a block may be over before this process has asked often enough: then in another one, too.
    for _ in range(20):
        longest = max(longest, one_waits(answers))
        if min(answers.values()) > 3:
            break
    h.check("while a block runs its engine hears of what is final", answers["info"] > 3 and answers["query"] > 3, answers)
    h.check("and whether messages are admitted", answers["check"] > 3, answers)
    print(f"while blocks ran: {answers}, the longest round {1e3 * longest:.0f} ms")



def one_waits(answers):
    engine.height += 1
    last = node.query.ask("info")
    node.consensus.send("finalize_block", txs=[slow()], height=engine.height)
    node.consensus.send("flush")
    longest, number = 0.0, chain.numbers["mallory"]
    while not ready(node.consensus):
        began = time.monotonic()
        info = node.query.ask("info")
        account = node.query.ask("query", path="/account", data=b"ada")
        code = check(chain.transfer("mallory", "ada", 1, number=number))
        longest = max(longest, time.monotonic() - began)
        if ready(node.consensus):
            break
        number += code == 0
        answers["info"] += info == last
        answers["query"] += account["height"] == last["last_block_height"]
        answers["check"] += code == 0
    h.check("the block ends as it would have", [r["code"] for r in node.consensus.hear("finalize_block")["tx_results"]] == [0])
    node.consensus.hear("flush")
    h.check("before its commit it is not final", node.query.ask("info") == last)
    node.consensus.ask("commit")
    h.check("and then it is", node.query.ask("info")["last_block_height"] == engine.height)
    h.check("what waits is asked about anew", check(chain.transfer("mallory", "ada", 1, number=chain.numbers["mallory"])) == 0)
    return longest


def bounded():
    """What a sender has is counted once, however many messages name it."""
    third = balance("mallory") // 3
    first = chain.numbers["mallory"]
    codes = [check(chain.transfer("mallory", "ada", third, number=first + 1 + i)) for i in range(4)]
    h.check("no more is admitted than its sender has: PC5713", codes[:2] == [0, 0] and 5713 in codes[2:] and codes[3] in (5713, 5842), codes)


node = abci.Node(h, chain.home("one"), "cpu")
engine = Engine()
node.consensus.ask("init_chain", chain_id=chain.name, initial_height=1)
if CONTRACTS:
    contracts()
else:
    others()
    bounded()
h.check("stops", node.stop(signal.SIGTERM) == 0, node.words())
h.finish()
