"""Runs families of attacks: each attack against a chain under version 1 of the rules, where it must succeed, and against one under version
2, where it must fail with its code. usage: run.py FAMILY..."""
import importlib
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import attack  # noqa: E402
from harness import Harness  # noqa: E402

h = Harness()
ran = 0
for family in sys.argv[1:]:
    del attack.ATTACKS[:]
    importlib.import_module(family)
    found = [a for a in attack.ATTACKS if os.environ.get("ONLY", "") in a.name]
    names = [a.name for a in found]
    h.check(f"{family}: no name twice", len(set(names)) == len(names), str(names))
    attack.execute(h, found, family)
    ran += len(found)
print(f"{ran} attacks")
h.check("attacks ran", ran > 0)
h.finish()
