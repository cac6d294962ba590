"""The table of planted faults: the plants of plants.py are run here, each in a process of its own, and each must be caught
by the gate expected; rows of the C tests that plant faults are taken from where ctest had them written. Fault, place and
what caught it must be those of the committed table; what was named may differ in its words.
usage: planted.py ROWS_DIR TABLE COMMITTED [--bless | --plant | --few] [--jobs N] [--shard I/N] [--keep DIR]
--few: one plant of each third kind, and what is made must be among the committed rows; --bless writes COMMITTED anew; --plant must fail; --jobs 0: as many plants at once as there are processors; --shard: only
every N-th plant, from the I-th on (1 to N); --keep: what each plant said stays in DIR, and one that passed is not planted
again (of the same build: DIR is emptied by hand). With WRAP=SELECTOR the mock wraps that device instead of the reference, and the
faults of devices alone are planted: no rows of C tests, and TABLE is that device's."""
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import time

import plants
import plants_own  # noqa: F401  (its plants, in the table of plants.py)
from plants import KINDS, MOCK, PLANTS, WRAP, h, match, row, rows

ROWS, TABLE, COMMITTED = sys.argv[1:4]
FEW = "--few" in sys.argv


def option(name, default):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def text_of(table):
    lines = ["# Planted faults and what caught them", "",
             f"{len(table)} rows, written by `tests/planted/planted.py`; README.md says how. Do not edit.", "",
             "| fault | where planted | caught by | what it named |", "|---|---|---|---|"]
    for key in sorted(table):
        lines.append("| " + " | ".join(c.replace("|", "\\|") for c in (*key, table[key])) + " |")
    return "\n".join(lines) + "\n"


def keys_of(text):
    return {tuple(re.split(r"(?<!\\) \| ", line[2:-2])[:3]) for line in text.splitlines()[6:] if line.startswith("| ")}


def compare(committed, made):
    for key in sorted(committed - made) if not FEW else ():
        h.check("a committed row was found again", False, " | ".join(key))
    for key in sorted(made - committed):
        h.check("a row is committed (tests/planted/README.md says how)", False, " | ".join(key))


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


# ---- one plant, in its own process: its rows go to where the first process says
if "--only" in sys.argv:
    PLANTS[option("--only", "")]()
    write(option("--rows", os.devnull), json.dumps([[*key, named] for key, named in rows.items()]))
    h.finish()

# ---- --plant: faults that never strike, and a table with a row too many and one too few, must be found out
if "--plant" in sys.argv:
    plants.outvoted("flip-bit@nobody", "a fault of no job", plants.RANK)
    plants.run_fails("crash@nobody", "a crash of no job", 9, "PC3103", "SIGABRT")
    compare({("kept", "", ""), ("lost", "", "")}, {("kept", "", ""), ("new", "", "")})
    h.finish()


KEEP = option("--keep", None)


def kept(name):
    """What an earlier call kept of a plant that passed: its words and its seconds, or None."""
    try:
        with open(os.path.join(KEEP, f"{name}.txt"), encoding="utf-8") as f:
            status, seconds, said = f.read().split("\n", 2)
    except (TypeError, OSError, ValueError):
        return None
    return (said, float(seconds)) if status == "0" and os.path.exists(os.path.join(KEEP, f"{name}.rows")) else None


def run_plant(name):
    found = os.path.join(os.path.abspath(KEEP), f"{name}.rows") if KEEP else h.path(f"rows-{name}")
    earlier = kept(name)
    if earlier:
        return name, found, 0, *earlier
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-B", os.path.abspath(__file__), ROWS, TABLE, COMMITTED, "--only", name, "--rows", found],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said, seconds = done.stdout.decode("utf-8", "replace"), time.monotonic() - start
    if KEEP:
        write(os.path.join(KEEP, f"{name}.txt"), f"{done.returncode}\n{seconds:.1f}\n{said}")
    return name, found, done.returncode, said, seconds


def run_plants(names, jobs):
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, found, status, said, seconds in pool.map(run_plant, names):
            print(f"{name}: {seconds:.0f} s, {said.splitlines()[-1] if said else ''}", flush=True)
            counted = re.search(r"^(\d+) passed, (\d+) failed$", said, re.M)
            h.passed += int(counted[1]) if counted else 0
            if not h.check(f"plant {name}", status == 0 and counted and os.path.exists(found), f"status {status}\n{said}"):
                h.failed += int(counted[2]) - 1 if counted and int(counted[2]) else 0
            if os.path.exists(found):
                with open(found, encoding="utf-8") as f:
                    for *key, named in json.load(f):
                        row(*key, named)
    print(f"{len(names)} plants, {time.monotonic() - began:.0f} s, {jobs} at once", flush=True)


