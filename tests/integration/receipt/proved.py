"""A receipt of a job with the proof of its row behind it: the tool and the verifier that has proofs from SEMANTICS.md 8.7 alone agree; whatever is forged is
refused, and so is a right proof that is of another job, another outcome or another block."""
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("blocks", "node"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))

from harness import Harness
import rowproof
from world import World

h = Harness()


def begin(name, rules):
    w = World(h, name)
    os.makedirs(os.path.join(w.home, "chain"))
    with open(os.path.join(os.path.dirname(h.pipectl), "..", "conf", "chain", "params.cfg"), encoding="utf-8") as f:
        h.write(f"{name}/chain/params.cfg", re.sub(r'(\n *fee_ppm = )"\w+"', r'\1"0"', re.sub(r'(\n *rules = )"1"', rf'\1"{rules}"', f.read())).encode())
    if rules == "2":
        key = w.answer("key", "new", "alice", "--no-passphrase")["keys"][0]["key"]
        h.write(f"{name}/chain/genesis.cfg", f'genesis : {{ version = 1; accounts : ( {{ name = "alice"; balance = "5000"; keys = [ "{key}" ]; threshold = 1; roles = [ "credit", "block" ]; }} ); }};\n'.encode())
    return w.begin(1)


def split(text):
    at = text.index("\npipectl-proof ") + 1
    return text[:at], text[at:]


def refused(what, text, code, *more):
    status, out, err = h.run("receipt", "verify", h.write("forged", text.encode()), *more)
    h.check(f"{what}: PC{code}", status in (3, 6) and f"PC{code}" in err and not out, (status, err))


def main():
    w = begin("home", "2")
    w.end("cpu")
    complete, failed = next(j for j in w.outputs if j not in w.failed), next(iter(w.failed))
    first = w.blocks()[-1]
    text = w.text("receipt", "export", complete) + "\n"
    receipt, proof = split(text)
    block = w.answer("block", "show", str(first["height"]))
    for trusted in (block["commit"], block["state_root"]):
        got = rowproof.verify(proof, trusted)
        h.check("the document's verifier", got["row"] is not None and got["row"][0].hex() == complete and int(got["row"][8]) == int(block["height"]), got)
        out = w.text("receipt", "verify", h.write("one", text.encode()), "--trust", trusted)
        h.check("the tool's", out.endswith("in the state " + block["state_root"]), out)
    h.check("without a block that is trusted it says so", "--trust ID" in w.text("receipt", "verify", h.path("one")))
    h.check("and in a document", w.answer("receipt", "verify", h.path("one"), "--trust", block["commit"])["receipts"][0]["state"] == block["state_root"])
    h.check("what it is of", w.answer("receipt", "show", h.path("one"))["proof_row"] == "there" and "proof_height" in w.text("receipt", "show", h.path("one")))
    w.text("receipt", "verify", h.write("lost", w.text("receipt", "export", failed).encode() + b"\n"), "--trust", block["commit"])
    # ---- a block later: the same row, another root
    w.submit((w.put("more", struct.pack("<16I", *range(16))), list(range(16))), (w.put("more", struct.pack("<16I", *range(16))), list(range(16))))
    w.end("cpu")
    later = w.blocks()[-1]
    again = w.text("receipt", "export", complete) + "\n"
    w.text("receipt", "verify", h.write("again", again.encode()), "--trust", later["commit"])
    h.check("the receipt is the same", split(again)[0] == receipt and split(again)[1] != proof)
    refused("an older proof for the newer block", text, 6145, "--trust", later["commit"])
    refused("a newer one for the older", again, 6145, "--trust", block["commit"])
    # ---- forged
    for word, at in (("row", -1), ("row", 40), ("sibling", -1), ("key", -2), ("file", 20), ("header", 80)):
        line = next(x for x in proof.splitlines() if x.startswith(word + " "))
        i = at if at > 0 else len(line) + at
        wrong = proof.replace(line, line[:i] + ("0" if line[i] != "0" else "1") + line[i + 1:], 1)
        refused(f"a digit of its {word}", receipt + wrong, 6145, "--trust", block["commit"])
        refused(f"a digit of its {word}, whichever block", receipt + wrong, 6145)
    line = next(x for x in proof.splitlines() if x.startswith("row "))
    refused("no row", receipt + proof.replace(line + "\n", ""), 6145, "--trust", block["commit"])
    refused("cut", receipt + proof[:-20], 6144)
    refused("another spelling", receipt + proof.replace("height ", "height 0"), 6144)
    # ---- right proofs that do not belong there
    for what, words in (("another job's row", ("jobs", failed)), ("no job's row", ("accounts", "alice")), ("a row that is not there", ("jobs", "ab" * 32))):
        refused(what, receipt + w.run("ledger", "prove", *words)[1].decode(), 5915, "--trust", later["commit"])
    whole = h.read(f"home/chain/receipts/{first['height']}.receipt").decode()
    refused("a whole block's", whole + split(again)[1], 5915, "--trust", later["commit"])
    liar = begin("liar", "2")  # the same jobs, with the same outcome
    other = next(j for j in liar.outputs if j not in liar.failed)
    liar.end("cpu")
    refused("another chain's receipt", split(liar.text("receipt", "export", other) + "\n")[0] + proof, 5915, "--trust", block["commit"])
    refused("another chain's proof", receipt + split(liar.text("receipt", "export", other) + "\n")[1], 6145, "--trust", block["commit"])
    # A node of the same chain whose device was wrong signs another output of the same job: its receipt holds, and the state gives it away.
    wrong = w.copy("wrong")
    job = wrong.submit((w.put("more", struct.pack("<16I", *range(16))), list(range(16))), (w.put("more", struct.pack("<16I", *range(16))), list(range(16))), n=4)[0][4:]
    right = wrong.copy("right")
    wrong.end(f"mock:wrap=cpu+flip-bit@{job}:element=1:bit=3")
    right.end("cpu")
    lie = split(wrong.text("receipt", "export", job) + "\n")[0]
    refused("a receipt of what a wrong device gave", lie + split(right.text("receipt", "export", job) + "\n")[1], 5915, "--trust", right.blocks()[-1]["commit"])
    # ---- where there is no tree
    old = begin("old", "1")
    old.end("cpu")
    plain = old.text("receipt", "export", next(j for j in old.outputs if j not in old.failed)) + "\n"
    h.check("under version 1 there is no proof", "pipectl-proof" not in plain)
    old.text("receipt", "verify", h.write("plain", plain.encode()))
    refused("nothing to trust it by", plain, 5915, "--trust", block["commit"])
    h.finish()


main()
