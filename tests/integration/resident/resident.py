"""Pipelines that stay on a device: each step's bytes against a plain run of the pipeline on the reference, by the driver steps.c.
usage: resident.py STEPS cpu|lavapipe|pocl|swiftshader|gpu"""
import os
import re
import subprocess
import sys

from harness import Harness, patient

SELECTORS = {"cpu": "cpu", "lavapipe": "vulkan:llvmpipe", "pocl": "opencl:portable", "swiftshader": "vulkan:SwiftShader", "gpu": "mock:wrap=cpu+gpu"}
# What is driven, and how many outputs are compared then.
PARTS = [("cuts", 1, 96), ("words", 4, 16), ("verified", 2, 8), ("share", 5, 24), ("fail", 3, 12)] if sys.argv[2] == "gpu" else [("layer", 10, 40), ("words", 10, 40), ("machines", 6, 18), ("verified", 3, 12), ("share", 8, 36), ("fail", 3, 12)]


h = Harness()
steps, device = sys.argv[1], SELECTORS[sys.argv[2]]
here = os.path.dirname(os.path.abspath(__file__))
for what, n, outputs in PARTS:
    done = subprocess.run([steps, h.path("home"), here, device, str(n), what], env=h.env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=patient(500))
    h.check(f"{what} on {device}", done.returncode == 0, done.stdout)
    compared = re.search(r"(\d+) outputs compared", done.stdout)
    h.check(f"{what} on {device}: all were compared", compared is not None and int(compared.group(1)) == outputs, done.stdout)
    if what == "cuts":
        # Nine jobs: a norm, five products of it with what meets element by element behind, the last product; wherever somebody looks.
        counted = {int(c): int(n) for c, n in re.findall(r"cut (\d+): (\d+) dispatches", done.stdout)}
        h.check(f"{what}: dispatches", sorted(counted) == list(range(16)) and max(counted.values()) <= 4, str(counted))
h.finish()
