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
import re
import sys

FIXED = {"integer", "parts", "memory_unit_bytes", "dependency_hop", "validation", "job", "check", "message", "message_byte", "upload", "link", "alias",
         "refusal", "contract_fuel"}  # the unit, and what is measured by messages.py


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


def read_measured(paths, base):
    devices = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            d = json.load(f)
        for b in d["backends"]:
            kernels = devices.setdefault(b["backend"], {})
            for k in map(Kernel, b["kernels"]):
                k.constant = k.gas - sum(n * base.get(r, 0) for r, n in k.units.items() if r != "integer")
                old = kernels.get(k.name)
                # Sizes differ from run to run: by unit of gas.
                if old is None or k.ns / max(k.gas, 1) < old.ns / max(old.gas, 1):
                    kernels[k.name] = k
    return devices


def gas(k, w):
    return max(1.0, k.constant + sum(n * w.get(r, 0) for r, n in k.units.items() if r != "integer"))


def rates(devices, w, before=False):
    return {d: {n: (k.before if before else gas(k, w) / w.get("parts", 1)) / k.ns * 1e6 for n, k in ks.items() if not before or k.before}
            for d, ks in devices.items()}


def spreads(found):
    out = {}
    for d, ks in found.items():
        least, most = min(ks, key=ks.get), max(ks, key=ks.get)
        out[d] = (ks[most] / ks[least], least, most)
    return out


def solve(devices, w, rounds=4000):
    """Coordinates in turn: each row is moved to the middle of what its kernels want."""
    w = {r: float(v) for r, v in w.items()}
    best, least = dict(w), math.inf
    free = sorted({k.row for ks in devices.values() for k in ks.values()} - FIXED)
    for turn in range(rounds):
        found = rates(devices, w)
        middle = {d: (math.log(min(ks.values())) + math.log(max(ks.values()))) / 2 for d, ks in found.items()}
        now = max(s for s, _, _ in spreads(found).values())
        if now < least:
            best, least = dict(w), now
        step = 0.5 / (1 + turn / 400)
        for row in free:
            wants = [(math.log(found[d][n]) - middle[d], n, d) for d, ks in devices.items() for n, k in ks.items() if k.row == row]
            low, high = min(wants), max(wants)
            off = -(low[0] + high[0]) / 2
            k = devices[low[2] if off > 0 else high[2]][low[1] if off > 0 else high[1]]
            n = k.units.get(row, 0)
            if n:
                w[row] = max(1e-3, w[row] + (math.exp(off * step) - 1) * gas(k, w) / n)
    return best


def scaled(devices, w, throughput):
    """Every weight by one factor, so that the slowest does so much; rounded up, the least is 1."""
    slowest = min(min(ks.values()) for ks in rates(devices, w).values())
    factor = throughput / slowest
    fixed = {r: v for r, v in w.items() if r in FIXED}
    return dict({r: (max(1, math.ceil(v * factor - 1e-9)) if v else 0) for r, v in w.items()}, **{r: int(v) for r, v in fixed.items()}), factor


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
    p.add_argument("--write")
    p.add_argument("--table", action="store_true")
    p.add_argument("--as-is", action="store_true", help="judge the schedule as it stands, solve nothing")
    o = p.parse_args()
    text, base = read_schedule(o.schedule)
    devices = read_measured(o.measured, base)
    w = dict(base)
    if not o.as_is:
        w, factor = scaled(devices, solve(devices, base), o.throughput * o.safety)
        print(f"scaled by {factor:.3g}")
        for r in sorted(w):
            if w[r] != base[r]:
                print(f"{r:20} {base[r]:>8} -> {w[r]}")
    if o.table:
        table(devices, w)
    bad = 0
    for name, found in (("before", rates(devices, w, before=True)), ("now", rates(devices, w))):
        for d, (s, least, most) in spreads(found).items():
            print(f'{name}: {d}: {s:.1f}, from "{least}" ({found[d][least]:,.0f} gas/ms) to "{most}" ({found[d][most]:,.0f})')
            if name == "now" and s > o.spread:
                print(f'refused: {d} misjudges "{least}" (row {devices[d][least].row}) against "{most}" by {s:.1f}, at most {o.spread}', file=sys.stderr)
                bad = 1
    if o.write and not bad:
        write_schedule(text, w, o.write)
    return bad


if __name__ == "__main__":
    sys.exit(main())
