"""Who may send what, from version 2 of the rules on: a chain that begins with accounts, signed messages through a node by a client that has its Ed25519 and its encoding from the documents alone, every way of sending
under a name without its keys, keys that change, roles, the keys of a home, and the whole of it made again from its history."""
import hashlib
import os
import re
import signal
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "blocks"))

from ed25519 import Key
from harness import Harness
import wire
from world import World

h = Harness()
w = World(h, "signed")
KEYS = {name: Key(hashlib.sha256(name.encode()).digest()) for name in ("ada", "bob", "one", "two", "three", "ender", "new", "eve")}


def named(key):
    return "key." + hashlib.sha256(key.public).hexdigest()[:60]


def conf(name):
    return os.path.join(w.home, "chain", name)


def begin(accounts, rules="2"):
    os.makedirs(os.path.join(w.home, "chain"), exist_ok=True)
    with open(os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
        text = re.sub(r'(\n *rules = )"1"', rf'\1"{rules}"', f.read())
        text = re.sub(r'(\n *fee_ppm = )"\w+"', r'\1"0"', text)
    with open(conf("params.cfg"), "w", encoding="utf-8") as f:
        f.write(text)
    lines = []
    for name, balance, threshold, keys, roles in accounts:
        quoted = ", ".join(f'"{k.public.hex()}"' for k in keys)
        lines.append(f'{{ name = "{name}"; balance = "{balance}";' + (f" keys = [ {quoted} ]; threshold = {threshold};" if keys else "")
                     + (" roles = [ " + ", ".join(f'"{r}"' for r in roles) + " ];" if roles else "") + " }")
    with open(conf("genesis.cfg"), "w", encoding="utf-8") as f:
        f.write("genesis : {\n  version = 1;\n  accounts : (\n    " + ",\n    ".join(lines) + "\n  );\n};\n")


def chain_id(accounts):
    """As account.h says it."""
    domain = b"pipectl chain-id 1\0"
    values = re.findall(r'^ +(\w+) = "([\w]+)";', open(conf("params.cfg"), encoding="utf-8").read(), re.M)
    # What came later than rules is said where it is not at its default.
    values = values[:[name for name, _ in values].index("rules") + 1] + [v for v in values if v[0] == "fee_ppm"]
    text = "".join(f"{name} {value.replace('_', '')}\n" if name != "allowed_class" else f"{name} {value}\n" for name, value in values)
    out = hashlib.sha256(domain + text.encode()).digest()
    for name, balance, threshold, keys, roles in accounts:
        messages = [("ledger", dict(sender=name, op=1, to=name, amount=balance))] if balance else []
        if keys:
            messages.append(("keys", dict(sender=name, threshold=threshold, keys=sorted(k.public for k in keys))))
        messages += [("role", dict(sender=name, role=1 if r == "credit" else 2, account=name)) for r in roles]
        for kind, values in messages:
            out = hashlib.sha256(domain + out + wire.encode("Request", {kind: values})).digest()
    return out


def request(kind, values, keys, nonce, expiry=1000, chain=None, change=lambda a: a):
    """The bytes of a signed request. change: of `auth`, before it is encoded."""
    bare = wire.encode("Request", {kind: values})
    chain = CHAIN if chain is None else chain
    signed = b"pipectl message 1\0" + chain + struct.pack("<QQ", nonce, expiry) + bare
    auth = {"chain": chain, "nonce": nonce, "expiry": expiry,
            "signatures": [{"key": k.public, "value": k.sign(signed)} for k in sorted(keys, key=lambda k: k.public)]}
    return bare + wire.encode("Request", {"auth": change(auth)})


def say(client, data):
    client.socket.sendall(struct.pack("<I", len(data)) + data)
    return client.hear()


def refused(what, client, code, *args, **how):
    kind, fields = say(client, request(*args, **how))
    h.check(f"{what}: PC{code}", kind == "error" and fields["code"] == code, f"{kind} {fields}")


def taken(what, client, *args, **how):
    kind, fields = say(client, request(*args, **how))
    return h.check(what, kind != "error", f"{kind} {fields}")


def transfer(sender, to, amount):
    return "ledger", dict(sender=sender, op=2, to=to, amount=amount)


K = KEYS
ACCOUNTS = [("founders", 1_000_000, 2, [K["one"], K["two"], K["three"]], ["credit"]), ("ada", 5000, 1, [K["ada"]], []),
            ("ender", 0, 1, [K["ender"]], ["block"]), (named(K["bob"]), 300, 1, [], [])]


def files():
    """What genesis.cfg may not say; nothing of it is kept."""
    for text, code in (('accounts : ( { name = "a"; threshold = 1; } );', "PC5848"), ('accounts : ( { name = "A b"; } );', "PC5710"),
                       ('accounts : ( { name = "a"; }, { name = "a"; } );', "PC5848"), ('accounts : ( { name = "a"; keys = [ "12" ]; } );', "PC5848"),
                       ('accounts : ( { name = "a"; balance = "many"; } );', "PC5848"), ('accounts : ( { name = "a"; roles = [ "king" ]; } );', "PC10"),
                       (f'accounts : ( {{ name = "a"; keys = [ "{"00" * 32}" ]; }} );', "PC5844"),
                       (f'accounts : ( {{ name = "a"; balance = "7"; }}, {{ name = "b"; keys = [ "{K["ada"].public.hex()}" ]; threshold = 2; }} );', "PC5793"),
                       ('accounts : ( { name = "a"; balance = "7"; } );', "PC6106"),
                       (f'accounts : ( {{ name = "executor"; keys = [ "{K["ada"].public.hex()}" ]; }} );', "PC5898"),
                       ('accounts : ( { name = "rank"; roles = [ "block" ]; } );', "PC5898")):
        begin([])
        with open(conf("genesis.cfg"), "w", encoding="utf-8") as f:
            f.write("genesis : {\n  version = 1;\n  " + text + "\n};\n")
        status, _, err = w.run("ledger", "show")
        h.check(f"genesis {text[:60]}", status != 0 and code in err, err)
    os.remove(conf("genesis.cfg"))
    h.check("nothing of it stays", w.answer("ledger", "show")["accounts"] == [], "accounts")
    for name in os.listdir(os.path.join(w.home, "chain")):
        path = os.path.join(w.home, "chain", name)
        if name.startswith("state"):
            os.remove(path)


def attacks(node):
    c = node.client()
    kind, fields = c.ask("ledger", sender="ada", op=2, to="eve", amount=1)
    h.check("unsigned: PC5840", kind == "error" and fields["code"] == 5840, str(fields))
    refused("no key at all", c, 5846, *transfer("ada", "eve", 1), [], 0)
    refused("another chain's message", c, 5841, *transfer("ada", "eve", 1), [K["ada"]], 0, chain=bytes(32))
    refused("a number too high", c, 5842, *transfer("ada", "eve", 1), [K["ada"]], 1)
    refused("another's key", c, 5844, *transfer("ada", "eve", 1), [K["eve"]], 0)
    refused("a key beside the right one", c, 5844, *transfer("ada", "eve", 1), [K["ada"], K["eve"]], 0)
    refused("one of two", c, 5846, *transfer("founders", "eve", 1), [K["one"]], 0)
    refused("a name that has no keys", c, 5844, *transfer("treasury", "eve", 1), [K["eve"]], 0)
    refused("a name made of another key", c, 5844, *transfer(named(K["bob"]), "eve", 1), [K["eve"]], 0)
    small = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
    weak = type("Weak", (), {"public": small, "sign": lambda self, m: bytes([1]) + bytes(63)})()
    refused("a key of small order", c, 5844, *transfer(named(weak), "eve", 1), [weak], 0)

    def flip(auth):
        s = auth["signatures"][0]
        return {**auth, "signatures": [{**s, "value": s["value"][:40] + bytes([s["value"][40] ^ 1]) + s["value"][41:]}]}

    def higher(auth):
        """s + order: the same point, another encoding."""
        s = auth["signatures"][0]
        from ed25519 import ORDER
        n = int.from_bytes(s["value"][32:], "little") + ORDER
        return {**auth, "signatures": [{**s, "value": s["value"][:32] + n.to_bytes(32, "little")}]}
    refused("a bit of the signature", c, 5845, *transfer("ada", "eve", 1), [K["ada"]], 0, change=flip)
    refused("the signature in another encoding", c, 5845, *transfer("ada", "eve", 1), [K["ada"]], 0, change=higher)
    refused("another expiry than was signed", c, 5845, *transfer("ada", "eve", 1), [K["ada"]], 0, change=lambda a: {**a, "expiry": 2000})
    bare = wire.encode("Request", {"ledger": transfer("ada", "eve", 1)[1]})
    stolen = request(*transfer("ada", "eve", 1), [K["ada"]], 0)[len(bare):]
    kind, fields = say(c, wire.encode("Request", {"ledger": transfer("ada", "eve", 4000)[1]}) + stolen)
    h.check("another amount than was signed: PC5845", kind == "error" and fields["code"] == 5845, str(fields))
    for what, code, change in (("a short chain id", 5732, lambda a: {**a, "chain": a["chain"][:31]}), ("no expiry", 5784, lambda a: {**a, "expiry": 0}),
                               ("a key twice", 5792, lambda a: {**a, "signatures": a["signatures"] * 2}),
                               ("a short signature", 5732, lambda a: {**a, "signatures": [{**a["signatures"][0], "value": b"x"}]})):
        refused(what, c, code, *transfer("ada", "eve", 1), [K["ada"]], 0, change=change)
    refused("gas made by somebody", c, 5847, "ledger", dict(sender="ada", op=1, to="ada", amount=9), [K["ada"]], 0)
    refused("a role taken by somebody", c, 5847, "role", dict(sender="ada", role=1, account="ada"), [K["ada"]], 0)
    kind, fields = c.ask("get", cid="bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku")
    h.check("a query needs no signature", kind == "get" or fields["code"] not in (5840,), str(fields))
    kind, fields = say(c, wire.encode("Request", {"get": {"cid": "x"}}) + stolen)
    h.check("a query with a signature: PC5730", kind == "error" and fields["code"] in (5730, 5786), str(fields))
    h.check("nobody was charged", w.answer("ledger", "show", "ada")["balance"] == "5000", "ada")
    return c


def honest(c):
    taken("ada sends", c, *transfer("ada", "eve", 10), [K["ada"]], 0)
    refused("the same again", c, 5842, *transfer("ada", "eve", 10), [K["ada"]], 0)
    taken("two of three", c, *transfer("founders", "ada", 500), [K["three"], K["one"]], 0)
    taken("gas by its role", c, "ledger", dict(sender="founders", op=1, to="ada", amount=40), [K["one"], K["two"]], 1)
    taken("a name made of its key", c, *transfer(named(K["bob"]), "ada", 7), [K["bob"]], 0)
    taken("keys change", c, "keys", dict(sender="ada", threshold=2, keys=sorted(K[k].public for k in ("new", "two"))), [K["ada"]], 1)
    refused("the old key", c, 5844, *transfer("ada", "eve", 1), [K["ada"]], 2)
    taken("the new ones", c, *transfer("ada", "eve", 1), [K["new"], K["two"]], 2)
    taken("a role given", c, "role", dict(sender="founders", role=1, account=named(K["bob"])), [K["two"], K["three"]], 2)
    taken("and used", c, "ledger", dict(sender=named(K["bob"]), op=1, to="eve", amount=5), [K["bob"]], 1)
    taken("and taken", c, "role", dict(sender="founders", role=1, account=named(K["bob"]), taken=1), [K["two"], K["three"]], 3)
    refused("and gone", c, 5847, "ledger", dict(sender=named(K["bob"]), op=1, to="eve", amount=5), [K["bob"]], 2)


def blocks(c):
    kind, fields = c.ask("block_end", executor="eve")
    h.check("a block ended by anybody: PC5840", kind == "error" and fields["code"] == 5840, str(fields))
    refused("a block ended by ada", c, 5847, "block_end", dict(executor="eve"), [K["ada"]], 1)
    refused("the end of another block", c, 5847, "block_end", dict(executor="eve"), [K["ender"]], 2)
    data = request("block_end", dict(executor="ender"), [K["ender"]], 1)
    kind, fields = say(c, data)
    h.check("a block ends by its role", kind == "block_end" and fields["height"] == 1, str(fields))
    kind, fields = say(c, data)
    h.check("the same end again: PC5847", kind == "error" and fields["code"] == 5847, str(fields))
    refused("too late", c, 5843, *transfer(named(K["bob"]), "ada", 1), [K["bob"]], 2, expiry=1)


def homes():
    """What a home signs itself, with which keys."""
    secret, wrong = h.write("secret", b"correct horse\n"), h.write("wrong", b"battery\n")
    out = w.answer("key", "new", "eve", "--passphrase", secret)["keys"][0]
    h.check("a new key", re.fullmatch(r"key\.[0-9a-f]{60}", out["account"]) and out["encrypted"] is True
            and out["account"][4:] == hashlib.sha256(bytes.fromhex(out["key"])).hexdigest()[:60], str(out))
    plain = w.answer("key", "new", "plain", "--no-passphrase")["keys"][0]
    h.check("both are listed", [k["name"] for k in w.answer("key", "list")["keys"]] == ["eve", "plain"], "key list")
    h.check("nobody else reads it", os.stat(os.path.join(w.home, "accounts", "eve.pem")).st_mode & 0o77 == 0, "mode")
    w.refused("a key is not replaced", "PC5849", 3, "key", "new", "eve", "--passphrase", secret)
    w.refused("a name that is none", "PC5710", 3, "key", "new", "E v", "--no-passphrase")
    w.refused("no passphrase", "PC0010", 2, "key", "new", "other")
    w.refused("both", "PC0010", 2, "key", "new", "other", "--no-passphrase", "--passphrase", secret)
    w.refused("an empty passphrase", "PC5849", 3, "key", "new", "other", "--passphrase", h.write("empty", b"\n"))
    w.refused("keys of another", "PC5844", 3, "ledger", "transfer", "founders", "eve", "1")
    h.env["PIPECTL_PASSPHRASE"] = secret
    w.refused("gas without the role", "PC5847", 3, "ledger", "credit", plain["account"], "5", "--sender", plain["account"])
    for sender in (out["account"], plain["account"]):
        w.refused("without gas", "PC5714", 3, "ledger", "transfer", sender, "ada", "1")
    h.env["PIPECTL_PASSPHRASE"] = wrong
    w.refused("the wrong passphrase", "PC5849", 3, "ledger", "transfer", out["account"], "ada", "1")
    del h.env["PIPECTL_PASSPHRASE"]
    w.refused("no passphrase for it", "PC5849", 3, "ledger", "transfer", out["account"], "ada", "1")
    # A message in a file, signed by one after the other.
    bare = request(*transfer("founders", plain["account"], 100), [], 4)
    once = request(*transfer("founders", plain["account"], 100), [K["one"]], 4)
    w.refused("a file with too few signatures", "PC5846", 3, "ledger", "apply", h.write("once", once))
    signed = h.path("signed-by-plain")
    w.text("key", "sign", h.write("bare", bare), "--key", "plain", "--out", signed)
    w.refused("a signature too many", "PC5844", 3, "ledger", "apply", signed)
    w.refused("an unsigned file", "PC5840", 3, "key", "sign", h.write("naked", wire.encode("Request", {"ledger": transfer("ada", "eve", 1)[1]})), "--key", "plain", "--out", signed)
    w.text("key", "sign", h.path("bare"), "--key", "eve", "--passphrase", secret, "--out", h.path("signed-by-eve"))
    w.refused("a key that is not there", "PC5849", 3, "key", "sign", h.path("bare"), "--key", "nobody", "--out", signed)
    w.refused("no --key", "PC0010", 2, "key", "sign", h.path("bare"))
    w.refused("a query as a file", "PC5826", 3, "ledger", "apply", h.write("query", wire.encode("Request", {"query": {"job_id": "ab" * 32}})))
    w.text("ledger", "apply", h.write("twice", request(*transfer("founders", plain["account"], 100), [K["one"], K["three"]], 4)))
    h.check("it arrived", w.answer("ledger", "show", plain["account"])["balance"] == "100", "balance")
    w.text("ledger", "transfer", plain["account"], "ada", "1")
    w.refused("keys that are none", "PC0010", 2, "ledger", "keys", plain["account"], "12")
    w.refused("a role that is none", "PC0010", 2, "ledger", "role", "ada", "king", "--sender", plain["account"])
    w.refused("a role that it has not", "PC5847", 3, "ledger", "role", "ada", "block", "--sender", plain["account"], "--take")
    w.text("ledger", "keys", plain["account"], plain["key"], out["key"], "--threshold", "2")
    shown = w.answer("ledger", "show", plain["account"])
    h.check("its next number, keys and roles", (shown["sequence"], shown["threshold"], shown["keys"], shown["roles"]) == ("2", "2", sorted((plain["key"], out["key"])), []), str(shown))
    shown, text = w.answer("ledger", "show", "founders"), w.text("ledger", "show", "founders")
    h.check("and of one with a role", shown["roles"] == ["credit"] and shown["sequence"] == "5" and len(shown["keys"]) == 3, str(shown))
    h.check("as lines", re.search(r"^sequence +5\n", text, re.M) and text.count("\nkey ") == 3 and re.search(r"^role +credit$", text, re.M), text)
    w.refused("half of the keys open", "PC5849", 3, "ledger", "transfer", plain["account"], "ada", "1")
    h.env["PIPECTL_PASSPHRASE"] = secret
    w.text("ledger", "transfer", plain["account"], "ada", "1")
    del h.env["PIPECTL_PASSPHRASE"]


def torn():
    """Making a key that was stopped half way: what is left of it is no key, and in nobody's way."""
    folder = os.path.join(w.home, "accounts")
    with open(os.path.join(folder, "half.pub"), "w", encoding="utf-8") as f:
        f.write("00" * 32 + "\n")
    with open(os.path.join(folder, "half.pem.new"), "w", encoding="utf-8") as f:
        f.write("-----BEGIN PRIV")
    h.check("a public half alone is no key", "half" not in [k["name"] for k in w.answer("key", "list")["keys"]], "key list")
    made = w.answer("key", "new", "half", "--no-passphrase")["keys"][0]
    h.check("and does not keep the key from being made", made["key"] != "00" * 32 and not os.path.exists(os.path.join(folder, "half.pem.new")), str(made))
    os.remove(os.path.join(folder, "half.pub"))
    listed = {k["name"]: k["key"] for k in w.answer("key", "list")["keys"]}
    h.check("a public half follows from its key", listed.get("half") == made["key"], str(listed))
    os.remove(os.path.join(folder, "eve.pub"))
    w.refused("but not from one that is encrypted", "PC5849", 3, "key", "list")
    for leftover in ("eve.pem", "half.pem", "half.pub"):
        os.remove(os.path.join(folder, leftover))


def upgraded():
    """A chain that began under version 1: first keys are everybody's but the chain's own names', and the end of a block is the engine's."""
    global w, CHAIN
    w = World(h, "upgraded")
    begin([], "1")
    os.remove(conf("genesis.cfg"))
    h.env["PIPECTL_HOME"] = w.home
    node = wire.Node(h, name="upgraded.sock")
    c = node.client()
    for asked, given in (("ledger", dict(sender="ada", op=1, to="ada", amount=5000)), ("ledger", dict(sender="ada", op=1, to="executor", amount=10)),
                         ("ledger", dict(sender="executor", op=2, to="ada", amount=1)), ("ledger", dict(sender="ada", op=3, amount=1000)),
                         ("params", dict(sender="ada", op=1, height=2, changes=[dict(name="rules", value="2")])),
                         ("params", dict(sender="ada", op=2, proposal=1, yes=1)), ("params", dict(sender="ada", op=3, proposal=1)), ("block_end", {})):
        got, fields = c.ask(asked, **given)
        h.check(f"under version 1: {asked} {given}", got != "error", str(fields))
    CHAIN = bytes.fromhex(w.answer("ledger", "show")["chain"])
    refused("the first keys of a name of the chain", c, 5844, "keys", dict(sender="executor", threshold=1, keys=[K["eve"].public]), [K["eve"]], 1)
    sent = 6
    taken("the first keys of an account", c, "keys", dict(sender="ada", threshold=1, keys=[K["ada"].public]), [K["ada"]], sent)
    refused("what was proposed under version 1", c, 5724, "params", dict(sender="ada", op=3, proposal=1), [K["ada"]], sent + 1)
    refused("back to version 1", c, 5900, "params", dict(sender="ada", op=1, height=9, changes=[dict(name="rules", value="1")]), [K["ada"]], sent + 1)
    refused("the end of a block by somebody", c, 5847, "block_end", {}, [K["ada"]], 2)
    got, fields = c.ask("block_end")
    h.check("the end of a block by the engine", got == "block_end" and fields["height"] == 2, str(fields))
    node.stop(signal.SIGTERM)


def again():
    """The block and what is open behind it, from the history alone."""
    w.text("block", "verify", "1..1", "--backend", "cpu")
    messages = subprocess.run(["git", "--git-dir", os.path.join(w.home, "chain", "blocks.git"), "show", "HEAD:messages"], capture_output=True, check=True).stdout.decode().splitlines()
    kinds = [line.split()[:2] for line in messages]
    h.check("the first block says how the chain began", kinds[:8] == [["genesis", k] for k in ("ledger", "keys", "role", "ledger", "keys", "keys", "role", "ledger")] and kinds[8][0] == "message", str(kinds))
    other = World(h, "other")
    other.text("block", "replay", "--from", os.path.join(w.home, "chain", "blocks.git"), "--fetch", os.path.join(w.home, "cas"))
    h.check("another home has the same chain", other.answer("ledger", "show")["chain"] == CHAIN.hex(), "chain")


def old():
    """Under version 1 nobody signs, and a file of accounts is refused."""
    global w
    w = World(h, "old")
    begin(ACCOUNTS[:1], "1")
    w.refused("accounts of genesis under version 1", "PC5848", 3, "ledger", "show")
    os.remove(conf("genesis.cfg"))
    w.text("ledger", "credit", "ada", "100")
    w.refused("a signature under version 1", "PC5840", 3, "ledger", "apply", h.write("signed-v1", request(*transfer("ada", "eve", 1), [K["ada"]], 1)))
    w.refused("keys under version 1", "PC5840", 3, "ledger", "keys", "ada", K["ada"].public.hex())
    w.refused("roles under version 1", "PC5840", 3, "ledger", "role", "ada", "credit", "--sender", "ada", "--take")
    w.refused("several keys under version 1", "PC5840", 3, "ledger", "keys", "ada", "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "--threshold", "1")
    none = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"
    w.refused("a tip under version 1", "PC5896", 3, "job", "submit", "--shader", none, "--input", none, "--dispatch", "1", "--gas-limit", "9", "--tip", "5", "--sender", "ada")
    w.refused("a dispute under version 1", "PC5894", 3, "ledger", "verdict", "--job", "ab" * 32, "--output", none, "--sender", "ada")
    w.refused("a link taken back under version 1", "PC5896", 3, "link", none, none, "--sender", "ada", "--take")
    w.refused("half of a dispute", "PC0010", 2, "ledger", "verdict", "--job", "ab" * 32, "--sender", "ada")
    w.refused("both forms of a verdict", "PC0010", 2, "ledger", "verdict", "--job", "ab" * 32, "--output", none, "--accused", "eve", "--evidence", none, "--sender", "ada")
    w.text("ledger", "credit", "ada", "1", "--sender", "bank")
    w.text("ledger", "transfer", "ada", "eve", "1")


def main():
    global CHAIN
    # RFC 8032, 7.1, test 2.
    key = Key(bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
    h.check("RFC 8032", key.sign(b"\x72").hex().startswith("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"), key.public.hex())
    files()
    begin(ACCOUNTS)
    CHAIN = chain_id(ACCOUNTS)
    shown = w.answer("ledger", "show")
    h.check("the chain's id", shown["chain"] == CHAIN.hex(), shown["chain"])
    h.env["PIPECTL_HOME"] = w.home
    node = wire.Node(h)
    c = attacks(node)
    honest(c)
    blocks(c)
    node.stop(signal.SIGTERM)
    homes()
    again()
    torn()
    old()
    upgraded()
    h.finish()


main()
