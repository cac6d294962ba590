#!/usr/bin/env python3
"""Every long constant of core/compiler/legalize/softfloat/FAMILY.wgsl is one that its Sollya script prints.
usage: constants.py SOLLYA FORMS FAMILY"""

import pathlib
import re
import subprocess
import sys

sollya, forms, family = sys.argv[1:]
script = pathlib.Path(forms, "sollya", family + ".sollya")
printed = subprocess.run([sollya, script], check=True, capture_output=True, text=True).stdout
number = r"0x1\.[0-9a-f]{8,}p[-+]?\d+"
made = set(re.findall(number, printed))
used = re.findall(number, pathlib.Path(forms, family + ".wgsl").read_text(encoding="utf-8"))
# Rounding tests and their like are powers of two with a bit beside them.
used = [c for c in used if not re.search(r"\.(0{8,}|f{8,})", c)]
missing = [c for c in used if c not in made]
print(f"{family}: {len(used)} constants, not from the script: {missing}")
sys.exit(1 if missing or not used else 0)
