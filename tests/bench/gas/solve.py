#!/usr/bin/env python3
"""The weights of a gas schedule from measured kernels.

    solve.py SCHEDULE.cfg MEASURED.json... [--spread 20] [--throughput 100000] [--safety 1.5] [--write NEW.cfg] [--table]

MEASURED: what `pipectl --json ledger params calibrate --suite` printed, each with the schedule that it was given; of several measurings of
a device the least time of each kernel counts. Gas is the sum of rows times units, so any schedule can be priced from one measuring.

Solved for is the least spread: of each device the quotient of the most and the least gas a millisecond of its kernels, the greatest of all
devices. Then all is scaled so that the slowest kernel of the slowest device does `throughput` times `safety`, and rounded up. Exit status 1,
with the kernels named, where a device's spread is above --spread."""
import argparse
import json
import math
import os
import re
import sys

import numpy as np
import scipy.optimize

FIXED = {"integer", "parts", "memory_unit_bytes", "dependency_hop", "validation", "job", "check", "message", "message_byte", "upload", "link", "alias",
         "refusal", "contract_fuel"}  # the unit, and what is measured by messages.py


# Weights that multiply the counts of opcodes, and counts that one weight is solved for: gas is linear in the others.
KINDS = {"integer", "division", "float", "float_division", "elementary"}


def is_factor(row):
    return row in KINDS or row.startswith("ATOMIC_")


# What a processor does in a step or few: as good as one operation each, whatever else could be fitted by them.
PLAIN = set("ADD SUB MUL NEG AND OR XOR NOT SHL SHR MIN MAX CLAMP ABS SIGN EXTRACT_BITS INSERT_BITS EQ NE LT LE GT GE SELECT ALL ANY CAST BITCAST "
            "SPLAT EXTRACT SHUFFLE INSERT DOT".split())


PLAIN_MOST = 24


