"""Attacks on what version 1 of the rules has nothing of: statements, bytes that are state, signatures, keys that change, a chain that began under version 1 and went on under 2. What is said to have
succeeded did so before it was mended, which the commit of its mending says; the others are held, and have to stay so."""
import hashlib
import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("", "node", "blocks"):
    sys.path.insert(0, os.path.join(HERE, "..", "integration", folder))

from attack import World, cid  # noqa: E402
from ed25519 import Key  # noqa: E402
from harness import Harness  # noqa: E402
import world  # noqa: E402
import sizes  # noqa: E402
import wire  # noqa: E402

h = Harness()
ORDER = 2 ** 252 + 27742317777372353535851937790883648493  # of the group that Ed25519 signs in
MOST, LIMIT = 2 ** 64 - 1, 2 ** 63 - 1  # of an amount, of any other number
COUNT = ("@group(0) @binding(0) var<storage, read> a : array<u32>;\n@group(1) @binding(0) var<storage, read_write> r : array<atomic<u32>>;\n"
         "@compute @workgroup_size(256)\nfn main() { atomicAdd(&r[0], a[0]); }\n")


def key_of(name):
    return Key(hashlib.sha256(name.encode()).digest())


def named(key):
    return "key." + hashlib.sha256(key.public).hexdigest()[:60]


def statement(w, key, height, root):
    return dict(key=key.public, height=height, root=root, signature=key.sign(b"pipectl statement 1\0" + w.chain + struct.pack("<Q", height) + root))


def account(w, name):
    return json.loads(w.nodes[0].run("--json", "ledger", "show", name)[1])


def coded(what, answer, code):
    return h.check(f"{what}: {'PC%04d' % code if code else 'taken in'}", answer.code == code, answer)


