"""What attacks share: a chain of some nodes under one version of the rules, fed over their sockets by a client that knows the protocol
from its documents alone, and the table of attacks. An attack is a function of a world that does harm and returns what came of it."""
import atexit
import base64
import hashlib
import os
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("", "node"):
    sys.path.insert(0, os.path.join(HERE, "..", "integration", folder))

from ed25519 import Key  # noqa: E402
from harness import patient  # noqa: E402
import wire  # noqa: E402

PEOPLE = ("mallory", "ada", "poor")
RICH = 10 ** 15


class Outcome:
    """harm: it did what it tries; else code is that of who stopped it."""

    def __init__(self, harm, code=0, detail=""):
        self.harm, self.code, self.detail = bool(harm), code, str(detail)

    def __str__(self):
        return "succeeds" if self.harm else f"fails, PC{self.code:04}" if self.code else "fails"


class Answer:
    def __init__(self, kind, fields):
        self.kind, self.fields = kind, fields

    @property
    def code(self):
        return self.fields["code"] if self.kind == "error" else 0

    def __getitem__(self, name):
        return self.fields[name]

    def __eq__(self, other):
        return (self.kind, self.fields) == (other.kind, other.fields)

    def __str__(self):
        return f"PC{self.code:04} {self.fields['message']}" if self.code else f"{self.kind} {str(self.fields)[:300]}"


