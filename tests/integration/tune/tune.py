"""`pipectl device tune`: each tunable changes what is planned and no value changes a byte; the record that it keeps is what plans go by, and is void when damaged, or with values that
the table does not have; a device whose bytes differ is found out and nothing is kept. usage: tune.py DEVICE..."""
import glob
import json
import os
import re
import subprocess
import sys

import numpy as np

from harness import Harness

NAMES = ["matmul_thin_lanes", "matmul_thin_split", "matmul_thin_columns", "matmul_tiles", "matmul_settle", "attention_groups", "rows_lanes"]
# What has one form on processors' devices: workgroups of few rows, and elements of an invocation where its turns are limited.
ONE_FORM = {"vulkan": {"matmul_thin_lanes", "matmul_thin_split", "matmul_settle"}, "opencl": {"matmul_thin_lanes", "matmul_thin_split"}, "cpu": set()}

h = Harness()


def records():
    return sorted(glob.glob(h.path("home/profiles/*.tuning.cfg")))


def tune(device, *args):
    status, out, err = h.run("device", "tune", device, "--rounds", "1", "--json", *args)
    return status, json.loads(out)["devices"][0] if status == 0 else None, err


def profile_of(args):
    return ["--profile", args[0]] if args else []


def product(device, *args):
    """A product of four rows, whose plan has all but one of the tunables' ops in it, and what it was made by."""
    rng = np.random.default_rng(5)
    for name, shape in (("a", (4, 256)), ("b", (64, 256))):
        h.write(name, rng.standard_normal(shape, dtype=np.float32).tobytes())
    status, _, err = h.run("op", "run", "tensor.matmul", "--in", "a=" + h.path("a") + ":f32[4,256]", "--in", "b=" + h.path("b") + ":f32[64,256]", "--attr", "transpose_b=true",
                           "--out", "y=" + h.path("y"), "--backend", device, *profile_of(args))
    return h.read("y") if h.check(f"a product {args}", status == 0, err) else b"", err


def sealed(text):
    key = h.path("home/keys/signing.pem")
    body = h.write("body", text)
    value = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", body], capture_output=True, check=True).stdout.hex()
    public = subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"], capture_output=True, check=True).stdout[-32:].hex()
    return text + f'signature : {{ key = "{public}"; value = "{value}"; }};\n'.encode()


def on(device):
    before = len(records())
    status, out, err = h.run("device", "tune", device, "--rounds", "1", "--dry-run", "--json")
    h.check(f"{device}: tried", status == 0 and json.loads(out)["devices"][0]["file"] is None and len(records()) == before, err[:1500])
    status, made, err = tune(device)
    if not h.check(f"{device}: tuned", status == 0 and len(records()) == before + 1 and made["profile"] == "mc", err[:1500]):
        return None
    h.check(f"{device}: all tunables", [t["name"] for t in made["tunables"]] == NAMES, str([t["name"] for t in made["tunables"]]))
    for t in made["tunables"]:
        plans = {v["plan"] for v in t["tried"]}
        h.check(f"{device}: {t['name']} changes the plan", len(plans) > 1 or t["name"] in ONE_FORM[device.split(":")[0]], str(t)[:600])
        h.check(f"{device}: {t['name']}: a value of the table", t["value"] in [v["value"] for v in t["tried"]] and t["tried"][0]["value"] == 0, str(t)[:300])
    text = open(made["file"], "rb").read()
    for t in made["tunables"]:
        h.check(f"{device}: {t['name']} is kept", f'{t["name"]} = "{t["value"]}";'.encode() in text, text.decode())
    return made


def forced(text, name, value):
    """The record with another value, signed again by this home: its maker lies."""
    body = text[:text.rindex(b"signature : ")]
    return sealed(re.sub(rf'{name} = "\d+"'.encode(), f'{name} = "{value}"'.encode(), body))


