"""A chain that begins with accounts and keys, and its signed messages, from the documents alone."""
import hashlib
import json
import os
import re
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "node"))

from ed25519 import Key
import wire


def quoted(words):
    return ", ".join(f'"{w}"' for w in words)


class Chain:
    """Accounts by name, each with one key made of its name; `numbers` is what each has sent so far. roles: of who has one; all may end blocks where none are given."""

    def __init__(self, harness, names, balance=10**13, params=(), roles=()):
        self.h = harness
        self.keys = {name: Key(hashlib.sha256(name.encode()).digest()) for name in names}
        self.numbers = {name: 0 for name in names}
        self.roles, self.all_end = dict(roles), not roles
        self.balance, self.params = balance, dict({"rules": "2", "fee_ppm": "0"}, **dict(params))
        self.id = None

    def home(self, name, blobs=()):
        """A home that the chain begins in."""
        home = self.h.path(name)
        os.makedirs(os.path.join(home, "chain"))
        made = os.environ.get("PIPECTL_TEST_HOME", "")
        if os.path.isdir(made):
            from harness import take_made
            take_made(home)
        with open(os.path.join(os.path.dirname(self.h.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
            text = f.read()
        for param, value in self.params.items():
            text, n = re.subn(rf'(\n *{param} = )"[^"]*"', rf'\1"{value}"', text)
            assert n == 1, param
        with open(os.path.join(home, "chain/params.cfg"), "w", encoding="utf-8") as f:
            f.write(text)
        with open(os.path.join(home, "chain/genesis.cfg"), "w", encoding="utf-8") as f:
            f.write("genesis : {\n  version = 1;\n  accounts : (\n    " + ",\n    ".join(
                f'{{ name = "{n}"; balance = "{self.balance}"; keys = [ "{k.public.hex()}" ]; threshold = 1; roles = [ {quoted(self.roles.get(n, ("block",) if self.all_end else ()))} ]; }}' for n, k in self.keys.items()) + "\n  );\n};\n")
        for data in blobs if "blob" not in wire.PROTO["Request"] else ():
            self.run(home, "cas", "put", self.h.write("blob", data))
        shown = json.loads(self.run(home, "--json", "ledger", "show"))
        self.id = self.id or bytes.fromhex(shown["chain"])
        assert shown["chain"] == self.id.hex()
        return home

    def run(self, home, *args):
        done = subprocess.run([self.h.pipectl, "--home", home, *args], env=self.h.env, stdin=subprocess.DEVNULL, capture_output=True)
        assert done.returncode == 0, (args, done.stderr.decode())
        return done.stdout.decode()

    @property
    def name(self):
        """What an engine calls the chain."""
        return "pipectl-" + self.id.hex()[:40]

    def signed(self, sender, kind, values, signers=None, number=None, expiry=10**6, chain=None):
        """The bytes of a request, signed by some keys, the sender's own where none are given; its number is the sender's next where none is given."""
        if number is None:
            number = self.numbers[sender]
            self.numbers[sender] += 1
        chain = self.id if chain is None else chain
        body = {kind: dict(sender=sender, **values)}
        over = b"pipectl message 1\0" + chain + struct.pack("<QQ", number, expiry) + wire.encode("Request", body)
        signatures = [{"key": k.public, "value": k.sign(over)} for k in signers or [self.keys[sender]]]
        return wire.encode("Request", dict(body, auth={"chain": chain, "nonce": number, "expiry": expiry, "signatures": signatures}))

    def message(self, sender, kind, number=None, expiry=10**6, chain=None, key=None, **values):
        """The same, where no field of the message has the name of one of these."""
        return self.signed(sender, kind, values, key and [key], number, expiry, chain)

    def transfer(self, sender, to, amount, **how):
        return self.message(sender, "ledger", op=2, to=to, amount=amount, **how)

    def bring(self, sender, *blobs):
        """Messages that bring bytes, where bytes are state; elsewhere homes are given them."""
        return [self.message(sender, "blob", data=b, blocks=1000) for b in blobs] if "blob" in wire.PROTO["Request"] else []

    def execute(self, sender, shader, source, output_bytes, groups=1, gas=10**6, **more):
        return self.message(sender, "execute", shader_cid=shader, input_cid=source, dispatch={"x": groups, "y": 1, "z": 1},
                            gas_limit=gas, output_bytes=output_bytes, **more)


def cid(data):
    import base64
    return "b" + base64.b32encode(b"\x01\x55\x12\x20" + hashlib.sha256(data).digest()).decode().lower().rstrip("=")
