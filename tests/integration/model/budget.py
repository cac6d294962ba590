"""Weights under a budget of device memory: from the least budget to all of them, `generate` gives the same tokens and the same logits to the bit, within the budget and with the
submissions and bytes a token that it says; below the least it is refused with that number; without a budget of its own it goes by the policy's memory and says so. A plain `run` lets inputs
leave while no job reads them. usage: budget.py DEVICE..."""
import json
import re
import sys

import numpy as np

from harness import Harness

SMALL = ["--layers", "3", "--set", "n_embd=64", "--set", "n_heads=4", "--set", "n_kv_heads=2", "--set", "head_dim=16", "--set", "n_ff=96", "--vocab", "300", "--context", "256"]
ASK = ["--prompt", "A quick brown fox", "--tokens", "3", "--context", "64", "--ignore-end", "--json"]


def generate(h, model, *args):
    out = h.path("logits.npy")
    status, text, err = h.run("generate", "--model", model, *ASK, "--logits", out, *args)
    return status, json.loads(text) if status == 0 else None, np.load(out).view(np.uint32) if status == 0 else None, err


def budgeted(h, model, budget, *args):
    return generate(h, model, "--memory-budget", str(budget), *args)


def least_of(h, what, err):
    found = re.search(r"PC5204.*the least budget, .* is (\d+) bytes", err)
    h.check(f"{what}: the least budget is told", found is not None, err)
    return int(found.group(1)) if found else 0


def same(h, what, document, logits, whole):
    return h.check(what, logits is not None and whole[1].shape == logits.shape and bool((whole[1] == logits).all()) and
                   [s["tokens"] for s in document["sequences"]] == [s["tokens"] for s in whole[0]["sequences"]], "other tokens or logits")


