"""Contracts in WebAssembly over a real chain: contract.wat submits a job, the block ends, and the same contract reads the
result in the same block and in the next one; what traps or runs dry leaves every row of the state as it was."""
import os

import contracts

h = contracts.begin()
wat = os.path.join(contracts.here, "contract.wat")
message = h.write("message", contracts.message())


def run(function, argument, *options):
    return h.run("contract", "run", wat, "--sender", "alice", "--call", function, "--arg", argument, *options)


got, out, err = h.run("contract", "account", wat)
account = out.decode().strip()
h.check("account", got == 0 and account.startswith("bafkrei"), (got, out, err))
before = contracts.rows(h)
pay = ("--pay", "1000000")
for function, options, status, code in (
        ("trap_after_submit", pay, 9, "PC6122"), ("spin_after_submit", (*pay, "--fuel", "1000000"), 7, "PC6123"),
        ("deep", pay, 9, "PC6122"), ("refuse", pay, 9, "PC6124"), ("bad_out", pay, 9, "PC6122"),
        ("bad_message", pay, 9, "PC6122"), ("bad_get", pay, 9, "PC6122"), ("no_such", pay, 3, "PC6121"),
        ("refused", (), 9, "PC6124")):
    got, out, err = run(function, message, *options)
    h.check(function, got == status and code in err, (got, err))
    h.check(function + " changes nothing", contracts.rows(h) == before)

got, out, err = run("submit", message, *pay)
words = dict(line.split(" ", 1) for line in out.decode().splitlines())
h.check("submit", got == 0 and words.get("log") == words.get("job"), (got, out, err))
job = h.write("job", words.get("job", "").encode())
got, out, err = run("read", job)
h.check("pending in its own block", got == 9 and "read returned 100" in err, (got, err))
contracts.end_block(h)
got, out, err = run("read", job)
h.check("complete in the next block", got == 0 and contracts.cid(contracts.OUTPUT).encode() in out
        and contracts.OUTPUT in out, (got, out, err))

# One after the other in one command: the end of the block, and before any other message its result.
got, out, err = run("submit", message, *pay, "--then", "read", "--backend", "cpu")
h.check("the same block, after its end", got == 0 and b"\nblock 2\n" in out and contracts.OUTPUT in out, (got, out, err))
got, out, err = h.run("contract", "run", wat, "--sender", "alice", "--runtime", "/nowhere/libwasmtime.so")
h.check("no runtime", got == 5 and "PC6120" in err and "install-wasm" in err, (got, err))
got, out, err = h.run("contract", "run", h.write("bad.wat", b"(module"), "--sender", "alice")
h.check("no module", got == 3 and "PC6121" in err, (got, err))
h.finish()
