"""`pipectl ledger`: accounts, transfers, bonds and parameters through the command line. Balances are kept here a second
time in Python integers; every refusal has its code and exit status and leaves the ledger as it was."""
import json
import os
import shutil
import sqlite3

from harness import Harness, Random

TOP = 2 ** 64 - 1

h = Harness()


def chain():
    """All rows of all tables, as bytes and numbers."""
    path = os.path.join(h.path("home"), "chain", "state.sqlite")
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        names = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        rows = {n: db.execute(f"SELECT * FROM {n}").fetchall() for n in names}
    db.close()
    return rows


def answer(name, *args):
    status, out, err = h.run("--json", "ledger", *args)
    if not h.check(name, status == 0, f"exit status {status}\n{err}"):
        return {}
    document = json.loads(out)
    h.check(name + " schema", document["schema"] == f"pipectl.ledger.{args[0]}/1", document["schema"])
    return document


def refused(name, code, want, *args):
    before = chain()
    status, _, err = h.run("ledger", *args)
    h.check(name, status == want and code in err, f"exit status {status}\n{err}")
    h.check(name + " changes nothing", chain() == before)


def accounts():
    document = answer("show", "show")
    return {a["account"]: (int(a["balance"]), int(a["reserved"]), int(a["bond"])) for a in document["accounts"]}


def moves():
    a = answer("credit", "credit", "alice", "1_000_000")
    h.check("credit answers", a["accounts"] == [{"account": "alice", "balance": "1000000", "reserved": "0",
                                                 "bond": "0"}], a)
    answer("transfer", "transfer", "alice", "bob", "400000")
    answer("to oneself", "transfer", "alice", "alice", "600000")
    answer("bond", "bond", "bob", "300_000")
    answer("unbond", "unbond", "bob", "100000")
    h.check("accounts", accounts() == {"alice": (600000, 0, 0), "bob": (200000, 0, 200000)}, accounts())
    bob = answer("show bob", "show", "bob")
    h.check("bob", (bob["balance"], bob["bond"], bob["earned"]) == ("200000", "200000", "0"), bob)
    status, out, _ = h.run("ledger", "show")
    h.check("as text", status == 0 and b"alice 600000 reserved 0 bond 0\n" in out, out)
    block = answer("a block", "show", "--block", "1")
    status, out, err = h.run("ledger", "show", "--block", "1")
    h.check("a block as text", status == 0 and b"height           1" in out, (out, err))
    h.check("the open block", block["height"] == "1" and block["gas_charged"] == "0", block)


def refusals():
    long_name = "n" * 65
    for name in ("Alice", "al ice", "a/b", "ä", "", long_name, "a\n"):
        refused(f"name {name!r}", "PC5710", 3, "credit", name, "1")
    for amount in ("", "0", "1.5", "1e3", "0x10", "+1", " 1", "1 ", "_1", "1_", "1__0", "18446744073709551616",
                   "9" * 40, "ten", "١"):
        refused(f"amount {amount!r}", "PC5711", 3, "credit", "alice", amount)
    refused("negative", "PC5711", 3, "credit", "--", "alice", "-5")
    refused("supply", "PC5712", 7, "credit", "carol", str(TOP - 999999))
    refused("too little", "PC5713", 7, "transfer", "alice", "bob", "600001")
    refused("too little for a bond", "PC5713", 7, "bond", "alice", "600001")
    refused("too small a bond", "PC5713", 7, "unbond", "bob", "200001")
    refused("unknown", "PC5714", 3, "transfer", "carol", "bob", "1")
    refused("unknown shown", "PC5714", 3, "show", "carol")
    refused("no amount", "PC0010", 2, "credit", "alice")
    refused("too many", "PC0010", 2, "transfer", "alice", "bob", "1", "2")
    refused("account and block", "PC0010", 2, "show", "alice", "--block", "1")
    refused("a bad height", "PC0010", 2, "show", "--block", "x")
    refused("a block that is not there", "PC5852", 3, "show", "--block", "3")
    refused("a height too large", "PC5725", 3, "show", "--block", str(2 ** 63))
    answer("all that is left", "credit", "carol", str(TOP - 1000000))
    refused("one more", "PC5712", 7, "credit", "carol", "1")
    answer("and again", "transfer", "carol", "alice", str(TOP - 1000000))
    h.check("to the top", accounts()["alice"][0] == TOP - 400000, accounts())