def on(h, model, device, flags):
    ask = ["--backend", device, *flags]
    status, all_, logits, err = generate(h, model, *ask)
    if not h.check(f"{device}: everything stays", status == 0, err[:1500]):
        return
    whole = (all_, logits)
    total, weights = int(all_["device_bytes"]), int(all_["weight_bytes"])
    h.check(f"{device}: one submission a token, nothing is moved", all_["submissions_of_a_token"] == "1" and all_["uploaded_bytes_of_a_token"] == "0" == all_["uploaded_bytes"], str(all_))
    h.check(f"{device}: the peak is what there is", all_["peak_device_bytes"] == all_["device_bytes"], str(all_))
    h.check(f"{device}: weights are a part", 0 < weights < total, f"{weights} of {total}")
    # Sizes of work come one after the other, and each may need more.
    budget, tries = 1, 0
    while tries < 5:
        tries += 1
        status, document, logits, err = budgeted(h, model, budget, *ask)
        if status == 0:
            break
        h.check(f"{device}: {budget} bytes are too few", status == 5, f"{status} {err}")
        budget = least_of(h, device, err)
    least = budget
    h.check(f"{device}: the least budget holds", status == 0 and 1 < tries < 5, err)
    if status != 0:
        return
    same(h, f"{device}: the least budget changes nothing", document, logits, whole)
    h.check(f"{device}: no weight but a few stays", int(document["weight_bytes"]) < weights / 4 and int(document["device_bytes"]) <= least, str(document)[:600])
    h.check(f"{device}: what is moved is told", int(document["uploaded_bytes_of_a_token"]) >= weights - int(document["weight_bytes"]) and
            int(document["submissions_of_a_token"]) > 3, str(document)[:600])
    h.check(f"{device}: nobody warns of what was asked for", "PC5254" not in err, err)
    status, _, _, err = budgeted(h, model, least - 1, *ask)
    h.check(f"{device}: a byte less is refused", status == 5 and least_of(h, device, err) == least, f"{status} {err}")
    status, document, logits, err = budgeted(h, model, (least + total) // 2, *ask, "--chunk", "5")
    if h.check(f"{device}: chunks of 5 under a budget", status == 0, err[:1500]):
        same(h, f"{device}: chunks of 5 under a budget change nothing", document, logits, whole)
    moved = None
    for part in (0.25, 0.5, 0.75, 1):
        budget = least + int((total - least) * part)
        status, document, logits, err = budgeted(h, model, budget, *ask)
        if not h.check(f"{device}: {budget} bytes", status == 0, err[:1500]):
            continue
        same(h, f"{device}: {budget} of {total} bytes change nothing", document, logits, whole)
        now = int(document["uploaded_bytes_of_a_token"])
        h.check(f"{device}: more memory, fewer bytes moved", (moved is None or now <= moved) and int(document["device_bytes"]) <= int(document["peak_device_bytes"]) <= budget and (part != 1 or now == 0), f"{moved} {now}")
        moved = now
    return whole, least, total


def small(h, device):
    flags = []
    model = h.path("model.gguf")
    status, _, err = h.run("model", "synth", "--shape", "qwen2.5-0.5b", "--out", model, *SMALL)
    h.check("synth", status == 0, err)
    found = on(h, model, device, flags)
    if found is None:
        return
    whole, least, total = found
    for text in ("x", "0", "-1"):
        status, _, err = h.run("generate", "--model", model, *ASK, "--memory-budget", text)
        h.check(f"no budget: {text}", status == 2 and "PC0010" in err, err)
    if device != "cpu":
        return
    # Of who asks for nothing the policy's memory is the budget, and a line says what follows.
    h.write("home/pipectl.cfg", f'limits : {{ memory = "{(least + total) // 2}"; }};\n'.encode())
    status, document, logits, err = generate(h, model, "--backend", device)
    if h.check("the policy's memory is a budget", status == 0, err):
        same(h, "and changes nothing", document, logits, whole)
        h.check("what follows is said once", err.count("PC5254") == 1 and "in each step" in err and int(document["uploaded_bytes_of_a_token"]) > 0, err)
    h.write("home/pipectl.cfg", b'limits : { memory = "1000"; };\n')
    status, _, _, err = generate(h, model, "--backend", device)
    h.check("too little by the policy", status != 0 and "PC4314" in err, f"{status} {err}")
    # Each step again on the reference, from what it had.
    h.write("home/pipectl.cfg", b"")
    policy = ["--policy", h.write("verify.cfg", b'policy : { verify = "all"; };\n')]
    status, document, logits, err = budgeted(h, model, (least + total) // 2, "--backend", "mock:wrap=cpu", *policy)
    if h.check("verified, while weights are streamed", status == 0, err[:1500]):
        same(h, "verified: the same", document, logits, whole)
    status, _, err = h.run("generate", "--model", model, "--prompt", "A quick brown fox", "--tokens", "7", "--context", "64", "--ignore-end", "--memory-budget", str((least + total) // 2),
                           "--backend", "mock:wrap=cpu+late-stale", *policy)
    if h.check("a stale step", status == 6 and "PC5208" in err, f"{status} {err[:800]}"):
        h.planted("a submission of a step whose weights are streamed gives what it gave before", "pipectl generate --memory-budget", "PC5208", err)
    # Profiles and budgets together, and the model that is served.
    for profile in ("sc", "mc"):
        status, document, logits, err = generate(h, model, "--backend", device, "--profile", profile)
        if h.check(f"profile {profile}", status == 0, err):
            same(h, f"profile {profile} changes nothing", document, logits, whole)
    status, _, err = h.run("generate", "--model", model, *ASK, "--profile", "xc")
    h.check("no profile", status == 2 and "PC0010" in err, err)
    status, _, err = h.run("model", "serve", "--model", model, "--socket", h.path("s"), "--context", "64", "--slots", "1", "--profile", "sc", "--backend", device, "--memory-budget", "1000")
    h.check("what is served has a budget, too", status == 5 and "the least budget" in err, f"{status} {err}")


PIPE = """pipeline : {
  name = "two";
  class = "integer";
  inputs : { a : { type = "u32[4096]"; }; b : { type = "u32[4096]"; }; c : { type = "u32[4096]"; }; };
  jobs = (
    { id = "first"; op = "tensor.sort@1"; in : { x = "$a"; }; },
    { id = "second"; op = "tensor.sort@1"; in : { x = "$b"; }; },
    { id = "third"; op = "tensor.sort@1"; in : { x = "$c"; }; },
    { id = "again"; op = "int.add@1"; in : { a = "$a"; b = "$b"; }; },
    { id = "end"; op = "int.xor@1"; in : { a = "again.y"; b = "$c"; }; }
  );
  outputs : { y = "end.y"; };
};
"""


def plain(h, device):
    pipe = h.write("two.pipe.cfg", PIPE.encode())
    data = {n: np.random.default_rng(i).integers(0, 1 << 32, 4096, dtype=np.uint32) for i, n in enumerate("abc")}
    ins = [w for n, v in data.items() for w in ("--in", f"{n}=" + h.write(n, v.tobytes()))]
    ask = [pipe, *ins, "--backend", device, "--no-memo", "--no-fuse", "--json"]
    want = ((data["a"] + data["b"]) ^ data["c"]).tobytes()
    status, text, err = h.run("run", *ask, "--out", "y=" + h.path("y"))
    if not h.check(f"{device}: run", status == 0 and h.read("y") == want, err):
        return
    peak = int(json.loads(text)["peak_bytes"])
    low, high, fewer = 1, peak, None
    while high - low > 64:
        middle = (low + high) // 2
        status, text, err = h.run("run", *ask, "--memory-budget", str(middle), "--out", "y=" + h.path("y"))
        if status == 0:
            high, fewer = middle, int(json.loads(text)["peak_bytes"])
            h.check(f"{device}: {middle} bytes change nothing", h.read("y") == want and fewer <= middle, f"{fewer}")
        else:
            low = middle
            h.check(f"{device}: {middle} bytes are too few", status == 5 and "PC5204" in err, f"{status} {err}")
    h.check(f"{device}: inputs leave while no job reads them", fewer is not None and fewer <= peak - 4 * 4096, f"{fewer} of {peak}")
    status, _, err = h.run("plan", pipe, *ins, "--backend", device, "--memory-budget", "1000")
    h.check(f"{device}: a plan under a budget", status == 5 and "PC5204" in err, f"{status} {err}")


h = Harness()
for name in sys.argv[1:]:
    small(h, name)
    plain(h, name)
h.finish()
