"""Contracts without WebAssembly: scripts of calls through the same C interface, over a real chain. A job is submitted, its
block ends, its result is read; whatever fails leaves every row of the state as it was."""
import json

import contracts

h = contracts.begin()
hexed = contracts.message().hex()


def run(text, *options, argument=None):
    path = h.write("script", ("#pipectl-calls\n" + text).encode())
    more = ["--arg", h.write("argument", argument.encode())] if argument else []
    return h.run("contract", "run", path, "--sender", "alice", *more, *options)


first = "submit a " + hexed + "\nresult a pending\n"
before = contracts.rows(h)
for name, text, options, status, code in (
        ("a contract without gas", first, [], 9, "PC6122"),
        ("a trap", first + "trap", ["--pay", "1000000"], 9, "PC6122"),
        ("a refusal", first + "return 3", ["--pay", "1000000"], 9, "PC6124"),
        ("too little fuel", first, ["--pay", "1000000", "--fuel", "50"], 7, "PC6123"),
        ("a line that is none", first + "sumbit", ["--pay", "1000000"], 3, "PC6121"),
        ("bytes that are not there", first + "get " + contracts.cid(b"none"), ["--pay", "1000000"], 3, "PC6125"),
        ("a caller who cannot pay", first, ["--pay", "100000000000"], 7, "PC5713"),
        ("another sender", "submit a " + contracts.message(sender="alice").hex(), ["--pay", "1000000"], 9, "6126")):
    got, out, err = run(text, *options)
    h.check(name, got == status and code in err, (got, err))
    h.check(name + " changes nothing", contracts.rows(h) == before)
h.check("no sender", h.run("contract", "run", h.path("script"))[0] == 2)

got, out, err = run(first, "--pay", "1000000")
lines = out.decode().splitlines()
h.check("a job is submitted", got == 0 and lines[0].startswith("log pending gas 0"), (got, out, err))
job = lines[1].split()[1]
contracts.end_block(h)
got, out, err = run("result $argument complete\nget $argument\n", argument=job)
h.check("the next block reads it", got == 0 and contracts.cid(contracts.OUTPUT) in out.decode()
        and ("log cas_get 16 " + contracts.OUTPUT.hex()) in out.decode(), (got, out, err))

# What its fuel costs goes to whom the caller names, at the price that he is told; 0: nothing is paid.
def earned(account):
    status, out, err = h.run("--json", "ledger", "show")
    return sum(int(a["balance"]) for a in json.loads(out)["accounts"] if a["account"] == account)


had = earned("alice")
for price, paid in (("1", True), ("0", False)):
    before = earned("carol")
    got, out, err = h.run("contract", "run", h.write("script", f"#pipectl-calls\nget {contracts.cid(contracts.OUTPUT)}\n# {price}".encode()),
                          "--sender", "alice", "--pay", "1000", "--fuel-per-gas", price, "--paid", "carol")
    h.check(f"fuel at {price}", got == 0 and (earned("carol") > before) == paid, (got, err, before, earned("carol")))
h.check("the caller paid", earned("alice") < had, (had, earned("alice")))
got, out, err = h.run("contract", "account", h.write("c.wat", b"(module)"), "--runtime", "/nowhere/libwasmtime.so")
h.check("no runtime", got == 5 and "PC6120" in err, (got, err))

# In one command: a second contract (its text is another) submits, the block ends, and it is called again at once.
account = h.run("contract", "account", h.write("script", ("#pipectl-calls\n" + first + "# 2").encode()))[1].decode().strip()
h.check("the account is the text's CID", account == contracts.cid(h.read("script")), account)

# The block that a call ends is checked as one is that `block end` ends: what a device lies about runs on the next one, in the end on the reference, and that is said.
def heights():
    return len(h.run("block", "list")[1].decode().splitlines())


LIAR = "mock:wrap=cpu+flip-bit@1:bit=3"
for verify, device, status, code in (("all", LIAR, 0, "PC5833"), ("none", LIAR, 0, ""), ("all", "cpu", 0, ""), ("sample=1.0", LIAR, 0, "PC5833"),
                                     ("some", "cpu", 2, "PC0010")):
    had = heights()
    got, out, err = run("submit a " + hexed, "--pay", "1000000", "--then", "again", "--backend", device, "--verify", verify)
    h.check(f"--verify {verify} of {device}", got == status and code in err and heights() == had + (status == 0), (got, out, err))
    if code == "PC5833":
        h.check("it says which job and byte", "output byte 0: right is 0x0a" in err, err)
h.finish()
