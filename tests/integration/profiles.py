"""The profiles of devices, made once for all tests. That of PoCL, whose compiler takes half a second for each of 85 programs, and that of a
simulator take far longer than those of all others together, and tests with the labels matrix, larger and slow alone ask for them: each is a
fixture of its own. usage: profiles.py PIPECTL HOME made|compiled|simulated"""
import json
import os
import shutil
import subprocess
import sys

PIPECTL, HOME, WHICH = sys.argv[1:4]
# Mocks that several tests have floats on, without a fault that a probe would meet: each takes four seconds of the processor.
MOCKS = ["mock:wrap=cpu" + kind for kind in ("", "+gpu", "+narrow=16384", "+narrow=1048576", "+late-contract")]
if WHICH == "made":
    shutil.rmtree(os.path.join(HOME, "cache/drivers"), ignore_errors=True)
# What has a role (the reference, what does nothing, what is synthetic) needs no profile.
listed = subprocess.run([PIPECTL, "--home", HOME, "--json", "device", "list"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
devices = json.loads(listed.stdout)["devices"]


def fixture_of(d):
    return "simulated" if "Simulator" in d["name"] else "compiled" if d["driver"].startswith("Portable Computing Language") else "made"


chosen = [d for d in devices if d["usable"] and not d["roles"] and fixture_of(d) == WHICH]
for d in chosen:
    print(d["selector"], d["name"], flush=True)
if not chosen:
    sys.exit("no device" if WHICH == "made" else 0)


def probe(selectors):
    return subprocess.Popen([PIPECTL, "--home", HOME, "device", "probe", "--fresh", *(f"--device={s}" for s in selectors)], stdin=subprocess.DEVNULL)


# The first makes the key that all are signed with; then mocks beside devices, since every other test waits.
if WHICH == "made" and probe(MOCKS[:1]).wait():
    sys.exit("no mock")
both = [probe([d["selector"] for d in chosen])] + ([probe(MOCKS[1:])] if WHICH == "made" else [])
sys.exit(any([p.wait() for p in both]))
