#!/usr/bin/env python3
"""Faults planted in the elementary forms' text, each of which elementary.c has to find in a function's hard cases: a coefficient
changed in its last digits or its sign, a part left out, an input that is not set right, a second phase that is never asked.
usage: planted.py FORMS HARD ELEMENTARY.C WORK [CC]"""
import os
import subprocess
import sys

# function, fast, file, the text, what stands there instead
PLANTS = [
    ("erf", False, "erf.wgsl", "const ERF_A_LO = 0x1.0a6db446b8ea4p-30lf", "const ERF_A_LO = 0x1.0a6db446p-30lf * 1.001lf"),
    ("erf", False, "erf.wgsl", "const ERF_A4 = 0x1.ce2f21a0", "const ERF_A4 = 0x1.ce2f21b0"),
    ("erf", False, "erf.wgsl", "elem_settle(1.0lf, -erf_tail(a))", "1.0lf - erf_tail(a) * 0x1.00001p0lf"),
    ("erfc", False, "erf.wgsl", "const ERF_G7 = 0x1.8dae3a", "const ERF_G7 = 0x1.8dae4a"),
    ("erfc", False, "erf.wgsl", "return mad64(g, e, g) * exp_power(m)", "return g * exp_power(m)"),
    ("erfc", False, "erf.wgsl", "elem_settle(2.0lf, -y)", "2.0lf"),
    ("log1p", False, "log.wgsl", "elem_settle(x, low)", "x + low"),
    ("log1p", False, "log.wgsl", "x == 0x1.fb035ap-2lf", "x == 0x1.fb035cp-2lf"),
    ("log1p", False, "log.wgsl", "log_part(s + s, s) - n * s", "log_part(s + s, s) - n * s * 0x1.000001p0lf"),
    ("expm1", False, "exp.wgsl", "elem_settle(power - 1.0lf, power * exp_part", "elem_settle(power, power * exp_part"),
    ("expm1", False, "exp.wgsl", "const EXP_C6 = 0x1.6c16c1", "const EXP_C6 = -0x1.6c16c1"),
    ("erf", True, "fast.wgsl", "fast_decides(y, 16384u) && a >=", "a >="),
    ("erf", True, "fast.wgsl", "a < 0x407c0000u", "a < 0x7f800000u"),
    ("log1p", True, "fast.wgsl", "mad64(k, FAST_LN2, mad64(n * n, p, n))", "mad64(k, FAST_LN2, mad64(n * n, p * 0x1.000001p0lf, n))"),
    ("log1p", True, "fast.wgsl", "(((bitcast<vec2<u32>>(y).x + 0x10000000u + margin)", None),
    ("expm1", True, "fast.wgsl", "0x1.5555557e1cfc4p-3lf", "0x1.55555p-3lf"),
]
DECIDES = "return ((bitcast<vec2<u32>>(y).x + 0x10000000u + margin) & 0x1fffffffu) > 2u * margin;"


def main(forms, hard, source, work, cc="cc"):
    os.makedirs(work, exist_ok=True)
    texts = {n: open(os.path.join(forms, n), encoding="utf-8").read() for n in sorted(os.listdir(forms)) if n.endswith(".wgsl")}
    bad = 0
    for i, (function, fast, name, was, now) in enumerate(PLANTS):
        if now is None:
            was, now = DECIDES, "return true;"
        if texts[name].count(was) < 1:
            print(f"{name} has no {was!r}")
            bad += 1
            continue
        planted = dict(texts)
        planted[name] = texts[name].replace(was, now, 1)
        paths = []
        for n, text in planted.items():
            paths.append(os.path.join(work, n))
            with open(paths[-1], "w", encoding="utf-8") as f:
                f.write(text)
        header, program = os.path.join(work, f"forms{i}.h"), os.path.join(work, f"elementary{i}")
        roots = [function] + ([function + "_fast"] if fast else [])
        subprocess.run([sys.executable, "-B", os.path.join(os.path.dirname(os.path.abspath(source)), "forms2c.py"), "-o", header,
                        *roots, *paths], check=True)
        subprocess.run([cc, "-std=gnu11", "-O1", "-ffp-contract=off", "-D_GNU_SOURCE", f'-DFORMS="{header}"',
                        f"-DFUNCTIONS=FUNCTION({function})", *(["-DFAST"] if fast else []), source, "-o", program, "-lmpfr", "-lm"],
                       check=True)
        run = subprocess.run([program, "quick", os.path.join(hard, function + ".txt")], stdout=subprocess.PIPE, check=False, text=True)
        lines = run.stdout.splitlines()
        found = run.returncode == 1
        print(f"{'caught' if found else 'NOT CAUGHT'}: {name}: {was!r} -> {now!r}: {lines[0] if lines else ''}")
        bad += not found
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
