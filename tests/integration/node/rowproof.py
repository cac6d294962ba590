"""A verifier of proofs of rows, from SEMANTICS.md 8.7 alone: `python3 rowproof.py FILE TRUSTED` prints what is proved. TRUSTED is the id of a block's
commit (40 hex digits) or its state root (64)."""
import hashlib
import re
import sys

ZEROS = bytes(32)
NUMBERED = {"names": 3, "edges": 8}  # columns of tables whose rows stand on pages
FILES = {1: 6}  # block 1 has `genesis`; later ones do not


class Wrong(Exception):
    pass


def sha(domain, *parts):
    return hashlib.sha256(domain.encode() + b"\0" + b"".join(parts)).digest()


def leaf_key(table, key):
    return sha("pipectl key 1", table.encode() + b"\0", key)


def leaf_value(row):
    return sha("pipectl row 1", row)


def leaf(key, value):
    return sha("pipectl leaf 1", key, value)


def node(left, right):
    return sha("pipectl node 1", left, right)


def bit(key, i):
    return key[i // 8] >> (7 - i % 8) & 1


def subtree(leaves, depth=0):
    """The hash of (key, value) pairs that share their first `depth` bits."""
    if not leaves:
        return ZEROS
    if len(leaves) == 1:
        return leaf(*leaves[0])
    halves = [x for x in leaves if not bit(x[0], depth)], [x for x in leaves if bit(x[0], depth)]
    return node(subtree(halves[0], depth + 1), subtree(halves[1], depth + 1))


def value(kind, data):
    if kind == "i":
        return b"i" + data.to_bytes(8, "big", signed=True)
    return kind.encode() + len(data).to_bytes(4, "big") + data


def values(data):
    """The values of canonical bytes."""
    out, at = [], 0
    while at < len(data):
        kind = data[at:at + 1]
        if kind == b"i":
            out.append(int.from_bytes(data[at + 1:at + 9], "big", signed=True))
            at += 9
        elif kind in (b"t", b"b"):
            n = int.from_bytes(data[at + 1:at + 5], "big")
            body = data[at + 5:at + 5 + n]
            out.append(body.decode() if kind == b"t" else body)
            at += 5 + n
        else:
            raise Wrong("a value is of no kind")
    if at != len(data):
        raise Wrong("a value is cut")
    return out


def page(found, columns):
    """The rows of a page, which begins with its number."""
    number, rows = found[0], [found[i:i + columns] for i in range(1, len(found), columns)]
    ids = [r[0] for r in rows]
    if not rows or len(rows[-1]) != columns or ids != sorted(set(ids)) or any(not 16 * number < i <= 16 * number + 16 for i in ids):
        raise Wrong("no page of this number")
    return rows


def hexed(text, n=None):
    if not re.fullmatch(r"(?:[0-9a-f]{2})*", text) or (n is not None and len(text) != 2 * n):
        raise Wrong(f"no hex of {n} bytes: {text[:80]}")
    return bytes.fromhex(text)


def parse(text):
    """The lines in their one order."""
    lines = text.split("\n")
    if lines.pop() != "":
        raise Wrong("the last line has no end")
    at = 0

    def take(word, optional=False):
        nonlocal at
        if at < len(lines) and lines[at].startswith(word + " "):
            at += 1
            return lines[at - 1][len(word) + 1:]
        if optional:
            return None
        raise Wrong(f"`{word}` is missing")
    if take("pipectl-proof") != "1":
        raise Wrong("another version")
    p = {"height": take("height"), "table": take("table"), "key": hexed(take("key"))}
    if not re.fullmatch(r"[1-9][0-9]*", p["height"]):
        raise Wrong("no height")
    p["height"] = int(p["height"])
    row, other = take("row", True), take("other", True)
    p["row"] = None if row is None else hexed(row)
    p["other"] = None if other is None else [hexed(x, 32) for x in other.split(" ")]
    for many, size in (("sibling", 32), ("file", 32)):
        p[many] = []
        while (x := take(many, True)) is not None:
            p[many].append(hexed(x, size))
    for name in ("header", "commit", "entries"):
        p[name] = hexed(take(name))
    if at != len(lines):
        raise Wrong("a line too many")
    return p


def fields(header):
    text = header.decode()
    out = dict(line.split(" ", 1) for line in text.splitlines())
    if "tree_root" not in out:
        raise Wrong("a block without a tree")
    return out, text[:text.rindex("state_root ")].encode()


def git(kind, data):
    return hashlib.sha1(f"{kind} {len(data)}".encode() + b"\0" + data).digest()


def entries(data):
    out, at = {}, 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, name = data[at:end].split(b" ", 1)
        if mode != b"100644" or len(data) < end + 21:
            raise Wrong("the tree of the commit holds something else than files")
        out[name] = data[end + 1:end + 21]
        at = end + 21
    return out


def verify(text, trusted):
    """{height, table, key, row}: values; row None: it is proved that there is none. Wrong otherwise."""
    p = parse(text)
    key = leaf_key(p["table"], p["key"])
    if p["row"] is not None:
        if p["other"] is not None or not p["row"].startswith(p["key"]):
            raise Wrong("a row that is not of this key")
        at = leaf(key, leaf_value(p["row"]))
    elif p["other"] is not None:
        other = p["other"][0]
        if len(p["other"]) != 2 or other == key or any(bit(other, i) != bit(key, i) for i in range(len(p["sibling"]))):
            raise Wrong("the other leaf does not stand where this key would")
        at = leaf(*p["other"])
    else:
        at = ZEROS
    if len(p["sibling"]) > 256:
        raise Wrong("too long a way")
    for i in reversed(range(len(p["sibling"]))):
        s = p["sibling"][i]
        at = node(s, at) if bit(key, i) else node(at, s)
    header, head = fields(p["header"])
    if header["tree_root"] != at.hex():
        raise Wrong("the way does not lead to the root of the tree")
    if header["height"] != str(p["height"]):
        raise Wrong("another height")
    if len(p["file"]) != FILES.get(p["height"], 5):
        raise Wrong("another number of files")
    root = sha("pipectl state 2", hexed(header["previous_root"], 32), hashlib.sha256(head).digest(), *p["file"]).hex()
    if header["state_root"] != root:
        raise Wrong("the state root is not that of the record")
    if len(trusted) == 64:
        if root != trusted:
            raise Wrong("not the trusted state root")
    else:
        if entries(p["entries"]).get(b"header") != git("blob", p["header"]):
            raise Wrong("the header is not in the tree of the commit")
        if not p["commit"].startswith(b"tree " + git("tree", p["entries"]).hex().encode() + b"\n"):
            raise Wrong("the tree is not the commit's")
        if git("commit", p["commit"]).hex() != trusted:
            raise Wrong("not the trusted block")
    got = {"height": p["height"], "table": p["table"], "key": values(p["key"]), "row": None if p["row"] is None else values(p["row"])}
    if p["table"] in NUMBERED and got["row"] is not None:
        got["rows"] = page(got["row"], NUMBERED[p["table"]])
    return got


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as f:
        try:
            print(verify(f.read(), sys.argv[2]))
        except Wrong as e:
            sys.exit(f"no proof: {e}")
