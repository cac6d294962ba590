"""What is not there: every verb that takes a name, an id, a CID or a file is given one of nothing, and says so with one code and the exit status of
its class: 3 for a name that this installation, its home or its chain has not (or that can be none), 5 for a device, 1 for a file, which
the system says, and 2 for a word of the program itself (a verb, an option, a code). No verb of the help is left out."""
import itertools
import re

from harness import Harness

CID = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"
JOB = "1" * 64
ADA = ("--sender", "ada")
WORK = ("--input", CID, "--dispatch", "1", "--gas-limit", "10", "--output-bytes", "4", *ADA)
NONE = "nothing"

# arguments (OUT: a folder), exit status, code
TABLE = [
    (("check", NONE), 1, "PC0003"), (("run", NONE), 1, "PC0003"), (("run", "nothing@HEAD:x.cfg"), 3, "PC6000"),
    (("fmt", NONE), 1, "PC0003"), (("sign", NONE), 1, "PC0003"), (("plan", NONE), 1, "PC0003"),
    (("shader check", NONE), 1, "PC0003"), (("shader run", NONE), 1, "PC0003"), (("shader tune", NONE), 1, "PC0003"),
    (("shader upload", NONE, *ADA), 1, "PC0003"), (("shader show", NONE), 3, "PC5822"), (("shader show", CID), 3, "PC5804"),
    (("shader alias", "sort", CID, *ADA), 3, "PC5804"), (("shader deprecate", CID, *ADA), 3, "PC5804"),
    (("job submit", "--shader", NONE, *WORK), 3, "PC5822"), (("job submit", "--shader", CID, *WORK), 3, "PC5804"),
    (("job show", JOB), 3, "PC5801"), (("job show", "job:" + JOB), 3, "PC5801"), (("job show", NONE), 3, "PC5801"),
    (("job cancel", JOB, *ADA), 3, "PC5801"), (("job cancel", NONE, *ADA), 3, "PC5801"), (("link", NONE, CID, *ADA), 3, "PC5786"),
    (("op show", NONE), 3, "PC4004"), (("op show", "nothing.x@1"), 3, "PC4120"), (("op show", "int.add@99"), 3, "PC4121"),
    (("op run", "nothing.x"), 3, "PC4120"), (("op support", NONE), 3, "PC4120"), (("op support", "int.add", NONE), 3, "PC4120"),
    (("vm run", NONE), 1, "PC0003"), (("vm show", NONE), 1, "PC0003"), (("vm generate", "--model", NONE, "--prompt", "x"), 3, "PC6280"),
    (("cas put", NONE), 1, "PC0003"), (("cas get", CID), 3, "PC5004"), (("cas get", CID[:20]), 3, "PC5004"), (("cas get", NONE), 3, "PC5005"),
    (("cas pin", CID), 3, "PC5004"), (("cas pin", NONE), 3, "PC5005"), (("cas unpin", NONE), 3, "PC5005"),
    (("cas export", CID, "--car", "OUT/x.car"), 3, "PC5004"), (("cas import", "--car", NONE), 1, "PC0003"),
    (("tensor show", "nothing.npy"), 1, "PC0003"), (("tensor convert", "nothing.npy", "OUT/x.npy"), 1, "PC0003"),
    (("model show", NONE), 3, "PC6280"), (("model check", NONE), 3, "PC6280"), (("model convert", NONE, "OUT/x.gguf"), 3, "PC6280"),
    (("model pipeline", NONE), 3, "PC6280"), (("model synth", "--shape", NONE, "--out", "OUT/x.gguf"), 3, "PC6289"),
    (("model serve", "--model", NONE, "--socket", "OUT/s"), 3, "PC6280"), (("generate", "--model", NONE, "--prompt", "x"), 3, "PC6280"),
    (("tokenizer encode", NONE, "x"), 1, "PC0003"), (("tokenizer decode", NONE, "1"), 1, "PC0003"), (("tokenizer chat", NONE), 1, "PC0003"),
    (("tokenizer train", NONE, "--out", "OUT/x.json"), 1, "PC0003"), (("tokenizer show", NONE), 1, "PC0003"),
    (("plugin show", NONE), 3, "PC3039"), (("plugin quarantine", NONE, "--cause", "x"), 3, "PC3039"), (("plugin release", NONE), 3, "PC3039"),
    (("device tune", NONE), 5, "PC3230"), (("device probe", "--device", NONE), 5, "PC3230"), (("device probe", "--device", "cpu:9"), 5, "PC3231"),
    (("certify", "--backend", NONE, "--level", "L1"), 5, "PC3230"),
    (("certify merge", NONE), 3, "PC5514"), (("certify verify", NONE), 1, "PC0003"), (("certify replay", NONE), 1, "PC0003"),
    (("certify confirm", NONE), 1, "PC0003"), (("certs show", NONE), 3, "PC5540"), (("certs show", "cpu:9"), 3, "PC5540"),
    (("audit", NONE), 1, "PC0003"), (("audit verify", NONE), 1, "PC0003"), (("receipt show", NONE), 1, "PC0003"),
    (("receipt verify", NONE), 1, "PC0003"), (("receipt replay", NONE), 1, "PC0003"), (("receipt dispute", NONE, NONE), 1, "PC0003"),
    (("receipt export", JOB), 3, "PC5801"), (("receipt export", "job:" + JOB), 3, "PC5801"), (("receipt export", NONE), 3, "PC5801"),
    (("block show", "99"), 3, "PC5852"), (("block show", NONE), 2, "PC0010"), (("block verify", "99"), 3, "PC5852"), (("rank show",), 3, "PC6102"),
    (("ledger show", NONE), 3, "PC5714"), (("ledger show", "--block", "99"), 3, "PC5852"),
    (("ledger transfer", NONE, "bob", "1"), 3, "PC5714"), (("ledger bond", NONE, "1"), 3, "PC5714"), (("ledger unbond", NONE, "1"), 3, "PC5714"),
    (("ledger verdict", "--accused", NONE, "--evidence", CID, *ADA), 3, "PC5714"),
    (("ledger accuse", NONE, *ADA), 1, "PC0003"), (("ledger apply", NONE), 1, "PC0003"), (("ledger prove", NONE, "x"), 3, "PC6142"),
    (("ledger snapshot", "restore", NONE, "--trust", JOB), 3, "PC6146"),
    (("ledger params", "show", NONE), 3, "PC5720"), (("ledger params", "show", "99"), 3, "PC5724"), (("ledger params", "apply", "99"), 3, "PC5724"),
    (("contract upload", NONE, *ADA), 1, "PC0003"), (("contract show", CID), 3, "PC6130"), (("contract account", NONE), 1, "PC0003"),
    (("key sign", NONE, "--key", "ada", "--out", "OUT/x"), 1, "PC0003"),
    (("provenance", CID), 3, "PC5883"), (("provenance", NONE), 3, "PC5883"), (("graph history", CID), 3, "PC5883"),
    (("graph dependents", CID), 3, "PC5883"), (("graph rank", CID), 3, "PC6102"),
    (("explain", "PC9999"), 2, "PC0010"), (("help", NONE), 2, "PC0010"), (("man", NONE), 2, "PC0010"), (("completion", NONE), 2, "PC0010"),
]
# Verbs whose arguments make what they name, or ask what a chain that takes no contracts, or version 1 of the rules, has not.
MAKES = {"init", "key new", "ledger credit", "ledger keys", "ledger role", "contract call", "contract view", "completion at", "graph jobs"}


def verbs_that_take(text):
    """Those of the help that have arguments."""
    for line in text.split("\nglobal options")[0].splitlines():
        if re.match("  [a-z]", line):
            words = line.strip().split("  ")[0].split()
            name = list(itertools.takewhile(lambda w: re.fullmatch("[a-z]+", w), words[:2]))
            if len(words) > len(name):
                yield " ".join(name)


def main():
    h = Harness()
    for words, status, code in TABLE:
        got, out, err = h.run(*words[0].split(), *(w.replace("OUT", h.dir) for w in words[1:]))
        h.check(" ".join(words), got == status and err.count("error: ") == 1 and code in err and (not out or words[0] == "check"), f"exit status {got}, wanted {status} and {code}\n{out} {err}")
    takes = set(verbs_that_take(h.run("help")[1].decode()))
    left = takes - {words[0] for words, _, _ in TABLE} - MAKES
    h.check("every verb that takes something is here", len(takes) > 60 and not left, f"{len(takes)} {sorted(left)}")
    h.finish()


main()