def record(device, made):
    path = made["file"]
    text = open(path, "rb").read()
    h.check("our signature is one", sealed(text[:text.rindex(b"signature : ")]) == text)
    right, err = product(device)
    h.check("a record says nothing", "PC4335" not in err, err)
    for profile in ("sc", "mc"):
        h.check(f"profile {profile}: the same", product(device, profile)[0] == right)
    for name, values in (("matmul_thin_columns", (2, 4, 0)), ("matmul_settle", (1, 4)), ("matmul_tiles", (1, 2))):
        for value in values:
            with open(path, "wb") as f:
                f.write(forced(text, name, value))
            got, err = product(device)
            h.check(f"a record that says {name} = {value}: the same bytes, and no word", got == right and "PC4335" not in err, err)
    for what, bad, code in (("a value of no row", forced(text, "matmul_thin_columns", 3), "PC4335"), ("a number too long", forced(text, "rows_lanes", "99999999999"), "PC4335"),
                            ("another version", sealed(text[:text.rindex(b"signature : ")].replace(b"tuning-1", b"tuning-0")), "PC4335"),
                            ("a byte", text.replace(b'profile = "mc"', b'profile = "sc"'), "PC5012")):
        with open(path, "wb") as f:
            f.write(bad)
        got, err = product(device)
        if h.check(f"{what}: refused in words, and the ops choose", got == right and code in err and "device tune" in err, err):
            h.planted(f"a record of tunables with {what}", "runtime/device/tuning_record.h", code, err)
    with open(path, "wb") as f:
        f.write(text)


def pipelines(device):
    """A pipeline goes by a profile, too, planned and run."""
    pipe = h.write("p.pipe.cfg", b"""pipeline : { name = "p"; class = "strict"; inputs : { a : { type = "f32[4,256]"; }; b : { type = "f32[64,256]"; }; };
  jobs = ( { id = "m"; op = "tensor.matmul@1"; in : { a = "$a"; b = "$b"; }; attr : { transpose_b = true; }; } );
  outputs : { y = "m.y"; }; };
""")
    ask = [pipe, "--in", "a=" + h.path("a"), "--in", "b=" + h.path("b"), "--backend", device]
    status, _, err = h.run("op", "run", "tensor.matmul", "--in", "a=" + h.path("a") + ":f32[4,256]", "--in", "b=" + h.path("b") + ":f32[64,256]", "--attr", "transpose_b=true",
                           "--out", "y=" + h.path("z"), "--backend", device, "--profile", "sc")
    h.check("op run: profile sc", status == 0 and h.read("z") == h.read("y"), err)
    for profile in ("sc", "mc"):
        status, _, err = h.run("run", *ask, "--profile", profile, "--out", "y=" + h.path("z"))
        h.check(f"run: profile {profile}", status == 0 and h.read("z") == h.read("y"), err)
        status, out, err = h.run("plan", *ask, "--profile", profile, "--json")
        h.check(f"plan: profile {profile} costs no gas", status == 0 and b"gas" in out, err)


def planted():
    before = records()
    status, _, err = tune("mock:wrap=cpu+flip-bit@tune/2")
    if h.check("a value that changes a bit", status == 6 and "PC4334" in err and "with matmul_" in err and records() == before, f"{status}: {err[:800]}"):
        h.planted("a way to cut work that changes a bit", "pipectl device tune", "PC4334", err)


for name in sys.argv[1:]:
    found = on(name)
    if name == "cpu" and found is not None:
        record(name, found)
        pipelines(name)
        planted()
        status, out, err = h.run("device", "tune", "null:0")
        h.check("a device that computes nothing", status != 0, err)
        for rounds in ("0", "x", "1000"):
            status, _, err = h.run("device", "tune", name, "--rounds", rounds)
            h.check(f"rounds: {rounds}", status == 2 and "PC0010" in err, err)
    elif found is not None:
        status, out, err = h.run("device", "probe", "--device", name, "--floats", "--json")
        if h.check(f"{name}: probe shows them", status == 0, err):
            shown = json.loads(out)["profiles"][0]
            h.check(f"{name}: as they were kept", shown["profile"] == "mc" and shown["tunables"] == {t["name"]: t["value"] for t in found["tunables"]}, str(shown["tunables"]))
status, out, err = h.run("device", "list", "--json")
h.check("the list names profiles", status == 0 and all(d["profile"] in ("sc", "mc") for d in json.loads(out)["devices"]), err)
h.finish()
