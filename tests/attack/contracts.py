"""Contracts against the chain: programs that do not end, take memory, call themselves, submit, write and pay what is not theirs. Version 1 of the rules has no contracts in
blocks, so nothing here is possible there; under version 2 each is an outcome that its caller pays for, or refused, and two nodes have one commit."""
import ctypes
import hashlib
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from attack import World, cid  # noqa: E402
from harness import Harness  # noqa: E402
import contracts as made  # noqa: E402  (tests/integration/node)

h = Harness()
CRYPTO = ctypes.CDLL("libcrypto.so.3")
for name in ("EVP_PKEY_new_raw_private_key", "EVP_MD_CTX_new"):
    getattr(CRYPTO, name).restype = ctypes.c_void_p


def signer(seed):
    """Signing by OpenSSL: the signatures are those of ed25519.py, in less time."""
    key = ctypes.c_void_p(CRYPTO.EVP_PKEY_new_raw_private_key(1087, None, seed, ctypes.c_size_t(32)))

    def sign(data):
        context, out, n = ctypes.c_void_p(CRYPTO.EVP_MD_CTX_new()), ctypes.create_string_buffer(64), ctypes.c_size_t(64)
        assert CRYPTO.EVP_DigestSignInit(context, None, None, None, key) == 1
        assert CRYPTO.EVP_DigestSign(context, out, ctypes.byref(n), data, ctypes.c_size_t(len(data))) == 1
        CRYPTO.EVP_MD_CTX_free(context)
        return out.raw
    return sign


PRICE = 2500  # contract_fuel of genesis


def code_of(text):
    return made.assemble('(module (memory (export "memory") 1) ' + text + ")")


old = World(h, "contracts-1", 1)
for kind, values in (("contract", dict(sender="ada", code=code_of(""))), ("call", dict(sender="ada", contract=cid(b""), fuel=1))):
    answer = old.tell(old.nodes[0], kind, values)
    h.check(f"{kind}: impossible under version 1", answer.code == 5840, answer)
old.stop()

w = World(h, "contracts-2", 2, ("cpu", "cpu"), queue_jobs=16, fee_ppm=0, contracts=1)
for person, key in w.keys.items():
    key.sign = signer(hashlib.sha256(person.encode()).digest())


height = 0  # of the last finished block


def both(what, kind, values):
    """The answer of both nodes to one message, which is one."""
    sender, first = values["sender"], w.nodes[0]
    data = w.signed(kind, values, first.sent.get(sender, 0))
    answers = [n.ask(data) for n in w.nodes]
    h.check(f"{what}: both nodes say the same", answers[0] == answers[1], " / ".join(map(str, answers)))
    if not answers[0].code:
        first.sent[sender] = first.sent.get(sender, 0) + 1
    return answers[0]


def end(what):
    """The open block, ended by one message on both, with one commit."""
    global height
    data = w.signed("block_end", {}, height + 1, [w.keys["ada"]])
    answers = [n.ask(data) for n in w.nodes]
    h.check(f"{what}: one commit", not answers[0].code and answers[0] == answers[1], " / ".join(map(str, answers)))
    height += 1
    return answers[0]


def upload(what, code):
    return both(what, "contract", dict(sender="mallory", code=code))


main = made.contract()
answer = upload("the contract", main)
h.check("the contract is taken in", answer.kind == "contract" and answer["contract"] == cid(main), answer)
MAIN = cid(main)
for kind, values in (("upload", dict(sender="ada", wgsl_source=made.source)), ("blob", dict(sender="ada", data=made.words, blocks=100))):
    answer = both(kind, kind, values)
    h.check(f"an honest {kind}", not answer.code, answer)


def call(function, argument=b"", fuel=20_000_000, what=None, sender="mallory", contract=MAIN, **more):
    return both(what or function, "call", dict(sender=sender, contract=contract, function=function, argument=argument, fuel=fuel, **more))