if KEEP:
    os.makedirs(KEEP, exist_ok=True)
part, of = (int(n) for n in option("--shard", "1/1").split("/"))
every = [names[0] for names in list(KINDS.values())[::3]] if FEW else list(PLANTS)
chosen = [name for i, name in enumerate(every) if i % of == part - 1]
h.check("there are plants", chosen)
run_plants(chosen, int(option("--jobs", 1)) or os.cpu_count())


def every_fault_has_a_row():
    """Every fault of the mock."""
    status, _, err = h.run("run", *plants.RANK, "--backend", f"{MOCK}+nosuch")
    kinds = set(re.findall(r"(?:^|, )([a-z-]+)(?=[@\[, ;]|$)", (match(r"flip-bit@JOB.*", err) or "").split("; late-")[0])) - {"or"}
    h.check("the mock says what it can", kinds >= {"contract", "flush", "coefficient", "tree", "nan", "lane", "racy", "zero"}, err)
    kinds -= {"gpu", "packed", "tiles"}  # no faults: the host then plans as for a GPU, or for products of packed bytes or in matrix tiles, and results are the same
    if WRAP != "cpu":
        # The first two need a device that takes such programs, and are the host's to survive; the others are integration_cli_tune's.
        kinds -= {"brittle", "stuck", "clock-zero", "clock-back", "clock-huge"}
    for kind in sorted(kinds | {f"late-{f}" for f in (*plants.LOWERED, "nan")}):
        h.check(f"mock {kind} was caught", any(re.match(rf"mock {kind}[:=]", r[0]) for r in rows), str(kinds))


if WRAP != "cpu" or of > 1:
    if of == 1:
        every_fault_has_a_row()
    bare = [key for key in rows if not key[2].startswith("harmless: ")]
    h.check("faults were caught", len(bare) >= (25 if of == 1 else 1), f"{len(bare)} of {len(rows)}")
    write(TABLE, text_of(rows))
    h.finish()

# ---- the rows of the C tests
files = sorted(glob.glob(os.path.join(ROWS, "*.tsv")))
h.check("the C tests wrote their rows", len(files) >= 12, str(files))
for path in files:
    with open(path, encoding="utf-8") as f:
        for line in f:
            cells = line.rstrip("\n").split("\t")
            if h.check(f"a row of {os.path.basename(path)}", len(cells) == 4 and all(cells), line):
                row(*cells)

if not FEW:
    every_fault_has_a_row()

LAWS = ("commutative", "associative", "identity", "self-inverse", "idempotent", "absorbing", "distributive", "involution",
        "monotone", "bounded", "De Morgan", "complement", "custom")
GATES = ("category", "signature", "zero overhead", "deterministic reference", "observable reference", "rules",
         "independent law", "independent alternate", "independent oracle", "collision", "laws are equations")
by = [r[2] for r in rows]
for law in LAWS:
    h.check(f"law {law}", any(b.startswith(f"law: {law}") for b in by))
for gate in GATES:
    h.check(f"gate {gate}", f"gate: {gate}" in by)
status, out, err = h.run("certify", "--backend", "cpu", "--level", "L3", "--ops", "int.not@1", "--list", "--json")
engine = [u["name"] for u in json.loads(out)["units"] if u["subject"] == "engine"] if status == 0 else []
h.check("the engine's units", len(engine) >= 25 and sum(e.startswith("barrier-") for e in engine) >= 4, str(engine))
for name in engine if not FEW else ():
    h.check(f"engine {name}", f"engine: {name}" in by)
h.check("theorems", sum(b.startswith("theorem: ") for b in by) >= 19, "")
h.check("classes and boundaries", sum(r[2] == "parity: examples" for r in rows) >= 2, "")
for word in ("level rule: ", "determinism: ", "regression: ", "tolerance: ", "audit: undecided", "audit: failed", "quarantine") if not FEW else ("level rule: ",):
    h.check(f"something was caught by {word}", any(b.startswith(word) for b in by))


# ---- the table
made = text_of(rows)
write(TABLE, made)
if "--bless" in sys.argv:
    write(COMMITTED, made)
with open(COMMITTED, encoding="utf-8") as f:
    committed = f.read()
compare(keys_of(committed), keys_of(made))
h.check("the table has rows", len(keys_of(made)) == len(rows) > 150, str(len(rows)))
h.finish()