def values(*args):
    return {p["name"]: p["value"] for p in answer("params", "params", *args)["params"]}


def params():
    first = values("list")
    h.check("defaults", first["quorum_ppm"] == "666667" and first["allowed_class"] == "integer", first)
    refused("no action", "PC0010", 2, "params")
    refused("unknown action", "PC0010", 2, "params", "change")
    refused("unknown parameter", "PC5720", 3, "params", "show", "quorum")
    refused("unknown proposal", "PC5724", 3, "params", "show", "1")
    who = ("--from", "bob", "--at", "20", "--height", "1")
    refused("nobody proposes", "PC0010", 2, "params", "propose", "scale=1", "--at", "20")
    refused("never", "PC0010", 2, "params", "propose", "scale=1", "--from", "bob")
    refused("no value", "PC0010", 2, "params", "propose", "scale", *who)
    refused("out of range", "PC5721", 3, "params", "propose", "scale=0", *who)
    refused("no number", "PC5721", 3, "params", "propose", "scale=0x10", *who)
    refused("class", "PC5721", 3, "params", "propose", "allowed_class=approximate", *who)
    refused("half a split", "PC5722", 3, "params", "propose", "split_burn_ppm=0", *who)
    refused("twice", "PC5724", 3, "params", "propose", "scale=1", "scale=2", *who)
    refused("the past", "PC5725", 3, "params", "propose", "scale=1", "--from", "bob", "--at", "1")
    refused("not the open block", "PC5725", 3, "params", "propose", "scale=1", "--from", "bob", "--at", "20", "--height", "2")
    refused("no bond", "PC5726", 3, "params", "propose", "scale=1", "--from", "alice", "--at", "20")
    answer("alice bonds", "bond", "alice", "200000")
    answer("propose", "params", "propose", "split_burn_ppm=0", "split_executor_ppm=900_000", "allowed_class=strict",
           *who)
    answer("bob votes", "params", "vote", "1", "yes", "--from", "bob")
    refused("again", "PC5726", 3, "params", "vote", "1", "no", "--from", "bob")
    refused("maybe", "PC0010", 2, "params", "vote", "1", "maybe", "--from", "alice")
    refused("half is not enough", "PC5727", 3, "params", "apply", "1")
    p = answer("alice votes", "params", "vote", "1", "yes", "--from", "alice")["proposals"][0]
    h.check("tally", (p["state"], p["yes"], p["no"], p["bonds"]) == ("open", "400000", "0", "400000"), p)
    refused("not now", "PC5725", 3, "params", "apply", "1", "--height", "20")
    answer("apply", "params", "apply", "1")
    refused("applied", "PC5724", 3, "params", "apply", "1")
    status, out, err = h.run("--json", "ledger", "params", "list", "--height", "19")
    h.check("before", status == 0 and {p["name"]: p["value"] for p in json.loads(out)["params"]} == first, err)
    after = dict(first, split_burn_ppm="0", split_executor_ppm="900000", allowed_class="strict")
    h.check("after", values("list", "--height", "20") == after)
    h.check("one", values("show", "allowed_class", "--height", "21") == {"allowed_class": "strict"})
    everything = answer("all proposals", "params", "show")["proposals"]
    h.check("one proposal", [p["id"] for p in everything] == ["1"], everything)


