"""Dispatches of a model's token that become one (core/runtime/exec/resident_join.c): the same logits, to the bit, whichever are joined, of several families, types of weights, chunks and batches;
how many dispatches a layer of a real shape takes. usage: joins.py small|devices|shape DEVICE..."""
import json
import sys

import numpy as np

from harness import Harness, share

SMALL = ["--layers", "2", "--set", "n_embd=128", "--set", "n_heads=4", "--set", "n_kv_heads=2", "--set", "head_dim=32", "--set", "n_ff=104", "--vocab", "300", "--context", "256"]
PROMPT = "The quick brown fox"[:len(share(range(19)))]
# Sequences and tokens of a chunk: the reference takes long over what a GPU would do in tiles.
BATCH, CHUNK = share((("2", "3"), ("3", "7")), 2)[-1]
JOINS = ("none", "beside", "behind", "ahead")
# As many dispatches of a token's layer as there may be, of those of qwen2.5-1.5b.
MOST_A_LAYER = 8


def synth(h, name, shape, *more):
    path = h.path(name)
    status, _, err = h.run("model", "synth", "--shape", shape, "--seed", "1", "--out", path, *more)
    h.check(f"synth {name}", status == 0, err)
    return path


def generate(h, what, model, *args, tokens=3, prompt=PROMPT):
    out = h.path("logits.npy")
    status, text, err = h.run("generate", "--model", model, "--prompt", prompt, "--tokens", str(tokens), "--context", "128", "--json", "--logits", out, "--ignore-end", *args)
    if not h.check(what, status == 0, err[:1500]):
        return None, None
    return json.loads(text), np.load(out).view(np.uint32)


def every_way(h, model, name, device, want, *more):
    """Logits and dispatches of each way; `want` are those of the reference."""
    counts = {}
    for joins in JOINS:
        document, got = generate(h, f"{name} {device} {joins}", model, "--backend", device, "--joins", joins, *more)
        h.check(f"{name} {device} {joins}: the reference's logits", got is not None and want is not None and bool((got == want).all()))
        counts[joins] = int(document["dispatches_of_a_token"]) if document else 0
    h.check(f"{name} {device}: each joins more", counts["none"] > counts["beside"] > counts["behind"] >= counts["ahead"] > 0, str(counts))
    return counts


def small(h, devices):
    families(h, devices, [("qwen2", synth(h, "qwen2.gguf", "qwen2.5-0.5b", *SMALL))])


def several(h, devices):
    families(h, devices, [("qwen2", synth(h, "qwen2.gguf", "qwen2.5-0.5b", *SMALL)), ("q8_0", synth(h, "q8.gguf", "qwen3-0.6b", "--type", "q8_0", "--set", "n_ff=128", *SMALL[:-6], *SMALL[-4:])),
              ("gemma2", synth(h, "gemma.gguf", "gemma2-2b", "--type", "bf16", *SMALL))])


def families(h, devices, models):
    for name, model in models:
        _, want = generate(h, f"{name} on the reference", model, "--backend", "cpu")
        for device in devices:
            counts = every_way(h, model, name, device, want, "--chunk", "1")
            document, got = generate(h, f"{name} {device} as it is", model, "--backend", device, "--chunk", "1")
            h.check(f"{name} {device}: a GPU has those that repeat nothing", document is None or "gpu" not in device or int(document["dispatches_of_a_token"]) == counts["behind"], f"{document} {counts}"[:300])
            document, got = generate(h, f"{name} {device} --no-fuse", model, "--backend", device, "--no-fuse", "--chunk", "1")
            h.check(f"{name} {device} --no-fuse: the reference's logits", got is not None and bool((got == want).all()))
            h.check(f"{name} {device} --no-fuse joins nothing", document is None or int(document["dispatches_of_a_token"]) >= counts["none"], f"{document}"[:300])
    _, want = generate(h, "several sequences on the reference", models[0][1], "--backend", "cpu", "--batch", BATCH, "--chunk", CHUNK)
    _, got = generate(h, "several sequences", models[0][1], "--backend", devices[0], "--batch", BATCH, "--chunk", CHUNK, "--joins", "ahead")
    h.check(f"{BATCH} sequences in chunks of {CHUNK}: the reference's logits", got is not None and want is not None and bool((got == want).all()))
    status, _, err = h.run("generate", "--joins", "some", "--model", models[0][1], "--prompt", "x")
    h.check("no such way", status == 2 and "--joins wants none, beside, behind or ahead" in err, err)


def shape(h, devices):
    """A layer of a real shape, by the difference of two models."""
    for device in devices:
        counts, logits = {}, {}
        for layers in (1, 2):
            model = synth(h, f"real{layers}.gguf", "qwen2.5-1.5b", "--type", "bf16", "--layers", str(layers), "--vocab", "300", "--context", "128")
            for joins in ("none", "ahead") if layers == 2 else ("ahead",):
                document, logits[layers, joins] = generate(h, f"{layers} layers {device} {joins}", model, "--backend", device, "--joins", joins, "--chunk", "1", tokens=1, prompt="O")
                counts[layers, joins] = int(document["dispatches_of_a_token"]) if document else 0
        a_layer = counts[2, "ahead"] - counts[1, "ahead"]
        h.check(f"dispatches of a layer on {device}", 0 < a_layer <= MOST_A_LAYER, str(counts))
        h.check(f"the same logits on {device}", bool((logits[2, "none"] == logits[2, "ahead"]).all()))
        print(f"{device}: {a_layer} dispatches a layer, {counts}")


h = Harness()
{"small": small, "devices": several, "shape": shape}[sys.argv[1]](h, sys.argv[2:])
h.finish()