def gas_of(fuel):
    return -(-fuel // 1000) * PRICE


def rows(table):
    import sqlite3
    db = sqlite3.connect("file:" + os.path.join(w.nodes[0].home, "chain", "state.sqlite") + "?mode=ro", uri=True)
    out = db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    db.close()
    return out


def fails(what, code, function, argument=b"", fuel=20_000_000, words="", **more):
    """A call that has failed: charged for its fuel, which is what it used, and nothing else of it there once its block has ended."""
    before, jobs, kept = w.balance("mallory"), rows("jobs"), rows("contract_rows")
    answer = call(function, argument, fuel, what, **more)
    ok = answer.kind == "call" and answer["status"] == 3 and answer["code"] == code and words in answer["error"]
    h.check(f"{what}: failed with PC{code}", ok, answer)
    end(what)
    paid = before - w.balance("mallory")
    h.check(f"{what}: pays its fuel", ok and paid == answer["gas_used"] == gas_of(answer["fuel_used"]) and answer["fuel_used"] <= fuel, f"{paid} {answer}")
    h.check(f"{what}: leaves nothing", (rows("jobs"), rows("contract_rows")) == (jobs, kept), f"{jobs} {kept}")
    return answer


end("the beginning")
answer = fails("an endless loop", 6123, "spin")
h.check("an endless loop: all of its fuel", answer["fuel_used"] == 20_000_000, answer)
fails("a trap after a submit", 6122, "trap_after_submit", made.message())
fails("an endless loop after a submit", 6123, "spin_after_submit", made.message(), pay=10**6)
fails("a row, and a trap", 6122, "put_and_trap", b"key1")
fails("deep recursion", 6122, "deep", words="called too deep")
fails("10,000 jobs", 6124, "submit_many", made.message(gas_limit=300_000), 90_000_000, "it returned 5897", pay=10**9)
fails("jobs that nobody paid for", 6124, "refused", made.message(), words="it returned 5714")
fails("jobs of another's account", 6124, "refused", made.message(sender="ada"), words="it returned 6126")
fails("gas that the contract does not have", 6124, "give", b"mallory", words="it returned 5714")
fails("storage without end", 6123, "spam", fuel=50_000_000)
fails("a pointer behind the memory", 6122, "bad_row")
fails("too little fuel to begin with", 6123, "refuse", fuel=1000)
for name in ("nan", "bomb", "grow"):
    answer = call(name)
    h.check(f"{name}: the same bits everywhere, within its bounds", answer.kind == "call" and answer["status"] == 2, answer)
memory = code_of('(func (export "call") (param i32 i32) (result i32) i32.const 0)').replace(b"\x05\x03\x01\x00\x01", b"\x05\x04\x01\x00\x81\x02")
for what, code in (
        ("a module of 257 pages", memory),
        ("the time", made.assemble('(module (import "wasi_snapshot_preview1" "clock_time_get" (func (param i32 i64 i32) (result i32))) (memory (export "memory") 1))')),
        ("random numbers", made.assemble('(module (import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32))) (memory (export "memory") 1))')),
        ("a call of another contract", made.assemble('(module (import "pipectl" "call" (func (param i32 i32) (result i32))) (memory (export "memory") 1))')),
        ("memory filled at the price of one operation", code_of("(func (memory.fill (i32.const 0) (i32.const 0) (i32.const 65536)))")),
        ("a vector", code_of("(func (drop (v128.const i64x2 0 0)))")),
        ("a function that takes long to compile", code_of("(func " + "nop " * 66000 + ")")),
        ("loops over a thousand locals", code_of("(func (local " + "i64 " * 1000 + ") " + "(loop (br_if 0 (i32.const 0))) " * 600 + ")")),
        ("4097 functions", code_of("(func) " * 4097)),
        ("no module", b"\0asm\1\0\0\0\xff\xff\xff\xff"),
        ("a global that only metering adds", code_of("(global i32 (i32.const 0)) (func (drop (global.get 0)))").replace(b"\x23\x00", b"\x23\x01"))):
    answer = upload(what, code)
    h.check(f"{what}: PC6121", answer.code == 6121, answer)
answer = upload("the contract again", main)
h.check("the contract again: PC6131", answer.code == 6131, answer)
for what, code, values in (
        ("a huge argument", 5789, dict(argument=bytes(65537))), ("more fuel than a block", 6132, dict(fuel=10**12)), ("fuel that is no number", 6132, dict(fuel=2**63)),
        ("no contract", 6130, dict(contract=cid(b"none"))), ("a payment that nobody has", 5713, dict(pay=10**18)), ("fuel that nobody has", 5713, dict(sender="poor")),
        ("no fuel", 5784, dict(fuel=0))):
    answer = call("grow", what=what, **values)
    h.check(f"{what}: PC{code}", answer.code == code, answer)
# Another's payment: the message names ada, and mallory signs it.
values = dict(sender="ada", contract=MAIN, function="grow", fuel=10**6, pay=10**6)
nonce = w.nodes[0].sent.get("ada", 0)
answers = [n.ask(w.signed("call", values, nonce, keys=[w.keys["mallory"]])) for n in w.nodes]
h.check("a call with another's payment: PC5844", all(a.code == 5844 for a in answers), answers[0])
# What a payment is for stays with the contract, and its own code does not run when it is paid by a contract.
end("what was refused")
before = w.balance("mallory")
answer = call("give", MAIN.encode(), pay=1000)
h.check("a payment to oneself runs nothing", answer.kind == "call" and answer["status"] == 2, answer)
end("a payment")
h.check("it has cost the fuel and the payment", before - w.balance("mallory") == answer["gas_used"] + 1000, answer)
answer = call("give", b"ada")
end("another")
h.check("and it moves its own gas alone", answer["status"] == 2 and w.balance(MAIN) == 993, answer)
# A view writes nothing, whatever it tries.
before = rows("contract_rows")
for function, argument, code in (("put", b"keyvalue", 6133), ("refused", made.message(), 6133), ("give", b"ada", 6133), ("drop", b"key1", 6133)):
    answer = w.tell(w.nodes[0], "view", dict(contract=MAIN, function=function, argument=argument, fuel=10**7))
    h.check(f"a view that would {function}", answer.kind == "view" and answer["returned"] == code, answer)
answer = w.tell(w.nodes[0], "view", dict(contract=MAIN, function="spin", fuel=10**7 + 1))
h.check("a view of more fuel: PC6133", answer.code == 6133, answer)
h.check("views left nothing", rows("contract_rows") == before)
# Both are charged when the block ends, to one account.
before = w.balance("mallory")
refused = both("a job that is refused", "execute", dict(sender="mallory", shader_cid=cid(made.source), input_cid=cid(made.words), dispatch=dict(x=1, y=1, z=1), gas_limit=250, output_bytes=16))
cost = re.search(r"the refusal costs (\d+) gas, job", str(refused))
h.check("a job that is refused: charged", refused.code and cost, refused)
w.nodes[0].sent["mallory"] += 1
answer = call("give", b"ada")
end("a refused job beside a call")
h.check("both are paid", before - w.balance("mallory") == int(cost[1]) + answer["gas_used"], f"{before - w.balance('mallory')} {cost[1]} {answer}")
status, out, err = w.nodes[0].run("ledger", "show")
h.check("the supply is what there is", status == 0, err)
# One honest call, so that what was refused is not everything: its job runs in its own block on both, and the next call reads it.
answer = call("submit", made.message(), pay=10**6)
h.check("an honest call", answer.kind == "call" and answer["status"] == 2 and len(answer["jobs"]) == 1, answer)
block = end("an honest call")
h.check("its job is in the block", answer["jobs"][0] in block["jobs"], block)
answer = call("read", answer["jobs"][0].encode())
h.check("its result is there in the next one", answer["status"] == 2 and answer["log"] == [cid(made.OUTPUT).encode(), made.OUTPUT], answer)
end("the last")
for n in w.nodes:
    n.stop()
status, out, err = w.nodes[0].run("block", "verify", f"1..{height}", "--backend", "cpu")
h.check("the whole history is the same again", status == 0, f"{status} {out} {err[-800:]}")
status, out, err = w.nodes[0].run("ledger", "verify")
h.check("and every row is in the tree", status == 0, f"{status} {out} {err}")
h.finish()