def pardoned():
    """Immunity for a bond of 1: who runs blocks has himself accused of each while he has next to nothing at stake, bonds what he is trusted for, and then lies. (Succeeded.)"""
    w = World(h, "pardoned", 2, dispute_deposit=10 ** 6, slash_gas=1000, unbonding_blocks=50)
    node, liar, stake = w.nodes[0], key_of("liar"), 10 ** 9
    name = named(liar)
    w.keys[name] = liar
    coded("a bond of 1", w.tell(node, "ledger", dict(sender="ada", op=2, to=name, amount=2 * stake)), 0)
    coded("is bonded", w.tell(node, "ledger", dict(sender=name, op=3, amount=1)), 0)
    w.end()
    coded("he is accused by a friend", w.tell(node, "statement", dict(sender="mallory", **statement(w, liar, 1, bytes(32)))), 0)
    h.check("for next to nothing", account(w, name)["bond"] == "0", account(w, name))
    coded("and bonds what he is trusted for", w.tell(node, "ledger", dict(sender=name, op=3, amount=stake)), 0)
    w.end()
    for what, root in (("the same lie", bytes(32)), ("another one", bytes(31) + b"\1")):
        had = int(account(w, name)["bond"])
        answer = w.tell(node, "statement", dict(sender="ada", **statement(w, liar, 1, root)))
        left = int(account(w, name)["bond"])
        if what == "the same lie":
            coded("that he lied to others about this block counts all the same", answer, 0)
            h.check("a tenth of what he has now, less what he lost", had - left == stake // 10 - 1, (had, left))
        else:
            coded("but once", answer, 6116)
            h.check("for all of them together", had == left, (had, left))
    coded("so does who bonds more for the same block", w.tell(node, "ledger", dict(sender=name, op=3, amount=stake // 2)), 0)
    had = int(account(w, name)["bond"])
    coded("and is accused again", w.tell(node, "statement", dict(sender="ada", **statement(w, liar, 1, bytes(32)))), 0)
    h.check("of the difference", had - int(account(w, name)["bond"]) == -(-had // 10) - stake // 10, had)
    coded("the block ends", w.end()[0], 0)
    status, _, err = node.run("ledger", "verify")
    h.check("and the ledger holds", status == 0, err)
    w.stop()


def names_nothing():
    """A message that names bytes, a shader or a contract that nobody has: it is refused, and stays in its block to pay for that. Who wrote down what the block needs looked for them, and no block
    ended any more, at any node, for the price of one refusal. (Succeeded.)"""
    w = World(h, "nothing", 2, nodes=("cpu", "cpu"))
    shader, given, absent = w.upload(sizes.kernel("x = x * 5u + 3u;\n"), "ada")[0]["shader_cid"], cid(b""), b"what nobody has"
    for what, code, kind, values in (("a job of bytes", 5834, "execute", w.job(shader, cid(absent), sender="mallory")), ("a job with a binding", 5834, "execute", w.job(shader, given, bindings=[dict(group=0, binding=2, cid=cid(absent))])),
                                     ("a job with a document", 5834, "execute", w.job(shader, given, uniform_cid=cid(absent))), ("a job of a shader", 5804, "execute", w.job(cid(absent), given)),
                                     ("a call of a contract", 6115, "call", dict(sender="mallory", contract=cid(absent), function="f", fuel=1000))):
        for answer in w.all(kind, values):
            coded(what + " that nobody has", answer, code)
        h.check(f"{what}: the block ends, the same everywhere", w.goes_on() == 0 and not w.is_split())
    # One node's store has them, though they are not state: its block is the others' all the same.
    h.check("bytes in one store", w.nodes[0].run("cas", "put", h.write("absent", absent))[0] == 0)
    for answer in w.all("execute", w.job(shader, cid(absent), sender="mallory")):
        coded("a job of bytes that one store has", answer, 5834)
    h.check("and the block is the same everywhere", w.goes_on() == 0 and not w.is_split())
    for n in w.nodes:
        status, out, err = n.run("block", "verify", "1..6", "--backend", "cpu")
        h.check("and is run again", status == 0, err)
    w.stop()


def of_no_length():
    """A job of the bytes of no length. They are state (SEMANTICS.md 8.8), so nobody brings them, and no store had them: no block ended any more, at any node, for one message. (Succeeded.)"""
    w = World(h, "empty", 2, nodes=("cpu", "cpu"), unbonding_blocks=9, stake_floor=1000, dispute_deposit=1000)
    texts = (sizes.kernel("x = x * 5u + 3u;\n"), sizes.kernel("x = x * 5u + c[0];\n", "@group(0) @binding(2) var<storage, read> c : array<u32>;\n"),
             sizes.kernel("x = x * u.n;\n", "struct U { @size(4) n : u32 }\n@group(0) @binding(1) var<uniform> u : U;\n"))
    one, two, three = (w.upload(text, "ada")[0]["shader_cid"] for text in texts)
    nothing, data = cid(b""), w.bring(bytes(32), "ada")
    for answer in w.all("ledger", dict(sender="mallory", op=3, amount=10 ** 6)):
        coded("a bond", answer, 0)
    ran = [w.all("execute", values)[0] for values in (w.job(one, nothing, sender="mallory"), w.job(two, data, bindings=[dict(group=0, binding=2, cid=nothing)]))]
    for answer in ran:
        coded("a job of nothing", answer, 0)
    for answer in w.all("execute", w.job(three, data, uniform_cid=nothing)):
        h.check("a document of nothing is refused", answer.code not in (0, 5838), answer)
    h.check("a job of nothing: the block ends, the same everywhere", w.goes_on() == 0 and not w.is_split())
    for answer in w.all("verdict", dict(sender="mallory", job_id=ran[0]["job_id"], output=nothing)):
        coded("a dispute of it", answer, 0)
    h.check("the next one, too", w.goes_on() == 0 and not w.is_split())
    status, _, err = w.nodes[0].run("block", "verify", "1..2", "--backend", "cpu")
    h.check("it is run again", status == 0, err)
    late = h.path("empty-late")
    status, _, err = h.run("--home", late, "block", "replay", "--from", os.path.join(w.nodes[0].home, "chain", "blocks.git"), "--backend", "cpu")
    h.check("and where nobody ever had these bytes", status == 0, err)
    w.stop()


def gone():
    """A dispute of a job whose bytes have run out: who came in by a snapshot since has never had them, and stopped for ever. (Succeeded.)"""
    w = World(h, "gone", 2, unbonding_blocks=6, stake_floor=1000, dispute_deposit=1000)
    node, data = w.nodes[0], bytes(range(256))
    shader = w.upload(sizes.kernel("x = x * 5u + 3u;\n"), "ada")[0]["shader_cid"]
    coded("bytes for a block", w.tell(node, "blob", dict(sender="mallory", data=data, blocks=1)), 0)
    coded("a bond", w.tell(node, "ledger", dict(sender="mallory", op=3, amount=10 ** 6)), 0)
    w.end()
    ran = w.tell(node, "execute", w.job(shader, cid(data), sender="mallory"))
    coded("a job", ran, 0)
    w.end()
    w.end()
    coded("nobody may name them now", w.tell(node, "execute", w.job(shader, cid(data), sender="mallory")), 5834)
    commit = w.end()[0]["commit"]
    status, _, err = node.run("ledger", "snapshot", "write", h.path("gone-files"))
    h.check("a snapshot", status == 0, err)
    late = h.path("gone-late")
    status, _, err = h.run("--home", late, "ledger", "snapshot", "restore", h.path("gone-files"), "--trust", commit)
    h.check("comes in elsewhere", status == 0, err)
    dispute = w.signed("verdict", dict(sender="mallory", job_id=ran["job_id"], output=cid(b"")), node.sent["mallory"])
    node.sent["mallory"] += 1
    there = h.run("--home", late, "ledger", "apply", h.write("dispute", dispute))
    coded("a dispute of the job", node.ask(dispute), 0)
    h.check("is the same there", there[0] == 0, there)
    want = w.end()[0]["commit"]
    status, out, err = h.run("--home", late, "--json", "block", "end", "--backend", "cpu")
    h.check("and so is the block", status == 0 and json.loads(out)["commit"] == want, (out, err))
    w.stop()


def before_others():
    """Bytes brought first by somebody else, for a block: who brings them for longer is refused, pays for it, and his jobs find nothing. (Succeeded.)"""
    w = World(h, "before", 2)
    node, data = w.nodes[0], b"".join(struct.pack("<I", i) for i in range(64))
    shader = w.upload(sizes.kernel("x = x * 5u + 3u;\n"), "ada")[0]["shader_cid"]
    coded("mallory is first, for a block", w.tell(node, "blob", dict(sender="mallory", data=data, blocks=1)), 0)
    coded("ada is second, for longer", w.tell(node, "blob", dict(sender="ada", data=data, blocks=50)), 0)
    for what, blocks in (("the same again", 50), ("for less", 49)):
        coded(what, w.tell(node, "blob", dict(sender="mallory", data=data, blocks=blocks)), 5837)
    for _ in range(3):
        coded("a block", w.end()[0], 0)
    coded("her job finds them", w.tell(node, "execute", w.job(shader, cid(data), sender="ada")), 0)
    coded("and runs", w.end()[0], 0)
    w.stop()


def upgraded():
    """Names that say whose they are, taken under version 1, where the engine answers for senders: the account of a contract that nobody has uploaded yet, and that of somebody's key. Under
    version 2 their first keys would be the thief's. (Succeeded.)"""
    w = world.World(h, "upgraded")
    victim, thief, plain = key_of("victim"), key_of("thief"), key_of("plain")
    code = cid(b"\0asm\1\0\0\0 the contract that everybody will pay into")
    names = {code: 5844, named(victim): 5844, "plain.name": 0}
    w.text("ledger", "credit", "bob", "100000")
    w.text("ledger", "bond", "bob", "9000")
    for name in names:
        w.text("ledger", "credit", name, "1000000000")
        w.text("ledger", "transfer", name, "bob", "1")
    w.end("cpu")
    w.text("ledger", "params", "propose", "rules=2", "--from", "bob", "--at", "3")
    w.text("ledger", "params", "vote", "1", "yes", "--from", "bob")
    w.text("ledger", "params", "apply", "1")
    w.end("cpu")
    chain = bytes.fromhex(w.answer("ledger", "show")["chain"])

    def tell(name, key, kind, **values):
        body = {kind: dict(sender=name, **values)}
        number = int(w.answer("ledger", "show", name)["sequence"])
        over = b"pipectl message 1\0" + chain + struct.pack("<QQ", number, 10 ** 6) + wire.encode("Request", body)
        message = wire.encode("Request", dict(body, auth={"chain": chain, "nonce": number, "expiry": 10 ** 6, "signatures": [{"key": key.public, "value": key.sign(over)}]}))
        status, _, err = w.run("ledger", "apply", h.write("message", message))
        return status, err

    for name, want in names.items():
        key = plain if want == 0 else thief
        status, err = tell(name, key, "keys", threshold=1, keys=[key.public])
        h.check(f"first keys of {name[:20]}: {'PC%04d' % want if want else 'taken in'}", (status, f"PC{want:04d}" in err) == ((3, True) if want else (0, False)), (status, err))
    status, err = tell(named(victim), victim, "ledger", op=2, to="bob", amount=1)
    h.check("whose key it is sends under it", status == 0, err)


def signatures():
    """One message, signed in every way that a lax verifier takes for right."""
    w = World(h, "signatures", 2)
    node = w.nodes[0]

    def sent(values, change, nonce=None, sender="mallory", keys=None):
        data = w.signed("ledger", dict(sender=sender, **values), node.sent.get(sender, 0) if nonce is None else nonce, keys)
        request = wire.decode("Request", data)
        auth = dict(request["auth"], signatures=change([dict(s) for s in request["auth"]["signatures"]]))
        return node.ask(wire.encode("Request", {"ledger": dict(sender=sender, **values), "auth": auth}))

    gift = dict(op=2, to="ada", amount=1)

    def again(s):
        """The other scalar of the same point."""
        return [dict(s[0], value=s[0]["value"][:32] + (int.from_bytes(s[0]["value"][32:], "little") + ORDER).to_bytes(32, "little"))]

    def of_order(y):
        """A key of small order, for which R = its own point and S = 0 are right for one message in eight, and for any with R the neutral point."""
        return lambda s: [dict(key=y, value=y + bytes(32))]

    coded("a scalar above the order", sent(gift, again), 5845)
    for y in (bytes([1]) + bytes(31), bytes(32), bytes([0xec]) + b"\xff" * 30 + b"\x7f"):
        coded(f"a key of small order, {y[:1].hex()}", sent(gift, of_order(y)), 5844)
        coded("R of small order", sent(gift, lambda s: [dict(s[0], value=y + s[0]["value"][32:])]), 5845)
        coded("and as an account's", w.tell(node, "keys", dict(sender="mallory", threshold=1, keys=[y])), 5844)
    coded("y above the field", sent(gift, lambda s: [dict(s[0], value=(2 ** 255 - 19 + 5).to_bytes(32, "little") + s[0]["value"][32:])]), 5845)
    # ---- several keys
    trio = sorted((key_of(n) for n in ("one", "two", "three")), key=lambda k: k.public)
    coded("two of three sign from now on", w.tell(node, "keys", dict(sender="mallory", threshold=2, keys=[k.public for k in trio])), 0)
    coded("one key twice", sent(gift, lambda s: s * 2, keys=trio[:1]), 5792)
    coded("in another order", sent(gift, lambda s: s[::-1], keys=trio[:2]), 5792)
    coded("one key with two signatures", sent(gift, lambda s: [s[0], dict(s[1], key=s[0]["key"])], keys=trio[:2]), 5792)
    coded("one right and one of another message", sent(gift, lambda s: [s[0], dict(s[1], value=s[0]["value"])], keys=trio[:2]), 5845)
    coded("a key twice among an account's", w.tell(node, "keys", dict(sender="ada", threshold=2, keys=[trio[0].public] * 2)), 5792)
    coded("and two of three are right", sent(gift, lambda s: s, keys=trio[1:]), 0)
    node.sent["mallory"] += 1
    # ---- keys that change: what was signed before for later
    later = w.signed("ledger", dict(sender="ada", **gift), node.sent.get("ada", 0) + 1)
    old, new = w.keys["ada"], key_of("new")
    coded("ada's keys are others from now on", w.tell(node, "keys", dict(sender="ada", threshold=1, keys=[new.public])), 0)
    coded("what the old one signed for later", node.ask(later), 5844)
    w.keys["ada"] = new
    coded("and when they are the old ones again", w.tell(node, "keys", dict(sender="ada", threshold=1, keys=[old.public])), 0)
    coded("its number is used", node.ask(later), 5842)
    w.keys["ada"] = old
    # ---- a statement in the name of a key that nobody has
    y = bytes([1]) + bytes(31)
    coded("a statement by a key of small order", w.tell(node, "statement", dict(sender="poor", key=y, height=1, root=bytes(32), signature=y + bytes(32))), 5869)
    coded("by who can pay for it", w.tell(node, "statement", dict(sender="ada", key=y, height=1, root=bytes(32), signature=y + bytes(32))), 6117)
    w.stop()


def amounts():
    """Numbers at the edge of 64 bits, wherever a message has one: refused by name, nothing made, nothing lost."""
    w = World(h, "amounts", 2)
    node, data = w.nodes[0], bytes(256)
    shader, count = (w.upload(text, "ada")[0]["shader_cid"] for text in (sizes.kernel("x = x * 5u + 3u;\n"), COUNT))
    coded("bytes", w.tell(node, "blob", dict(sender="ada", data=data, blocks=10)), 0)

    def all_there_is():
        total = account(w, "mallory")
        return int(total["balance"])

    job = dict(shader_cid=shader, input_cid=cid(data), dispatch=dict(x=1, y=1, z=1), output_bytes=32)
    for what, code, kind, values in (
            ("gas_limit and tip together 2^65 - 2", 5712, "execute", dict(job, gas_limit=MOST, tip=MOST)), ("a tip of 2^64 - 1", 5712, "execute", dict(job, gas_limit=10 ** 7, tip=MOST)),
            ("a gas_limit of 2^64 - 1", 5713, "execute", dict(job, gas_limit=MOST)), ("a transfer of 2^64 - 1", 5713, "ledger", dict(op=2, to="ada", amount=MOST)),
            ("a bond of 2^64 - 1", 5713, "ledger", dict(op=3, amount=MOST)), ("a bond of 2^64 - 1 taken back", 5713, "ledger", dict(op=4, amount=MOST)), ("gas of 2^64 - 1 made", 5712, "ledger", dict(op=1, to="mallory", amount=MOST)),
            *((what + end, code if number == LIMIT else 5793, kind, values(number)) for number, end in ((LIMIT, "2^63 - 1"), (MOST, "2^64 - 1")) for what, code, kind, values in (
                ("bytes for blocks: ", 5836, "blob", lambda n: dict(data=data, blocks=n)), ("a job behind clock ", 5817, "execute", lambda n: dict(job, gas_limit=10 ** 7, parent_clock=n)),
                ("a proposal for block ", 5900, "params", lambda n: dict(op=1, height=n, changes=[dict(name="scale", value="7")])), ("a vote on proposal ", 5724, "params", lambda n: dict(op=2, proposal=n, yes=True)))),
            ("a dispatch whose gas is above 2^64", 2602, "execute", dict(job, shader_cid=count, gas_limit=10 ** 9, dispatch=dict(x=65535, y=65535, z=65535)))):
        had, before = all_there_is(), account(w, "ada")["balance"]
        answer = w.tell(node, kind, dict(sender="mallory", **values))
        coded(what, answer, code)
        h.check("and costs what a refusal costs, no more", 0 <= had - all_there_is() < 10 ** 7 and account(w, "ada")["balance"] == before, (had, all_there_is()))
    gift = dict(sender="mallory", op=2, to="ada", amount=1)
    for number, refused, taken in ((MOST, 5793, 5793), (LIMIT, 5842, 0)):
        coded(f"a message of number {number}", node.ask(w.signed("ledger", gift, number)), refused)
        coded(f"one for blocks up to {number}", node.ask(w.signed("ledger", gift, node.sent["mallory"], expiry=number)), taken)
    coded("the block ends", w.end()[0], 0)
    status, _, err = node.run("ledger", "verify")
    h.check("and the ledger holds", status == 0, err)
    w.stop()


names_nothing()
of_no_length()
gone()
pardoned()
before_others()
upgraded()
signatures()
amounts()
h.finish()
