"""Random sequences of messages through a node under version 2 of the rules, valid and not, against a model of the ledger that shares nothing with
it: the same messages are taken in, the same balances, bonds and totals come out after every block, and what there is is always what was made.
usage: stakes.py [--messages N]"""
import hashlib
import json
import os
import re
import signal
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "blocks"))

from ed25519 import Key
from harness import Harness, Random
import wire
from world import World

h = Harness()
w = World(h, "stakes")
MESSAGES = int(sys.argv[sys.argv.index("--messages") + 1]) if "--messages" in sys.argv else 400
NAMES = ("ada", "bob", "eve", "zoe")
KEYS = {n: Key(hashlib.sha256(n.encode()).digest()) for n in (*NAMES, "ender")}
UNBONDING, LINK, ALIAS, FLOOR = 3, 70, 110, 400
START = {"ada": 5000, "bob": 3000, "eve": 2 ** 64 - 1 - 9300, "zoe": 1000}
MOST = 2 ** 64 - 1
SHADER = b"""//# max dispatch = 64, 1, 1
@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) g : vec3<u32>) { b[g.x] = a[g.x]; }
"""


class Model:
    """The ledger from SEMANTICS.md 8.9. A step that is refused changes nothing but is known to be refused."""

    def __init__(self):
        self.balance, self.bond = dict(START), dict.fromkeys(NAMES, 0)
        self.leaving = []  # (block that ends it, account, amount)
        self.supply, self.treasury, self.height = sum(START.values()), 0, 1
        self.then = [dict(self.bond)] * 2  # bonds when a block began
        self.proposals, self.votes, self.links, self.names = [], set(), {}, {}

    def credit(self, _, to, n):
        if not 0 < n or self.supply + n > MOST:
            return False
        self.supply += n
        self.balance[to] = self.balance.get(to, 0) + n
        return True

    def transfer(self, a, b, n):
        if not 0 < n <= self.balance[a]:
            return False
        self.balance[a] -= n
        self.balance[b] = self.balance.get(b, 0) + n
        return True

    def raise_bond(self, a, _, n):
        if not 0 < n <= self.balance[a]:
            return False
        self.balance[a] -= n
        self.bond[a] += n
        return True

    def lower_bond(self, a, _, n):
        if not 0 < n <= self.bond[a]:
            return False
        self.bond[a] -= n
        self.leaving.append((self.height + UNBONDING, a, n))
        return True

    def link(self, a, pair, taken):
        if taken:
            return self.links.pop((a, pair), None) is not None
        if not self.transfer(a, "rank", LINK):
            return False
        self.links[a, pair] = True
        return True

    def alias(self, a, name, _):
        owner, until = self.names.get(name, (a, 0))
        if owner != a and until >= self.height or self.balance[a] < ALIAS:
            return False
        self.balance[a] -= ALIAS
        self.treasury += ALIAS
        self.names[name] = (a, self.height + 2)
        return True

    def enough(self, a, since):
        return min(self.bond[a], self.then[since].get(a, 0)) >= FLOOR

    def propose(self, a, *_):
        if not self.enough(a, self.height):
            return False
        self.proposals.append(self.height)
        return True

    def vote(self, a, number, _):
        if not 1 <= number <= len(self.proposals) or (a, number) in self.votes or not self.enough(a, self.proposals[number - 1]):
            return False
        self.votes.add((a, number))
        return True

    def end(self):
        for _, a, n in [x for x in self.leaving if x[0] <= self.height]:
            self.balance[a] += n
        self.leaving = [x for x in self.leaving if x[0] > self.height]
        self.height += 1
        self.then.append(dict(self.bond))

    def held(self):
        return sum(self.balance.values()) + sum(self.bond.values()) + sum(n for *_, n in self.leaving) + self.treasury


