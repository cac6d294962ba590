"""Who runs blocks answers for what came of them, whoever ordered them: nodes behind an engine sign a statement of each block's root; one that is not so is evidence which the state machine
judges alone, and the bond of the account that the key has of itself is slashed, at every node alike, whatever keys it has since and though it is on its way back. What is right, unsigned,
too early, too old or judged before is refused."""
import hashlib
import json
import os
import re
import signal
import struct

from harness import Harness
from signed import Chain
from ed25519 import Key
import abci
import wire

h = Harness()
chain = Chain(h, ["ada", "bob"], params={"unbonding_blocks": "12", "dispute_deposit": "1_000_000", "slash_gas": "3"})
BOND, PART = 50_000_000, 10  # slash_ppm is a tenth
MOST = 3 * 1_000_000         # slash_gas times the deposit: blocks here have no gas
key = Key(hashlib.sha256(b"executor").digest())
NAME = "key." + hashlib.sha256(key.public).hexdigest()[:60]
chain.keys[NAME], chain.numbers[NAME] = key, 0


def stated(height, root, signer=key, of=None):
    over = b"pipectl statement 1\0" + (chain.id if of is None else of) + struct.pack("<Q", height) + root
    return dict(key=signer.public, height=height, root=root, signature=signer.sign(over))


def account(node, name):
    return wire.decode("EngineAccount", node.query.ask("query", path="/account", data=name.encode())["value"])


class Engine:
    height, hashes = 0, [b""]

    def decide(self, *txs):
        """One hash at every node; the codes."""
        self.height += 1
        made = [n.consensus.ask("finalize_block", txs=list(txs), height=self.height) for n in nodes]
        for n in nodes:
            n.consensus.ask("commit")
        h.check(f"block {self.height}: one hash", made[0] == made[1], made)
        self.hashes.append(made[0]["app_hash"])
        return [r["code"] for r in made[0]["tx_results"]]


def evidence(values):
    """Bob's message; whether it uses his number up is seen later."""
    return chain.signed("bob", "statement", values, number=chain.numbers["bob"])


def accused(what, code, values, taken):
    had = account(nodes[0], NAME)
    h.check(f"{what}: admitted", nodes[1].mempool.ask("check_tx", tx=evidence(values))["code"] == 0)
    got = engine.decide(evidence(values))
    now = [account(n, NAME) for n in nodes]
    h.check(f"{what}: {'PC%04u' % code if code else 'taken in'}", got == [code], got)
    h.check(f"{what}: {taken} of the bond", now[0] == now[1] and had["bond"] - now[0]["bond"] == taken, (had, now))
    chain.numbers["bob"] += code == 0  # no fee is asked for here, so what is refused leaves no trace