def read_schedule(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    values = {}
    for name, value in re.findall(r'^ *(\w+) = "((?:\w+ )?\d+|none|bytes|barrier)";', text, re.M):
        if value.split()[-1].isdigit():
            values[name] = int(value.split()[-1])
        elif value == "none":
            values[name] = 0
    return text, values


def write_schedule(text, values, path):
    def put(m):
        name, old = m[2], m[3]
        if name not in values:
            return m[0]
        kind = old.split()[0] + " " if " " in old else "integer " if old == "none" and values[name] else ""
        if old == "none" and not values[name]:
            return m[0]
        return f'{m[1]}{name} = "{kind}{values[name]}";'
    text = re.sub(r'^( *)(\w+) = "((?:\w+ )?\d+|none)";', put, text, flags=re.M)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


class Kernel:
    def __init__(self, k):
        self.name, self.row, self.gas, self.before = k["kernel"], k["row"], int(k["parts"]), int(k["gas_before"])
        self.units = {r: int(n) for r, n in k["units"].items()}
        self.ns = int(k["nanoseconds"])


def read_measured(paths):
    devices = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            d = json.load(f)
        base = {r: int(v) for r, v in d["rows"].items()}  # that it was measured with
        for b in d["backends"]:
            kernels = devices.setdefault(b["backend"], {})
            for k in map(Kernel, b["kernels"]):
                k.constant = k.gas - sum(n * base.get(r, 0) for r, n in k.units.items() if not is_factor(r))
                old = kernels.get(k.name)
                # Sizes differ from run to run: by unit of gas.
                if old is None or k.ns / max(k.gas, 1) < old.ns / max(old.gas, 1):
                    kernels[k.name] = k
    return devices


def gas(k, w):
    return max(1.0, k.constant + sum(n * w.get(r, 0) for r, n in k.units.items() if not is_factor(r)))


def rates(devices, w, before=False):
    return {d: {n: (k.before if before else gas(k, w) / w.get("parts", 1)) / k.ns * 1e6 for n, k in ks.items() if not before or k.before}
            for d, ks in devices.items()}


def odd_ones():
    """Names of the kernels that are nobody's honest work."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "core", "chain", "executor", "suite.def"), encoding="utf-8") as f:
        return set(re.findall(r'SUITE_ODD_(?:STEP|TEXT)\("([^"]+)"', f.read()))


ODD = odd_ones()
BUILDS = {"kernels of their own", "long kernels of their own"}  # of the time of a block, and no kernel's that runs


def honest(ks):
    return {n: r for n, r in ks.items() if n not in ODD}


def spreads(found, before=False):
    out = {}
    for d, ks in found.items():
        least, most = min((n for n in ks if before or n not in BUILDS), key=ks.get), max(ks if before else honest(ks), key=ks.get)
        out[d] = (ks[most] / ks[least], least, most)
    return out


def solve(devices, w, spread, floor, others=()):
    """The cheapest weights under which each device does, for some L of its own that is at least `floor`, L or more with every kernel and at
    most `spread` times L with every honest one: all linear in weights and Ls. `others` are not admitted and ask for nothing. None where there
    are none."""
    devices = {d: ks for d, ks in devices.items() if d not in others}
    rows = sorted({r for ks in devices.values() for k in ks.values() for r in k.units if not is_factor(r)} - FIXED)
    at = {r: i for i, r in enumerate(rows)}
    names = sorted(devices)
    n = len(rows) + len(names)
    left, right = [], []
    for d, ks in devices.items():
        for name, k in ks.items():
            fixed = k.constant + sum(u * w.get(r, 0) for r, u in k.units.items() if r in FIXED and not is_factor(r))
            line = np.zeros(n)
            for r, u in k.units.items():
                if r in at:
                    line[at[r]] = u / k.ns
            low = -line
            low[len(rows) + names.index(d)] = 1
            left.append(low)
            right.append(fixed / k.ns)
            if name in BUILDS:
                left[-1][len(rows) + names.index(d)] = 0
                right[-1] -= floor
            elif name not in ODD:
                most = line
                most[len(rows) + names.index(d)] = -spread
                left.append(most)
                right.append(-fixed / k.ns)
    own = {k.row for ks in devices.values() for k in ks.values()}
    most_of = {"storage_read": 60, "storage_write": 100}  # every kernel reads and writes a little: no price of something else
    # What no kernel is for stays as it is, and none goes below what the released schedules have.
    least = {"storage_read": 10, "storage_write": 15, "atomic": 20, "workgroup_barrier": 50, "storage_barrier": 100, "DOT4_U8": 7, "DOT4_I8": 7, "division": 4}
    bounds = [(max(1, least.get(r, 0)), most_of.get(r, 255 if r[0].isupper() else None)) if r in own - PLAIN else (1, PLAIN_MOST) if r in PLAIN else (w.get(r, 0),) * 2
              for r in rows] + [(floor, None)] * len(names)
    # The least gas for all of them together.
    cost = [sum(k.units.get(r, 0) / k.ns for ks in devices.values() for k in ks.values()) for r in rows] + [0.0] * len(names)
    done = scipy.optimize.linprog(cost, A_ub=np.array(left), b_ub=np.array(right), bounds=bounds, method="highs")
    return None if done.status else dict(w, **{r: math.ceil(done.x[at[r]] - 1e-6) for r in rows})


def least_spread(devices, w, floor, most, others=()):
    """Bisected: the least factor that some weights keep, and these; (None, None) where `most` is not kept."""
    best, found = None, solve(devices, w, most, floor)
    if found is None:
        return None, None
    best, low, high = found, 1.0, most
    while high / low > 1.02:
        middle = math.sqrt(low * high)
        found = solve(devices, w, middle, floor, others)
        if found is None:
            low = middle
        else:
            best, high = found, middle
    return high, best


def table(devices, w):
    after, before = rates(devices, w), rates(devices, w, before=True)
    names = list(next(iter(devices.values())))
    print("| kernel | row |" + "".join(f" {d}, before | {d}, now |" for d in devices))
    print("|---|---|" + "---:|---:|" * len(devices))
    for n in names:
        k = next(iter(devices.values()))[n]
        print(f"| {n} | `{k.row}` |" + "".join(f" {before[d].get(n, float('nan')):,.0f} | {after[d][n]:,.0f} |" for d in devices))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("schedule")
    p.add_argument("measured", nargs="+")
    p.add_argument("--spread", type=float, default=20)
    p.add_argument("--throughput", type=float, default=100000)
    p.add_argument("--safety", type=float, default=1.5)
    p.add_argument("--not-admitted", action="append", default=[], help="a device that is shown, and neither fitted nor judged")
    p.add_argument("--write")
    p.add_argument("--table", action="store_true")
    p.add_argument("--as-is", action="store_true", help="judge the schedule as it stands, solve nothing")
    o = p.parse_args()
    text, base = read_schedule(o.schedule)
    devices = read_measured(o.measured)
    w = dict(base)
    if not o.as_is:
        # Room for what is rounded up, and for other measurings.
        factor, w = least_spread(devices, base, o.throughput * o.safety * base.get("parts", 1) / 1e6, 10000.0, o.not_admitted)
        if w is None:
            print("no weights keep any factor", file=sys.stderr)
            return 1
        # Some room on both sides: what is measured again is not quite the same.
        w = solve(devices, base, math.sqrt(factor * o.spread), o.throughput * o.safety * base.get("parts", 1) / 1e6, o.not_admitted) or w
        print(f"the least factor: {factor:.1f}")
        for r in sorted(w):
            if w[r] != base[r]:
                print(f"{r:20} {base[r]:>8} -> {w[r]}")
    if o.table:
        table(devices, w)
    bad = 0
    for name, found in (("before", rates(devices, w, before=True)), ("now", rates(devices, w))):
        for d, (s, least, most) in spreads(found, name == "before").items():
            print(f'{name}: {d}: {s:.1f}, from "{least}" ({found[d][least]:,.0f} gas/ms) to "{most}" ({found[d][most]:,.0f})')
            if name == "now" and s > o.spread and d not in o.not_admitted:
                print(f'refused: {d} misjudges "{least}" (row {devices[d][least].row}) against "{most}" by {s:.1f}, at most {o.spread}', file=sys.stderr)
                bad = 1
    if o.write and not bad:
        write_schedule(text, w, o.write)
    return bad


if __name__ == "__main__":
    sys.exit(main())
