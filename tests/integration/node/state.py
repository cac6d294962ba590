"""The state root of version 2 of the rules: proofs of rows, held by a verifier that has them from the document alone; rows that somebody else wrote; snapshots, whole, cut short and
lying; replays that go on; old blocks removed; and a chain that comes to version 2 by vote."""
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "blocks"))

from harness import Harness
import rowproof
from world import World

h = Harness()


def begin(name, rules="2", **values):
    """A chain whose one account may do everything, with its key in the home."""
    w = World(h, name)
    os.makedirs(os.path.join(w.home, "chain"), exist_ok=True)
    with open(os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
        text = re.sub(r'(\n *rules = )"1"', rf'\1"{rules}"', f.read())
    for key, value in dict({"fee_ppm": "0"}, **values).items():
        text = re.sub(rf'(\n *{key} = )"\w+"', rf'\1"{value}"', text)
    with open(os.path.join(w.home, "chain", "params.cfg"), "w", encoding="utf-8") as f:
        f.write(text)
    if rules == "2":
        key = w.answer("key", "new", "alice", "--no-passphrase")["keys"][0]["key"]
        with open(os.path.join(w.home, "chain", "genesis.cfg"), "w", encoding="utf-8") as f:
            f.write('genesis : {\n  version = 1;\n  accounts : (\n    { name = "alice"; balance = "5000"; keys = [ "' + key
                    + '" ]; threshold = 1; roles = [ "credit", "block" ]; }\n  );\n};\n')
    return w


def state(w):
    return os.path.join(w.home, "chain", "state.sqlite")


def log(w):
    return os.path.join(w.home, "chain", "blocks.git")


def row(w, sql):
    db = sqlite3.connect(state(w))
    out = db.execute(sql).fetchone()
    db.close()
    return out


def columns(values):
    return [value.hex() if isinstance(value, bytes) else str(value) for value in values]


# ---- proofs ----------------------------------------------------------------------------------------


def proved(w, block, table, *key, there=True):
    """The proof of a key: made, checked by the tool and by the document, with both kinds of trust."""
    path = h.path("row.proof")
    w.text("ledger", "prove", table, *key, "--out", path)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    h.check(f"the same on standard output: {table}", w.run("ledger", "prove", table, *key)[1].decode() == text, "differs")
    for trusted in (block["commit"], block["state_root"]):
        got = rowproof.verify(text, trusted)
        h.check(f"{table} {key}: proved {'there' if there else 'absent'}", (got["row"] is not None) == there and got["height"] == int(block["height"]), str(got))
        out = w.answer("ledger", "prove", "--check", path, "--trust", trusted)
        h.check(f"{table} {key}: the tool agrees", out["row"] == ("there" if there else "none"), str(out))
    return text, rowproof.verify(text, block["commit"])


def proofs(w, block, other):
    job = next(iter(w.outputs))
    text, got = proved(w, block, "accounts", "alice")
    h.check("the account is the row", columns(got["row"]) == columns(row(w, "SELECT * FROM accounts WHERE name = 'alice'")), str(got))
    for table, *key in (("jobs", job), ("shaders", w.shader), ("edges", "1"), ("names", "1"), ("params", "0", "rules"), ("controls", "alice"), ("totals", "supply"),
                        ("blocks", str(int(block["height"]) - 1)), ("roles", "1", "alice")):
        proved(w, block, table, *key)
    for table, *key in (("accounts", "nobody"), ("jobs", "ab" * 32), ("edges", "1000000"), ("shaders", "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"),
                        ("blocks", block["height"])):
        proved(w, block, table, *key, there=False)
    for code, *words in (("PC6142", "nothing", "x"), ("PC6142", "inbox", "1"), ("PC6142", "accounts"), ("PC6142", "accounts", "a", "b"), ("PC6142", "edges", "x"), ("PC6142", "jobs", "xyz"),
                         ("PC6142", "jobs", "AB" * 32)):
        w.refused(f"{words}: {code}", code, 3, "ledger", "prove", *words)
    w.refused("no table", "PC0010", 2, "ledger", "prove")
    w.refused("--check without --trust", "PC0010", 2, "ledger", "prove", "--check", h.path("row.proof"))
    w.refused("a trust that is no id", "PC0010", 2, "ledger", "prove", "--check", h.path("row.proof"), "--trust", "abc")
    absent, _ = proved(w, block, "accounts", "nobody", there=False)
    faults(w, block, text, absent, other)


def faults(w, block, text, absent, other):
    """Whatever is changed in a proof, both verifiers refuse it."""
    def lines(of, word):
        return [i for i, line in enumerate(of.splitlines()) if line.startswith(word + " ")]

    def change(of, word, n=0, digit=-1):
        out = of.splitlines()
        i = lines(of, word)[n]
        at = len(out[i]) + digit if digit < 0 else len(word) + 1 + digit
        out[i] = out[i][:at] + ("0" if out[i][at] != "0" else "1") + out[i][at + 1:]
        return "\n".join(out) + "\n"

    def without(of, word, n=0):
        out = of.splitlines()
        del out[lines(of, word)[n]]
        return "\n".join(out) + "\n"
    table = [("a byte of the row", change(text, "row")), ("a byte of the key", change(text, "key")), ("a sibling", change(text, "sibling", 1)), ("the last sibling", change(text, "sibling", -1)),
             ("a sibling too few", without(text, "sibling", -1)), ("the height", re.sub(r"height \d+", "height 7", text, 1)), ("the table", text.replace("table accounts", "table totals", 1)),
             ("absence of a row that is there", without(text, "row")), ("a file of the record", change(text, "file", 2)), ("a file too few", without(text, "file")),
             ("the header", change(text, "header", 0, 60)), ("the commit", change(text, "commit", 0, 20)), ("its tree", change(text, "entries")),
             ("absence: a row from elsewhere", absent.replace("\nsibling", "\n" + text.splitlines()[lines(text, "row")[0]] + "\nsibling", 1)),
             ("absence: another leaf's key", change(absent, "other", 0, 40) if lines(absent, "other") else change(absent, "sibling")), ("another spelling", text.replace("height ", "height 0", 1)),
             ("a line more", text + "more 1\n"), ("cut", text[:len(text) // 2])]
    for what, wrong in table:
        try:
            rowproof.verify(wrong, block["commit"])
            told = None
        except (rowproof.Wrong, ValueError) as e:
            told = str(e)
        h.check(f"{what}: refused by the document", told is not None and wrong != text, "accepted")
        status, _, err = w.run("ledger", "prove", "--check", h.write("wrong.proof", wrong.encode()), "--trust", block["commit"])
        h.check(f"{what}: refused by the tool", status in (3, 6) and ("PC6145" in err or "PC6144" in err), f"{status} {err}")
    for what, trusted in (("another chain's block", other["commit"]), ("its state root", other["state_root"])):
        status, _, err = w.run("ledger", "prove", "--check", h.write("right.proof", text.encode()), "--trust", trusted)
        h.check(f"{what}: PC6145", status == 6 and "PC6145" in err, f"{status} {err}")
        try:
            rowproof.verify(text, trusted)
            h.check(f"{what}: refused by the document", False, "accepted")
        except rowproof.Wrong:
            pass


# ---- rows that somebody else wrote -----------------------------------------------------------------


def forged(w):
    """Edits of the file, each found by the end of the block, which makes none, and by `ledger verify`."""
    job = next(iter(w.outputs))
    edits = [("a balance", "UPDATE accounts SET balance = x'00000000ffffffff' WHERE name = 'alice'", "accounts", "alice"),
             ("a job", f"UPDATE jobs SET gas = x'0000000000000001' WHERE id = x'{job}'", "jobs", job[:20]),
             ("a pending job", "UPDATE jobs SET gas = x'0000000000000001' WHERE status = 0", "jobs", ""),
             ("a shader", "UPDATE shaders SET sender = 'mallory'", "shaders", w.shader[:20]),
             ("a parameter", "UPDATE params SET value = '999000' WHERE name = 'split_executor_ppm'", "params", "split_executor_ppm"),
             ("an edge", "UPDATE edges SET kind = 7 WHERE id = 3", "edges", "page 0"),
             ("a message of the open block", "UPDATE inbox SET message = x'00' WHERE number = 1", "inbox", "1"),
             ("a row removed", "DELETE FROM roles", "", ""), ("an account added", "INSERT INTO accounts VALUES ('zed', x'000000000000ffff', x'0000000000000000', x'0000000000000000', 0)", "accounts", "zed"),
             ("a job removed", f"DELETE FROM jobs WHERE id = x'{job}'", "", "")]
    w.submit((w.put("late", struct.pack("<16I", *range(16))), list(range(16))), (w.put("late", struct.pack("<16I", *range(16))), list(range(16))))
    for what, sql, table, key in edits:
        to = w.copy("forged")
        db = sqlite3.connect(state(to))
        h.check(f"{what}: the edit is one", db.execute(sql).rowcount > 0, sql)
        db.commit()
        db.close()
        status, _, err = to.run("ledger", "verify")
        h.check(f"{what}: found by ledger verify", status == 8 and "PC6140" in err and table in err and key in err, f"{status} {err}")
        status, _, err = to.run("block", "end", "--backend", "cpu", "--executor", "node")
        found = status == 8 and "PC6140" in err
        if what in ("a shader", "an edge", "a job"):  # a block that does not read them may end; it says nothing of them
            h.check(f"{what}: found, or not asked", found or status == 0, f"{status} {err}")
            continue
        h.check(f"{what}: no block with it", found and table in err, f"{status} {err}")
        h.check(f"{what}: nothing was done", row(to, "SELECT max(height) FROM blocks") == row(w, "SELECT max(height) FROM blocks"), "a block")
    to = w.copy("forged")
    db = sqlite3.connect(state(to))
    db.execute("UPDATE shaders SET sender = 'mallory'")
    db.execute(f"UPDATE jobs SET output = '{w.shader}' WHERE id = x'{job}'")
    db.commit()
    db.close()
    to.refused("a forged shader is not used", "PC6140", 8, "job", "submit", "--sender", "alice", "--shader", w.shader, "--input", to.put("x", bytes(64)), "--bind", "0:2=" + to.put("x", bytes(64)),
               "--dispatch", "8", "--output-bytes", "32", "--gas-limit", "1000000")
    to.refused("nor a forged job shown", "PC6140", 8, "job", "show", job)
    to = w.copy("forged")
    db = sqlite3.connect(state(to))
    db.execute("UPDATE tree_nodes SET node = CAST(substr(node, 1, length(node) - 1) || x'55' AS BLOB) WHERE path <> x'00'")
    db.commit()
    db.close()
    to.refused("nodes of the tree", "PC6141", 8, "ledger", "verify")
    # A forger who knows the tree: the row and all nodes above it, in their own right form. The record of the last block says otherwise.
    to = w.copy("forged")
    reforge(to, "accounts", "UPDATE accounts SET balance = x'00000000ffffffff' WHERE name = 'alice'", rowproof.value("t", b"alice"))
    for what, *words in (("no block", "block", "end", "--backend", "cpu", "--executor", "node"), ("ledger verify", "ledger", "verify"), ("no proof", "ledger", "prove", "accounts", "alice"),
                         ("no snapshot", "ledger", "snapshot", "write", h.path("none"))):
        to.refused(f"row and tree forged: {what}", "PC6141", 8, *words)


def reforge(w, table, sql, key):
    """Change a row and everything of the tree that follows from it."""
    db = sqlite3.connect(state(w))
    db.execute(sql)
    db.execute("DELETE FROM tree_open WHERE name = ?", (table,))
    kinds = {int: "i", str: "t", bytes: "b"}
    canonical = b"".join(rowproof.value(kinds[type(v)], v.encode() if isinstance(v, str) else v) for v in db.execute(f"SELECT * FROM {table} WHERE name = 'alice'").fetchone())
    leaf, value = rowproof.leaf_key(table, key), rowproof.leaf_value(canonical)
    nibbles = [leaf[i // 2] >> 4 if i % 2 == 0 else leaf[i // 2] & 15 for i in range(64)]

    def read(depth):
        path = bytes([depth]) + bytes(leaf[:(depth + 1) // 2 - depth % 2]) + (bytes([leaf[depth // 2] & 0xf0]) if depth % 2 else b"")
        data = db.execute("SELECT node FROM tree_nodes WHERE path = ?", (path,)).fetchone()[0]
        leaves, nodes, at, places = int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big"), 4, {}
        for i in range(16):
            if leaves >> i & 1:
                places[i], at = (data[at:at + 32], data[at + 32:at + 64]), at + 64
            elif nodes >> i & 1:
                places[i], at = (None, data[at:at + 32]), at + 32
        return path, leaves, nodes, places

    def fold(places, low, n):
        inside = {i: p for i, p in places.items() if low <= i < low + n}
        if not inside:
            return bytes(32)
        if len(inside) == 1 and next(iter(inside.values()))[0] is not None:
            return rowproof.leaf(*next(iter(inside.values())))
        return inside[low][1] if n == 1 else rowproof.node(fold(places, low, n // 2), fold(places, low + n // 2, n // 2))
    chain = [read(0)]
    while chain[-1][3][nibbles[len(chain) - 1]][0] is None:
        chain.append(read(len(chain)))
    for depth in reversed(range(len(chain))):
        path, leaves, nodes, places = chain[depth]
        places[nibbles[depth]] = (leaf, value) if depth == len(chain) - 1 else (None, below)
        below = fold(places, 0, 16)
        data = leaves.to_bytes(2, "big") + nodes.to_bytes(2, "big") + b"".join((places[i][0] or b"") + places[i][1] for i in sorted(places))
        db.execute("UPDATE tree_nodes SET node = ? WHERE path = ?", (data, path))
    db.commit()
    db.close()


# ---- snapshots -------------------------------------------------------------------------------------


def more(w, blocks):
    """Further blocks, the same in every home that has the same chain: their commits."""
    out = []
    for i in range(blocks):
        a = w.put("more", struct.pack("<16I", *range(i, i + 16))), list(range(i, i + 16))
        w.submit(a, a)
        out.append(w.end("cpu")["commit"])
    return out


def empty(name, like):
    w = World(h, name)
    shutil.rmtree(w.home, ignore_errors=True)
    os.makedirs(w.home)
    shutil.copytree(os.path.join(like.home, "accounts"), os.path.join(w.home, "accounts"))
    w.shader = like.shader
    return w


def snapshots(w, block):
    folder = h.path("snapshot")
    shutil.rmtree(folder, ignore_errors=True)
    out = w.answer("ledger", "snapshot", "write", folder, "--chunk-bytes", "1500")
    h.check("a snapshot of the last block", out["commit"] == block["commit"] and int(out["chunks"]) > 8 and int(out["blobs"]) > 0, str(out))
    chunks = sorted(f for f in os.listdir(folder) if f.startswith("rows-"))
    h.check("chunks are bounded", all(os.path.getsize(os.path.join(folder, c)) < 6000 for c in chunks), str([os.path.getsize(os.path.join(folder, c)) for c in chunks]))
    w.refused("a folder that is not empty", "PC6149", 3, "ledger", "snapshot", "write", folder)
    w.refused("neither write nor restore", "PC0010", 2, "ledger", "snapshot", "look", folder)
    # a chunk that lies, which is named; what came before it stays, and the right one ends it
    lying = h.path("lying")
    for what, change in (("a byte", lambda b: b[:-1] + bytes([b[-1] ^ 1])), ("a row left out", None), ("cut", lambda b: b[:-3])):
        shutil.rmtree(lying, ignore_errors=True)
        shutil.copytree(folder, lying)
        bad = os.path.join(lying, chunks[5])
        with open(bad, "rb") as f:
            data = f.read()
        if change is None:
            bits = struct.unpack(">H", data[16:18])[0]
            at = 50 + 32 * bits
            n = struct.unpack(">I", data[at:at + 4])[0]
            size = 1 + data[at + 4] + 4 + struct.unpack(">I", data[at + 5 + data[at + 4]:at + 9 + data[at + 4]])[0]
            data = data[:at] + struct.pack(">I", n - 1) + data[at + 4 + size:]
        else:
            data = change(data)
        with open(bad, "wb") as f:
            f.write(data)
        to = empty("restored", w)
        status, _, err = to.run("ledger", "snapshot", "restore", lying, "--trust", block["commit"])
        h.check(f"{what}: PC6147 names {chunks[5]}", status == 6 and "PC6147" in err and chunks[5] in err, f"{status} {err}")
    to.refused("no chain yet", "PC6149", 3, "ledger", "show")
    out = to.answer("ledger", "snapshot", "restore", folder, "--trust", block["commit"])
    h.check("the right chunk ends it", out["commit"] == block["commit"] and int(out["chunks"]) == len(chunks) - 5, str(out))
    out = to.answer("ledger", "snapshot", "restore", folder, "--trust", block["commit"])
    h.check("once more, nothing is to do", out["commit"] == block["commit"] and int(out["chunks"]) == 0, str(out))
    World(h, "other").refused("a home that has a chain", "PC6149", 3, "ledger", "snapshot", "restore", folder, "--trust", block["commit"])
    # files that are not right
    to = empty("restored", w)
    to.refused("no --trust", "PC0010", 2, "ledger", "snapshot", "restore", folder)
    to.refused("another block is trusted", "PC6148", 6, "ledger", "snapshot", "restore", folder, "--trust", "ab" * 20)
    to.refused("another root is trusted", "PC6148", 6, "ledger", "snapshot", "restore", folder, "--trust", "ab" * 32)
    for name, code, status in (("snapshot", "PC6146", 3), ("record-messages", "PC6146", 3), ("record-entries", "PC6146", 3), (chunks[-1], "PC6146", 3)):
        shutil.rmtree(lying, ignore_errors=True)
        shutil.copytree(folder, lying)
        os.remove(os.path.join(lying, name))
        to = empty("restored", w)
        to.refused(f"no {name}: {code}", code, status, "ledger", "snapshot", "restore", lying, "--trust", block["commit"])
    for name in ("record-header", "record-results", "record-commit"):
        shutil.rmtree(lying, ignore_errors=True)
        shutil.copytree(folder, lying)
        with open(os.path.join(lying, name), "r+b") as f:
            f.seek(30)
            was = f.read(1)
            f.seek(30)
            f.write(b"8" if was == b"7" else b"7")
        to = empty("restored", w)
        to.refused(f"a byte of {name}: PC6148", "PC6148", 6, "ledger", "snapshot", "restore", lying, "--trust", block["commit"])
    shutil.rmtree(lying, ignore_errors=True)
    shutil.copytree(folder, lying)
    with open(os.path.join(lying, "snapshot"), encoding="utf-8") as f:
        text = f.read()
    with open(os.path.join(lying, "snapshot"), "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in text.splitlines() if chunks[3] not in line))
    to = empty("restored", w)
    to.refused("a chunk left out of the index", "PC6147", 6, "ledger", "snapshot", "restore", lying, "--trust", block["commit"])
    shutil.rmtree(lying, ignore_errors=True)
    shutil.copytree(folder, lying)
    shutil.rmtree(os.path.join(lying, "blobs"))
    to = empty("restored", w)
    to.refused("bytes that nobody has", "PC6150", 3, "ledger", "snapshot", "restore", lying, "--trust", block["commit"])
    kills(w, block, folder, len(chunks))
    # the chain goes on as that of whoever replayed everything
    to = empty("restored", w)
    to.text("ledger", "snapshot", "restore", folder, "--trust", block["state_root"])
    to.text("ledger", "verify")
    h.check("the same proofs", to.text("ledger", "prove", "accounts", "alice") == w.text("ledger", "prove", "accounts", "alice"), "differ")
    mine = more(w, 3)
    h.check("the same commits after a restore", more(to, 3) == mine, str(mine))
    h.check("and the same rows", all(row(to, f"SELECT count(*) FROM {t}") == row(w, f"SELECT count(*) FROM {t}") for t in ("jobs", "edges", "names", "blocks", "accounts")), "rows")
    last = int(block["height"])
    w.text("block", "verify", f"{last + 1}..{last + 3}", "--backend", "cpu", "--snapshot", folder)
    to.text("block", "verify", f"{last + 1}..{last + 3}", "--backend", "cpu", "--snapshot", folder)
    to.refused("the restored home has no older blocks", "PC6152", 3, "block", "verify", f"{last + 1}..{last + 1}", "--backend", "cpu")
    w.refused("a snapshot that is too late", "PC6152", 3, "block", "verify", f"{last}..{last}", "--backend", "cpu", "--snapshot", folder)
    # a restored home catches up with the history of another
    behind = empty("behind", w)
    behind.text("ledger", "snapshot", "restore", folder, "--trust", block["commit"])
    out = behind.answer("block", "replay", "--from", log(w), "--fetch", os.path.join(w.home, "cas"), "--backend", "cpu")
    h.check("a restored home catches up", out["commit"] == mine[-1] and int(out["blocks"]) == 3, str(out))


def kills(w, block, folder, n_chunks):
    """kill -9 at many moments; each time it goes on."""
    to, rounds, i = empty("killed", w), 0, 0
    while True:
        p = subprocess.Popen([h.pipectl, "--home", to.home, "ledger", "snapshot", "restore", folder, "--trust", block["commit"]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             env={**os.environ, **h.env})
        try:
            _, err = p.communicate(timeout=0.05 + 0.013 * rounds)
            h.check("a restore that was killed ends", p.returncode == 0, err.decode())
            if rounds or i == 20:
                break
            # This process was not run for so long that it killed none: once more.
            i += 1
            to = empty(f"killed-{i}", w)
        except subprocess.TimeoutExpired:
            p.send_signal(signal.SIGKILL)
            p.communicate()
            rounds += 1
    h.check("it was killed", rounds > 0, f"{n_chunks} chunks at once")
    to.text("ledger", "verify")
    h.check("whole after the kills", to.text("ledger", "prove", "accounts", "alice") == w.text("ledger", "prove", "accounts", "alice"), "differ")


# ---- replays and pruning ---------------------------------------------------------------------------


def replays(w):
    """A replay that is killed goes on where it stopped, and another history is not taken."""
    to, rounds, i = World(h, "replayed"), 0, 0
    while True:
        p = subprocess.Popen([h.pipectl, "--home", to.home, "block", "replay", "--from", log(w), "--fetch", os.path.join(w.home, "cas"), "--recorded"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, env={**os.environ, **h.env})
        try:
            _, err = p.communicate(timeout=0.1 + 0.02 * rounds)
            h.check("a replay that was killed ends", p.returncode == 0, err.decode())
            if rounds or i == 20:
                break
            i += 1
            to = World(h, f"replayed-{i}")
        except subprocess.TimeoutExpired:
            p.send_signal(signal.SIGKILL)
            p.communicate()
            rounds += 1
    h.check("it was killed", rounds > 0, "too quick")
    h.check("the replayed chain is the chain", [b["commit"] for b in to.blocks()] == [b["commit"] for b in w.blocks()], "commits")
    to.text("ledger", "verify")


def prune(w):
    folder = h.path("later")
    w.text("ledger", "snapshot", "write", folder)
    more(w, 1)
    to = w.copy("pruned")
    last = int(to.blocks()[-1]["height"])
    to.refused("nothing to keep", "PC6151", 3, "ledger", "prune", "--keep", "0")
    to.refused("more than there is", "PC6151", 3, "ledger", "prune", "--keep", str(last + 1))
    to.refused("no --keep", "PC0010", 2, "ledger", "prune")
    signed = os.path.join(to.home, "chain/receipts")
    kinds = ("receipt", "statement")
    there = {k: sorted(int(f.split(".")[0]) for f in os.listdir(signed) if f.endswith("." + k)) for k in kinds}
    h.check("every block is signed and stated", all(there[k] == list(range(1, last + 1)) for k in kinds), str(there))
    others = ("notes.receipt", "01.receipt", f"{last + 7}.statement", "1.statement.old")
    for name in others:
        with open(os.path.join(signed, name), "w", encoding="utf-8"):
            pass
    os.mkdir(os.path.join(signed, "2.receipt.d"))
    out = to.answer("ledger", "prune", "--keep", "2")
    h.check("old blocks go", int(out["first"]) == last - 1 and int(out["packs"]) > 2, str(out))
    h.check("and what was signed of them", int(out["receipts"]) == int(out["statements"]) == last - 2, str(out))
    h.check("no other file does", sorted(os.listdir(signed)) == sorted([f"{b}.{k}" for b in (last - 1, last) for k in kinds] + [*others, "2.receipt.d"]),
            str(os.listdir(signed)))
    for name in others:
        os.remove(os.path.join(signed, name))
    git = ["git", "--git-dir", log(to)]
    h.check("git agrees", subprocess.run(git + ["rev-list", "--count", "HEAD"], capture_output=True, check=True).stdout.strip() == b"2", "rev-list")
    fsck = subprocess.run(git + ["fsck", "--full", "--strict"], capture_output=True, check=False)
    h.check("git fsck", fsck.returncode == 0, fsck.stderr.decode())
    to.text("ledger", "verify")
    to.refused("what is gone", "PC6152", 3, "block", "verify", f"{last}..{last}", "--backend", "cpu")
    to.text("block", "verify", f"{last}..{last}", "--backend", "cpu", "--snapshot", folder)
    fresh = World(h, "fresh")
    fresh.refused("a pruned history begins no chain", "PC6152", 3, "block", "replay", "--from", log(to))
    job = next(iter(w.outputs))
    h.check("jobs are still there", to.answer("job", "show", job)["job"] == job, job)
    mine = more(w, 2)
    h.check("the same commits after pruning", more(to, 2) == mine, str(mine))
    to.text("ledger", "prune", "--keep", "2")
    h.check("and again", int(to.answer("ledger", "prune", "--keep", "1")["first"]) == last + 2, "prune")


def ranked():
    """A snapshot of a block that asked for a rank: its jobs are made again."""
    w = begin("ranked", epoch_blocks=2, epoch_iterations=2)
    w.shader = ""
    a, b = w.put("a", b"node a"), w.put("b", b"node b")
    w.text("ledger", "credit", "rank", "1000000000", "--sender", "alice")
    w.text("link", a, b, "--sender", "alice")
    w.end("cpu")
    w.text("link", b, a, "--sender", "alice")
    block = w.end("cpu")
    h.check("the rank's jobs wait", row(w, "SELECT count(*) FROM jobs WHERE status = 0")[0] == 4, "jobs")
    folder = h.path("ranked-snapshot")
    w.text("ledger", "snapshot", "write", folder)
    to = empty("ranked-restored", w)
    to.text("ledger", "snapshot", "restore", folder, "--trust", block["commit"])
    h.check("the rank's jobs wait there, too", row(to, "SELECT count(*) FROM jobs WHERE status = 0")[0] == 4, "jobs")
    h.check("ranked: the same commits", [to.end("cpu")["commit"] for _ in range(2)] == [w.end("cpu")["commit"] for _ in range(2)], "commits")
    h.check("the same rank", to.text("rank", "show") == w.text("rank", "show"), "rank")


# ---- by vote ---------------------------------------------------------------------------------------


def vote():
    """A chain of version 1 has no tree; from the height on that a vote names it has one, over all its rows."""
    w = begin("voted", "1").begin(1)
    w.text("ledger", "bond", "alice", "1000")
    w.end("cpu")
    w.refused("no tree under version 1", "PC6143", 3, "ledger", "prove", "accounts", "alice")
    w.refused("nor anything to verify", "PC6143", 3, "ledger", "verify")
    w.refused("nor a snapshot", "PC6143", 3, "ledger", "snapshot", "write", h.path("none"))
    proposal = w.answer("ledger", "params", "propose", "rules=2", "--from", "alice", "--at", "4")
    number = str(proposal.get("proposal", 1))
    w.text("ledger", "params", "vote", number, "yes", "--from", "alice")
    w.text("ledger", "params", "apply", number)
    blocks = [w.end("cpu") for _ in range(4)]
    show = [subprocess.run(["git", "--git-dir", log(w), "show", b["commit"] + ":header"], capture_output=True, check=True).stdout for b in blocks]
    h.check("the tree begins at height 4", [b"tree_root" in s for s in show] == [False, False, True, True], str(show))
    proved(w, blocks[-1], "accounts", "alice")
    proved(w, blocks[-1], "blocks", "1")
    w.text("ledger", "verify")
    w.text("block", "verify", "1..5", "--backend", "cpu")
    to = World(h, "voted-again")
    out = to.answer("block", "replay", "--from", log(w), "--fetch", os.path.join(w.home, "cas"), "--recorded")
    h.check("replayed over the change", out["commit"] == blocks[-1]["commit"], str(out))


def main():
    started = time.monotonic()
    other = begin("other").begin(1).end("cpu")
    w = begin("first").begin(2)
    w.end("cpu")
    more(w, 2)
    block = w.blocks()[-1]
    block = w.answer("block", "show", str(block["height"]))
    proofs(w, block, other)
    snapshots(w, block)
    forged(w.copy("to-forge"))
    replays(w)
    prune(w)
    ranked()
    vote()
    print(f"{time.monotonic() - started:.1f} s")
    h.finish()


main()