def behind_an_engine():
    h.check("an account that a key names is given gas, and bonds it", engine.decide(chain.transfer("ada", NAME, 10 ** 9), chain.message(NAME, "ledger", op=3, amount=BOND)) == [0, 0])
    engine.decide()
    engine.decide()
    wrong, right = bytes(range(32)), engine.hashes[2]
    other = Key(hashlib.sha256(b"another").digest())
    accused("a right statement", 6116, stated(2, right), 0)
    accused("a block that is not final", 6116, stated(engine.height + 2, wrong), 0)
    accused("a statement of another chain", 6117, stated(2, wrong, of=bytes(32)), 0)
    accused("a statement that somebody else signed", 6117, dict(stated(2, wrong, other), key=key.public), 0)
    accused("a signature of another root", 6117, dict(stated(2, right), root=wrong), 0)
    accused("what nobody signed", 6117, dict(stated(2, wrong), signature=bytes(64)), 0)
    accused("a wrong statement", 0, stated(2, wrong), min(BOND // PART, MOST))
    accused("the same again", 6116, stated(2, wrong), 0)
    accused("another one of the same block", 6116, stated(2, wrong[::-1]), 0)
    h.check("its keys are turned away", engine.decide(chain.message(NAME, "keys", keys=[other.public], threshold=1)) == [0])
    chain.keys[NAME] = other
    accused("a wrong statement under the key of before", 0, stated(3, wrong), MOST)
    left = account(nodes[0], NAME)["bond"]
    h.check("all of it is taken back", engine.decide(chain.message(NAME, "ledger", op=4, amount=left)) == [0])
    before = json.loads(chain.run(nodes[0].home, "--json", "ledger", "show"))
    accused("a wrong statement of who has gone", 0, stated(4, wrong), 0)
    after = json.loads(chain.run(nodes[0].home, "--json", "ledger", "show"))
    h.check("what is on its way back pays", int(after["burned"]) + int(after["treasury"]) - int(before["burned"]) - int(before["treasury"]) == MOST, (before, after))
    while engine.height < 18:
        engine.decide()
    accused("a block of long ago", 6116, stated(5, wrong), 0)


def said_by_nodes():
    """The node's own statement, asked for by a stranger."""
    for n in nodes:
        text = n.query.ask("query", path="/statement", data=b"3")["value"].decode()
        found = re.fullmatch(r"pipectl-statement 1\nchain ([0-9a-f]{64})\nheight 3\nroot ([0-9a-f]{64})\nkey ([0-9a-f]{64})\nsignature ([0-9a-f]{128})\n", text)
        h.check("a node states its root", found and found[1] == chain.id.hex() and found[2] == engine.hashes[3].hex(), text)
        over = b"pipectl statement 1\0" + chain.id + struct.pack("<Q", 3) + engine.hashes[3]
        h.check("and signs it", verifies(found[3], found[4], over))
    for data in (b"", b"0", b"x", b"99"):
        answer = nodes[0].query.ask("query", path="/statement", data=data)
        h.check("no block: PC6172", answer["code"] == 6172, answer)


def verifies(public, signature, over):
    import subprocess
    der = bytes.fromhex("302a300506032b6570032100") + bytes.fromhex(public)
    for name, data in (("public", der), ("signature", bytes.fromhex(signature)), ("over", over)):
        h.write(name, data)
    return subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", h.path("public"), "-rawin", "-in", h.path("over"), "-sigfile", h.path("signature")],
                          capture_output=True).returncode == 0


def by_hand():
    """`ledger accuse` with files."""
    home = h.path("plain")
    os.makedirs(os.path.join(home, "chain"))
    with open(os.path.join(nodes[0].home, "chain", "params.cfg"), encoding="utf-8") as f:
        text = f.read()
    with open(os.path.join(home, "chain", "params.cfg"), "w", encoding="utf-8") as f:
        f.write(text)
    made = json.loads(chain.run(home, "--json", "key", "new", "alice", "--no-passphrase"))["keys"][0]["key"]
    with open(os.path.join(home, "chain", "genesis.cfg"), "w", encoding="utf-8") as f:
        f.write('genesis : { version = 1; accounts : ( { name = "alice"; balance = "1000000000"; keys = [ "' + made + '" ]; roles = [ "credit", "block" ]; } ); };\n')
    chain.run(home, "block", "end", "--backend", "cpu")
    path = os.path.join(home, "chain", "receipts", "1.statement")
    with open(path, encoding="utf-8") as f:
        own = f.read()
    of = bytes.fromhex(re.search("chain ([0-9a-f]+)", own)[1])
    lie = stated(1, bytes(32), of=of)
    false = f"pipectl-statement 1\nchain {of.hex()}\nheight 1\nroot {lie['root'].hex()}\nkey {lie['key'].hex()}\nsignature {lie['signature'].hex()}\n"
    for what, text, code in (("a right one", own, "PC6116"), ("one that was changed", own.replace("root ", "root 0", 1), "PC6117"), ("another chain's", own.replace(of.hex(), bytes(32).hex()), "PC6117"),
                             ("no statement", "pipectl-statement 2\n", "PC6117"), ("more than one", own + own, "PC6117"), ("none that it signed", own.replace("height 1", "height 2"), "PC6117")):
        status, _, err = h.run("--home", home, "ledger", "accuse", h.write("one.statement", text.encode()), "--sender", "alice")
        h.check(f"{what}: {code}", status == 3 and code in err, (status, err))
    accuse = ["--home", home, "ledger", "accuse", h.write("one.statement", false.encode()), "--sender", "alice"]
    status, _, err = h.run(*accuse)
    h.check("of who has nothing at stake: PC6116", status == 3 and "PC6116" in err, (status, err))
    chain.run(home, "ledger", "credit", NAME, str(BOND), "--sender", "alice")
    bare = wire.encode("Request", {"ledger": dict(sender=NAME, op=3, amount=BOND)})
    over = b"pipectl message 1\0" + of + struct.pack("<QQ", 0, 10 ** 6) + bare
    signed = wire.encode("Request", {"ledger": dict(sender=NAME, op=3, amount=BOND), "auth": {"chain": of, "nonce": 0, "expiry": 10 ** 6, "signatures": [{"key": key.public, "value": key.sign(over)}]}})
    chain.run(home, "ledger", "apply", h.write("bond", signed))
    status, _, err = h.run(*accuse)
    h.check("a false one is taken in", status == 0, err)
    left = int(json.loads(chain.run(home, "--json", "ledger", "show", NAME))["bond"])
    h.check("and costs a part of the bond", left == BOND - MOST, left)


nodes = [abci.Node(h, chain.home(f"v{i}"), "cpu") for i in range(2)]
for n in nodes:
    n.consensus.ask("init_chain", chain_id=chain.name, initial_height=1)
engine = Engine()
behind_an_engine()
said_by_nodes()
for n in nodes:
    h.check("stops", n.stop(signal.SIGTERM) == 0, n.words())
by_hand()
h.finish()
