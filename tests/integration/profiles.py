"""The profiles of devices, made once for all tests. A simulator's takes as long as those of all others together, and tests with the label matrix
alone ask for it: its is a fixture of its own. usage: profiles.py PIPECTL HOME made|simulated"""
import json
import os
import shutil
import subprocess
import sys

PIPECTL, HOME, WHICH = sys.argv[1:4]
if WHICH == "made":
    shutil.rmtree(os.path.join(HOME, "cache/drivers"), ignore_errors=True)
# What has a role (the reference, what does nothing, what is synthetic) needs no profile.
listed = subprocess.run([PIPECTL, "--home", HOME, "--json", "device", "list"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
devices = json.loads(listed.stdout)["devices"]
chosen = [d for d in devices if d["usable"] and not d["roles"] and ("Simulator" in d["name"]) == (WHICH == "simulated")]
for d in chosen:
    print(d["selector"], d["name"], flush=True)
if not chosen:
    sys.exit("no device" if WHICH == "made" else 0)
sys.exit(subprocess.run([PIPECTL, "--home", HOME, "device", "probe", "--fresh", *(f"--device={d['selector']}" for d in chosen)], stdin=subprocess.DEVNULL).returncode)