def random_moves():
    """Random moves; what Python says must come out, and refusals are those that Python expects."""
    seed = 20261122
    print(f"seed {seed}")
    rng = Random(seed)
    now = {name: [balance, bond] for name, (balance, _, bond) in accounts().items()}
    names = sorted(now) + ["zoe"]
    for i in range(60):
        verb = ("transfer", "bond", "unbond")[rng.below(3)]
        a, b = names[rng.below(len(names))], names[rng.below(len(names))]
        have = now.get(a, [0, 0])[verb == "unbond"]
        n = (have, have + 1, 1 + rng.below(have + 1), 1 + rng.u64() % TOP)[rng.below(4)]
        ok = a in now and 0 < n <= have
        status, _, err = h.run("ledger", verb, *((a, b) if verb == "transfer" else (a,)), str(n))
        h.check(f"move {i}: {verb} {a} {b} {n}", (status == 0) == ok, f"exit status {status}\n{err}")
        if not ok:
            continue
        if verb == "transfer":
            now[a][0] -= n
            now.setdefault(b, [0, 0])[0] += n
        else:
            by = n if verb == "bond" else -n
            now[a] = [now[a][0] - by, now[a][1] + by]
    h.check("all moves", accounts() == {k: (v[0], 0, v[1]) for k, v in now.items()}, accounts())
    h.check("the supply", sum(sum(v) for v in now.values()) == TOP)


def broken():
    """A ledger that another hand changed is not shown as if nothing were."""
    path = os.path.join(h.path("home"), "chain", "state.sqlite")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE totals SET amount = x'0000000000000001' WHERE name = 'burned'")
    db.close()
    refused("a planted unit", "PC5719", 8, "show")


def files():
    """A home's own params.cfg begins its state; a bad one begins nothing."""
    home = h.path("other")
    shipped = os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg")
    with open(shipped, encoding="utf-8") as f:
        text = f.read()
    os.makedirs(os.path.join(home, "chain"))
    for name, old, new, code in (("version", "version = 1", "version = 2", "PC1024"),
                                 ("split", 'split_burn_ppm = "100_000"', 'split_burn_ppm = "1"', "PC5722"),
                                 ("range", 'scale = "1_000_000"', 'scale = "0"', "PC5721")):
        with open(os.path.join(home, "chain", "params.cfg"), "w", encoding="utf-8") as f:
            f.write(text.replace(old, new))
        status, _, err = h.run("--home", home, "ledger", "credit", "a", "1")
        h.check(f"bad file, {name}", status == 3 and code in err, f"exit status {status}\n{err}")
    with open(os.path.join(home, "chain", "params.cfg"), "w", encoding="utf-8") as f:
        f.write(text.replace('scale = "1_000_000"', 'scale = "1_000"'))
    status, out, err = h.run("--home", home, "--json", "ledger", "params", "show", "scale")
    h.check("own file", status == 0 and json.loads(out)["params"][0]["value"] == "1000", err)
    shutil.rmtree(home)


def elsewhere():
    """A chain that has begun has its parameters in its state: no file is read for them, wherever the configuration lies and whatever stands in
    one. A chain that begins needs the file."""
    os.makedirs(h.path("elsewhere"))
    config, unread = h.write("elsewhere/pipectl.cfg", b""), h.path("home/chain/params.cfg")
    before = accounts()
    status, out, err = h.run("--config", config, "--json", "ledger", "show")
    h.check("a configuration elsewhere", status == 0 and len(json.loads(out)["accounts"]) == len(before) > 0, err)
    kept = open(unread, "rb").read() if os.path.exists(unread) else None
    h.write("home/chain/params.cfg", b"no parameters {")
    status, _, err = h.run("ledger", "show")
    h.check("a file that nobody needs any more", status == 0, err)
    os.unlink(unread)
    if kept is not None:
        h.write("home/chain/params.cfg", kept)
    status, _, err = h.run("--home", h.path("begins"), "--config", config, "ledger", "show")
    h.check("a chain that begins", status == 1 and "PC0003" in err and "params.cfg" in err, f"{status} {err}")
    h.check("accounts are as they were", accounts() == before)


moves()
refusals()
params()
random_moves()
elsewhere()
broken()
files()
h.finish()
