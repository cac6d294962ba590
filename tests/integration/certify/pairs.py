"""--pairs: a function of two 16-bit floats is compared on all 2^32 pairs of them. The whole takes hours; of its blocks every
512th runs here, and the units that it adds are those and no others."""
import json
import re

from harness import Harness

h = Harness()
OPS = "ieee.min@1,ieee.sqrt@1"
ALL = 2 ** 32


def listed(*more):
    status, out, err = h.run("certify", "--backend", "cpu", "--level", "L1f", "--ops", OPS, "--list", *more)
    h.check("a list " + " ".join(more), status == 0, err)
    return [line for line in out.decode().splitlines() if " blocks" not in line], int(re.search(r"(\d+) blocks", out.decode() + err).group(1))


plain, n_plain = listed()
pairs, n_pairs = listed("--pairs")
added = [line for line in pairs if line not in plain]
units = [line for line in added if "parity" in line]
h.check("nothing else changes", [line for line in pairs if line not in added] == plain and units == added, str(added))
h.check("the function of two operands has it in both formats", len(units) == 2 and all(
    f"ieee.min@1 {t} " in line and f"{ALL} cases" in line for t, line in zip(("f16", "bf16"), units)), str(added))
h.check("the function of one has not", not any("sqrt" in line for line in units), str(units))


def shard(out, *more):
    status, answer, err = h.run("--json", "certify", "--backend", "cpu", "--level", "L1f", "--ops", "ieee.min@1", "--shard", "3/512",
                                "--out", h.path(out), *more)
    h.check("a shard " + " ".join(more), status == 0, err)
    journal = h.read(f"{out}/shard-3-of-512.journal").decode()
    cases = [int(line.split("\t")[2]) for line in journal.splitlines() if line.startswith("ran\t")]
    return json.loads(answer), cases


answer, cases = shard("without")
few = sum(cases)
h.check("without it a shard is small", int(answer["blocks"]) <= 1 and few < 2 ** 20, f"{answer} {cases}")
answer, cases = shard("with", "--pairs")
h.check("with it every 512th block of 2^32 pairs runs, twice", abs(sum(cases) - few - 2 * ALL // 512) <= 2 * max(cases)
        and int(answer["ran"]) == int(answer["blocks"]) == len(cases) and answer["failed"] == "0", f"{answer} {sum(cases)}")
h.check("the numbers of blocks say so", n_pairs - n_plain == 2 * ALL // max(cases), f"{n_pairs} {n_plain} {max(cases)}")
status, _, err = h.run("certify", "--backend", "cpu", "--level", "L1f", "--ops", "ieee.min@1", "--shard", "3/512", "--out", h.path("with"), "--resume")
h.check("what was begun with it does not go on without", status == 3 and "PC551" in err, f"{status} {err}")
h.finish()