def begin():
    os.makedirs(os.path.join(w.home, "chain"), exist_ok=True)
    with open(os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
        text = f.read()
    for name, value in (("rules", 2), ("unbonding_blocks", UNBONDING), ("link_cost", LINK), ("alias_cost", ALIAS), ("alias_blocks", 2),
                        ("stake_floor", FLOOR), ("validation_cost", 0), ("fee_ppm", 0)):
        text, n = re.subn(rf'(\n *{name} = )"\w+"', rf'\1"{value}"', text)
        assert n == 1, name
    with open(os.path.join(w.home, "chain", "params.cfg"), "w", encoding="utf-8") as f:
        f.write(text)
    accounts = [f'{{ name = "{n}"; balance = "{START.get(n, 0)}"; keys = [ "{k.public.hex()}" ]; '
                f'roles = [ "{"block" if n == "ender" else "credit"}" ]; }}' for n, k in KEYS.items()]
    with open(os.path.join(w.home, "chain", "genesis.cfg"), "w", encoding="utf-8") as f:
        f.write("genesis : { version = 1; accounts : ( " + ", ".join(accounts) + " ); };\n")


def cid(data):
    raw = b"\x01\x55\x12\x20" + hashlib.sha256(data).digest()
    bits = "".join(f"{b:08b}" for b in raw)
    bits += "0" * (-len(bits) % 5)
    return "b" + "".join("abcdefghijklmnopqrstuvwxyz234567"[int(bits[k:k + 5], 2)] for k in range(0, len(bits), 5))


def say(client, chain, kind, values, key, nonce):
    bare = wire.encode("Request", {kind: values})
    over = b"pipectl message 1\0" + chain + struct.pack("<QQ", nonce, 10 ** 6) + bare
    data = wire.encode("Request", {kind: values, "auth": {"chain": chain, "nonce": nonce, "expiry": 10 ** 6,
                                                          "signatures": [{"key": key.public, "value": key.sign(over)}]}})
    client.socket.sendall(struct.pack("<I", len(data)) + data)
    return client.hear()


def step(r, m):
    """A message, and what the model says of it."""
    a, b = NAMES[r.below(4)], NAMES[r.below(4)]
    near = m.bond[a] if r.below(2) else m.balance[a]
    n = [near, near + 1, 1 + r.below(500), 1 + r.below(max(1, near)), 1 + r.below(MOST), r.below(3) * 400 + 1][r.below(6)]
    n = min(n, MOST)
    which = r.below(9)
    if which == 0:
        n = 1 + r.below(20) if r.below(3) else n
        return "ledger", dict(sender=a, op=1, to=b, amount=n), m.credit, (a, b, n)
    if which in (1, 2):
        return "ledger", dict(sender=a, op=2, to=b, amount=n), m.transfer, (a, b, n)
    if which == 3:
        return "ledger", dict(sender=a, op=3, amount=n), m.raise_bond, (a, None, n)
    if which == 4:
        return "ledger", dict(sender=a, op=4, amount=n), m.lower_bond, (a, None, n)
    if which == 5:
        pair, taken = r.below(3), r.below(2)
        return "link", dict(sender=a, source=cid(b"s"), target=cid(bytes([pair])), taken=taken), m.link, (a, pair, taken)
    if which == 6:
        name = f"n{r.below(2)}"
        return "name", dict(sender=a, op=1, name=name, cid=cid(SHADER)), m.alias, (a, name, None)
    if which == 7:
        return ("params", dict(sender=a, op=1, height=10 ** 6, changes=[dict(name="scale", value=str(1 + r.below(1000)))]), m.propose, (a, None, None))
    number = 1 + r.below(len(m.proposals) + 1)
    return "params", dict(sender=a, op=2, proposal=number, yes=r.below(2)), m.vote, (a, number, None)


def compare(m, label):
    shown = w.answer("ledger", "show")
    got = {x["account"]: (int(x["balance"]), int(x["bond"])) for x in shown["accounts"]}
    want = {n: (m.balance.get(n, 0), m.bond.get(n, 0)) for n in {*m.balance, *m.bond}}
    for name in want:
        h.check(f"{label}: {name}", got.get(name, (0, 0)) == want[name], f"{got.get(name)}, the model has {want[name]}")
    h.check(f"{label}: totals", (int(shown["supply"]), int(shown["treasury"]), int(shown["burned"])) == (m.supply, m.treasury, 0), str(shown))
    h.check(f"{label}: what there is is what was made", m.held() == m.supply, f"{m.held()} {m.supply}")


def main():
    begin()
    chain = bytes.fromhex(w.answer("ledger", "show")["chain"])
    h.env["PIPECTL_HOME"] = w.home
    node = wire.Node(h)
    c, m, r = node.client(), Model(), Random(20261127)
    nonce, taken, refused = dict.fromkeys(NAMES, 0), {}, {}
    kind, fields = say(c, chain, "upload", dict(sender="ada", wgsl_source=SHADER, description="", tags=[], implements=""), KEYS["ada"], 0)
    h.check("a shader", kind == "upload", str(fields))
    nonce["ada"] = 1
    for i in range(MESSAGES):
        kind, values, does, args = step(r, m)
        want = does(*args)
        got, fields = say(c, chain, kind, values, KEYS[values["sender"]], nonce[values["sender"]])
        if not h.check(f"message {i}: {kind} {values}", (got != "error") == want, f"{got} {fields}, the model says {want}"):
            break
        nonce[values["sender"]] += want
        counts = taken if want else refused
        counts[does.__name__] = counts.get(does.__name__, 0) + 1
        if i % 12 == 11:
            got, fields = say(c, chain, "block_end", {}, KEYS["ender"], m.height)
            h.check(f"block {m.height}", got == "block_end", str(fields))
            m.end()
        if i % 60 == 59:
            compare(m, f"after {i + 1}")
    compare(m, "at the end")
    print("taken in:", json.dumps(taken), "refused:", json.dumps(refused))
    h.check("every step was taken in and was refused", len(taken) == len(refused) == 8, f"{taken} {refused}")
    node.stop(signal.SIGTERM)
    w.text("block", "verify", f"1..{m.height - 1}", "--backend", "cpu")
    h.finish()


main()