class Node:
    """A home and its process. peers: sockets of nodes that are asked for bytes."""

    def __init__(self, world, name, backend, options=()):
        self.world, self.name, self.backend, self.options = world, name, backend, list(options)
        self.home = world.h.path(f"{world.name}-{name}")
        self.path = world.h.path(f"{world.name}-{name}.sock")
        os.makedirs(os.path.join(self.home, "chain"))
        made = os.environ.get("PIPECTL_TEST_HOME", "")
        for part in ("profiles", "keys"):
            if os.path.isdir(os.path.join(made, part)):
                os.symlink(os.path.join(made, part), os.path.join(self.home, part))
        world.begin(self.home)
        self.sent = {}  # by sender: messages that used up a number

    def start(self, *more):
        self.log = open(self.world.h.path(f"{self.world.name}-{self.name}.log"), "ab")
        backends = [w for b in self.backend.split(" then ") for w in ("--backend", b)]
        self.process = subprocess.Popen([self.world.h.pipectl, "--home", self.home, "-q", "node", "--socket", self.path, *backends,
                                         *self.options, *more], env=self.world.h.env, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        atexit.register(lambda process=self.process: process.poll() is None and process.kill())
        until = time.monotonic() + patient(120)
        while time.monotonic() < until and self.process.poll() is None:
            try:
                self.client = wire.Client(self.path, timeout=patient(300))
                return self
            except OSError:
                time.sleep(0.02)
        raise SystemExit(f"node {self.name} did not start: {self.said()}")

    def said(self):
        self.log.flush()
        with open(self.log.name, encoding="utf-8", errors="replace") as f:
            return f.read()

    def ask(self, data):
        self.client.socket.sendall(struct.pack("<I", len(data)) + data)
        return Answer(*self.client.hear())

    def run(self, *args):
        done = subprocess.run([self.world.h.pipectl, "--home", self.home, *args], env=self.world.h.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace")

    def stop(self):
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(patient(60))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def blob_path(self, cid):
        """The file of a blob that has one; the store's one file for small blobs where it lies there."""
        for base, _, files in os.walk(os.path.join(self.home, "cas")):
            for f in files:
                if cid.endswith(f) or f == cid:
                    return os.path.join(base, f)
        return self.small() if self.in_small("SELECT 1 FROM blobs WHERE cid = ?", cid) else None

    def small(self):
        return os.path.join(self.home, "cas", "small.sqlite")

    def in_small(self, sql, cid, *more):
        if not os.path.exists(self.small()):
            return None
        db = sqlite3.connect(self.small(), timeout=30)
        with db:
            row = db.execute(sql, (*more, base64.b32decode(cid[1:].upper() + "=" * (-len(cid[1:]) % 8))[4:])).fetchone()
        db.close()
        return row

    def lose(self, cid):
        path = self.blob_path(cid)
        if path == self.small():
            self.in_small("DELETE FROM blobs WHERE cid = ?", cid)
        else:
            os.remove(path)

    def damage(self, cid, data):
        path = self.blob_path(cid)
        if path == self.small():
            self.in_small("UPDATE blobs SET bytes = ? WHERE cid = ?", cid, data)
            return
        os.chmod(path, 0o600)
        with open(path, "wb") as f:
            f.write(data)


class World:
    """Nodes that begin alike. Under version 2 every sender has a key of the genesis, and each message is signed."""

    def __init__(self, h, name, rules, nodes=("cpu",), **changes):
        self.h, self.name, self.rules, self.changes = h, name, rules, dict(changes)
        self.keys = {p: Key(hashlib.sha256(p.encode()).digest()) for p in PEOPLE}
        self.nodes = [Node(self, f"n{i}", b) for i, b in enumerate(nodes)]
        if rules == 2:
            status, out, err = self.nodes[0].run("ledger", "show")
            found = re.search(r"chain +([0-9a-f]{64})", out)
            assert found, (status, out, err)
            self.chain = bytes.fromhex(found[1])
        paths = [n.path for n in self.nodes]
        for n in self.nodes:
            n.start(*(w for p in paths if p != n.path and rules == 2 for w in ("--peer", p)))
        if rules == 1:
            for person in PEOPLE[:2]:
                self.all("ledger", dict(sender=person, op=1, to=person, amount=RICH))

    def begin(self, home):
        with open(os.path.join(os.path.dirname(self.h.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
            text = f.read()
        for name, value in dict(self.changes, rules=self.rules).items():
            text, n = re.subn(rf'(\n *{name} = )"\w+"', rf'\1"{value}"', text)
            assert n == 1, name
        with open(os.path.join(home, "chain", "params.cfg"), "w", encoding="utf-8") as f:
            f.write(text)
        if self.rules == 1:
            return
        accounts = ", ".join(f'{{ name = "{p}"; balance = "{1 if p == "poor" else RICH}"; keys = [ "{self.keys[p].public.hex()}" ]; '
                             f'roles = [ "credit"{", " + chr(34) + "block" + chr(34) if p == "ada" else ""} ]; }}' for p in PEOPLE)
        with open(os.path.join(home, "chain", "genesis.cfg"), "w", encoding="utf-8") as f:
            f.write(f"genesis : {{ version = 1; accounts : ( {accounts} ); }};\n")

    # ---- messages ------------------------------------------------------------------------------

    def signed(self, kind, values, nonce, keys=None, expiry=10 ** 6):
        bare = wire.encode("Request", {kind: values})
        over = b"pipectl message 1\0" + self.chain + struct.pack("<QQ", nonce, expiry) + bare
        keys = [self.keys[values["sender"]]] if keys is None else keys
        auth = {"chain": self.chain, "nonce": nonce, "expiry": expiry,
                "signatures": [{"key": k.public, "value": k.sign(over)} for k in sorted(keys, key=lambda k: k.public)]}
        return wire.encode("Request", {kind: values, "auth": auth})

    def tell(self, node, kind, values):
        """One message to one node, signed where the rules ask for it."""
        sender = values.get("sender")
        if self.rules == 1 or sender is None:
            return node.ask(wire.encode("Request", {kind: values}))
        answer = node.ask(self.signed(kind, values, node.sent.get(sender, 0)))
        if not answer.code or "the refusal costs" in answer["message"]:
            node.sent[sender] = node.sent.get(sender, 0) + 1
        return answer

    def all(self, kind, values):
        """The answers of all nodes."""
        return [self.tell(n, kind, values) for n in self.nodes]

    def upload(self, text, sender="mallory"):
        return self.all("upload", dict(sender=sender, wgsl_source=text.encode(), description="", tags=[], implements=""))

    def bring(self, data, sender="mallory", nodes=None, blocks=100):
        """Bytes into the chain, the way its version has; their CID."""
        for n in self.nodes if nodes is None else nodes:
            answer = (self.tell(n, "put", dict(data=data)) if self.rules == 1
                      else self.tell(n, "blob", dict(sender=sender, data=data, blocks=blocks)))
            assert not answer.code or "already" in answer["message"], answer  # a block takes a blob in once
        return cid(data)

    def job(self, shader, given, groups=(1, 1, 1), output=32, sender="mallory", limit=10 ** 9, **more):
        return dict(sender=sender, shader_cid=shader, input_cid=given, dispatch=dict(x=groups[0], y=groups[1], z=groups[2]),
                    gas_limit=limit, output_bytes=output, **more)

    def end(self, node=None):
        """End the block on all nodes, or on one."""
        return [n.ask(self.ending(n)) for n in (self.nodes if node is None else [node])]

    def ending(self, node):
        """Under version 2 the end of a block is ada's to sign, with its height as the number."""
        if self.rules == 1:
            return wire.encode("Request", {"block_end": {}})
        last = node.ask(wire.encode("Request", {"block_query": {}}))
        return self.signed("block_end", {}, 1 if last.code else last["height"] + 1, [self.keys["ada"]])

    # ---- what is seen of harm ------------------------------------------------------------------

    def goes_on(self):
        """An honest transfer and the end of a block, everywhere alike: 0, or the code of what is in the way."""
        answers = self.all("ledger", dict(sender="ada", op=2, to="mallory", amount=1)) + self.end()
        return next((a.code for a in answers if a.code), 0)

    def is_split(self):
        """After the same blocks: another commit, or a node that has none."""
        commits = {(a["height"], a["commit"]) if not a.code else (n.name, a.code)
                   for n in self.nodes for a in [n.ask(wire.encode("Request", {"block_query": {}}))]}
        return len(commits) > 1

    def balance(self, account, node=0):
        status, out, err = self.nodes[node].run("--json", "ledger", "show", account)
        assert status == 0, err
        return int(re.search(r'"balance": *"?(\d+)', out)[1])

    def admits(self, text):
        """A shader is taken in, everywhere alike."""
        answers = self.upload(text)
        same = all(a == answers[0] for a in answers)
        return Outcome(not answers[0].code and same, answers[0].code, answers[0])

    def stop(self):
        for n in self.nodes:
            n.stop()


def cid(data):
    """CIDv1, raw, SHA-256, in base32."""
    raw = b"\x01\x55\x12\x20" + hashlib.sha256(data).digest()
    bits = "".join(f"{b:08b}" for b in raw)
    bits += "0" * (-len(bits) % 5)
    return "b" + "".join("abcdefghijklmnopqrstuvwxyz234567"[int(bits[k:k + 5], 2)] for k in range(0, len(bits), 5))


# ---- the table -----------------------------------------------------------------------------------

class Attack:
    """code: with which version 2 stops it; 0: it is not refused but has no effect. alone: in a world of its own."""

    def __init__(self, name, tries, code, run, nodes, alone, changes):
        self.name, self.tries, self.code, self.run = name, tries, code, run
        self.nodes, self.alone, self.changes = nodes, alone, changes


ATTACKS = []


def attack(name, tries, code, nodes=("cpu",), alone=False, **changes):
    def take(run):
        ATTACKS.append(Attack(name, tries, code, run, nodes, alone or nodes != ("cpu",) or bool(changes), changes))
        return run
    return take


def execute(h, attacks, family):
    """Each attack against both versions. 1 when it succeeded under version 1 and failed with its code under version 2."""
    shared = {}
    for a in attacks:
        came = []
        for rules in (1, 2):
            key = re.sub(r"\W+", "-", f"{family}-{rules}" + (f"-{a.name}" if a.alone else ""))
            world = shared.get(key) or World(h, key, rules, a.nodes, **a.changes)
            if not a.alone:
                shared[key] = world
            try:
                came.append(a.run(world))
            finally:
                if a.alone:
                    world.stop()
        one, two = came
        h.check(f"{a.name}: succeeds against version 1", one.harm, one.detail)
        h.check(f"{a.name}: fails against version 2 with PC{a.code:04}", not two.harm and two.code == a.code, f"{two}: {two.detail}")
        print(f"{a.name:40} version 1: {one}; version 2: {two}", flush=True)
    for world in shared.values():
        world.stop()
