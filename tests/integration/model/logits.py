"""Pipelines of `pipectl model pipeline`, run, against models.py's logits in float64: every family, both formats, layers as groups and one by one,
two sequences of unlike length; then in chunks over caches that are handed on, which must give the same bytes. usage: logits.py [few] [DEVICE]
[FAMILY...]; few: five of six families in groups from one format alone; by day one planted fault of each."""
import os
import shutil
import sys

import numpy as np

from harness import Harness, share
from models import FAMILIES, config, gguf_keys, gguf_tensors, hf_tensors, logits, weights, write_gguf, write_hf

BATCH, CHUNK, CONTEXT = 2, 8, 16
LENGTHS = (8, 5)
# A rounding of f32 is 2^-24; what passes through a layer meets some tens of them, which part one way and the other.
ALLOWED = 16 * 2.0 ** -24


# Faults of a graph, each of which has to be seen.
PLANTED = {
    "llama": [('pairing = "neighbours"', 'pairing = "halves"'), ("causal = true", "causal = false")],
    "llama-scaled": [('scaling = "llama3"', 'scaling = "linear"')],
    "llama-biased": [("o_biased.y", "o.y")],
    "mistral": [("window = 5", "window = 6")],
    "mixtral": [("norm = true", "norm = false"), ("k = 2", "k = 1")],
    "qwen2": [("q_biased.y", "q.y"), ("eps = \"9.99999997e-07\"", "eps = \"1e-3\"")],
    "qwen2-late": [("window = 4", "window = 5")],
    "qwen2-yarn": [('scaling = "yarn"', 'scaling = "linear"'), ('beta_fast = "4"', 'beta_fast = "32"'), ('beta_slow = "0.25"', 'beta_slow = "1"'),
                   ('magnitude = "1.13862944"', 'magnitude = "1"'), ("original_positions = 2048", "original_positions = 4096")],
    "llama-yarn": [('magnitude = "1.50993013"', 'magnitude = "1.20794415"')],
    "qwen2moe": [("shared_weight.y", "shared_down.y"), ("experts.y", "combine.z"), ("norm = false", "norm = true")],
    "deepseek": [('b = "experts.y"', 'b = "combine.z"'), ("norm = false", "norm = true"), ('b = "shared_down.y"', 'b = "combine.z"')],
    "phi3": [("window = 5", "window = 4"), ('start = "0,0,96"; stop = "2,8,192"', 'start = "0,0,0"; stop = "2,8,96"'), ('a = "gate.y"; b = "up.y"', 'a = "up.y"; b = "gate.y"')],
    "phi3-long": [('magnitude = "1.52752519"', 'magnitude = "1"'), ('factors = "1,1.26999998', 'factors = "1,1')],
    "phi3-near": [('factors = "1,1.02999997', 'factors = "1,1'), ('magnitude = "1.25"', 'magnitude = "1"')],
    "phi3-part": [('factors = "1,1.26999998', 'factors = "1,1')],
    "phi3-half": [("dims = 8", "dims = 16"), ("dims = 8", "dims = 6")],
    "phi3-yarn": [("dims = 12", "dims = 16")],
    "qwen3": [("k_normed.y", "k_heads.y")],
    "gemma": [('scale = "8"', 'scale = "1"'), ("geglu", "swiglu")],
    "gemma2": [(' softcap = "50";', ""), ('logits = "capped.y"', 'logits = "head.y"'), ("post_ffn_norm.y", "down.y")],
}


def distance(got, want):
    """The largest difference of real tokens' logits, as a part of the largest logit."""
    y = np.frombuffer(got, np.float32).reshape(BATCH, CHUNK, -1)
    return max(np.abs(y[b, :n] - want[b]).max() / np.abs(want[b]).max() for b, n in enumerate(LENGTHS))


def u32(h, name, a):
    return h.write(name, np.asarray(a, np.uint32).tobytes())


def pipeline(h, path, chunk, *more):
    status, out, err = h.run("model", "pipeline", path, "--batch", str(BATCH), "--chunk", str(chunk), "--context", str(CONTEXT), *more)
    h.check("pipeline", status == 0, err)
    return h.write("m.pipe.cfg", out)


def run(h, what, pipe, chunk, tokens, start, count, device, caches=None, kept=()):
    """The bytes of the logits; caches: name -> bytes that go in, kept: names that come out."""
    args = ["--in", "tokens=" + u32(h, "tokens", tokens), "--in", "start=" + u32(h, "start", start), "--in", "count=" + u32(h, "count", count)]
    args += [w for k, v in (caches or {}).items() for w in ("--in", f"{k}=" + h.write("in." + k.replace("/", "_"), v))]
    args += [w for k in ("logits", *kept) for w in ("--out", f"{k}=" + h.path("out." + k.replace("/", "_")))]
    status, _, err = h.run("run", pipe, *args, "--backend", device, "--no-memo")
    if not h.check(what, status == 0, err[:1500]):
        return None, {}
    return h.read("out.logits"), {k: h.read("out." + k) for k in kept}


def one(h, name, device, ways=True):
    """ways: from both formats, unrolled and in chunks, too."""
    c, w = FAMILIES[name], weights(name)
    rng = np.random.default_rng(3)
    tokens = rng.integers(0, c["vocab"], (BATCH, CHUNK))
    want = [logits(name, w, tokens[b, :n]) for b, n in enumerate(LENGTHS)]
    folder = write_hf(h.path("hf"), hf_tensors(name, w), config(name))
    gguf = write_gguf(h.path("m.gguf"), gguf_tensors(name, w), gguf_keys(name)) if c["gguf"] else folder
    found = {}
    for what, path, more in (("groups", gguf, ["--all-logits"]), ("unrolled", gguf, ["--all-logits", "--unrolled"]), ("safetensors", folder, ["--all-logits"]))[:3 if ways else 1]:
        zeros = {f"{k}_{i}": bytes(4 * BATCH * CONTEXT * c["kv"] * c["dim"]) for k in ("keys", "values") for i in range(c["layers"])} if "--unrolled" in more else {}
        got, _ = run(h, f"{name} {what}", pipeline(h, path, CHUNK, *more), CHUNK, tokens, [0] * BATCH, LENGTHS, device, zeros)
        if got is None:
            continue
        found[what] = got
        worst = distance(got, want)
        h.check(f"{name} {what}: as in float64", worst < ALLOWED, f"{worst / 2.0 ** -24:.1f} of 2^-24")
        print(f"{name} {what}: within {worst / 2.0 ** -24:.1f} of 2^-24", flush=True)
    h.check(f"{name}: the same bytes from both formats", len(set(found.values())) == 1)
    for old, new in share(PLANTED.get(name, ()), 9):
        text = h.read(os.path.basename(pipeline(h, gguf, CHUNK, "--all-logits"))).decode()
        h.check(f"{name}: {old} is there to be changed", old in text)
        got, _ = run(h, f"{name} with {new}", h.write("m.pipe.cfg", text.replace(old, new).encode()), CHUNK, tokens, [0] * BATCH, LENGTHS, device)
        h.check(f"{name}: {new} instead of {old} is seen", got is not None and distance(got, want) > ALLOWED)
    # Three and then the rest, caches handed on; the last logits alone.
    names = [f"{k}_{i}" for k in ("keys", "values") for i in range(c["layers"])]
    caches = {k: bytes(4 * BATCH * CONTEXT * c["kv"] * c["dim"]) for k in names}
    pipe = pipeline(h, gguf, 5, "--unrolled") if ways else None
    at = [0] * BATCH
    for step in (3, 5) if ways else ():
        count = [min(step, n - a) for n, a in zip(LENGTHS, at)]
        chunk = np.zeros((BATCH, 5), int)
        for b in range(BATCH):
            chunk[b, :count[b]] = tokens[b, at[b]:at[b] + count[b]]
        got, caches = run(h, f"{name} from {at}", pipe, 5, chunk, at, count, device, caches, names)
        if got is None:
            return
        at = [a + n for a, n in zip(at, count)]
        y = np.frombuffer(got, np.uint32).reshape(BATCH, -1)
        whole = np.frombuffer(found["unrolled"], np.uint32).reshape(BATCH, CHUNK, -1)
        h.check(f"{name} up to {at}: the same bytes in chunks", all(np.array_equal(y[b], whole[b, at[b] - 1]) for b in range(BATCH)))
    shutil.rmtree(folder)
    if c["gguf"]:
        os.unlink(gguf)


def blocks(h, device):
    """Weights as q8_0: the oracle has the numbers that the blocks stand for."""
    name = "qwen3"
    c, w = FAMILIES[name], weights(name)
    write_gguf(h.path("f.gguf"), gguf_tensors(name, w), gguf_keys(name))
    status, _, err = h.run("model", "convert", h.path("f.gguf"), h.path("m.gguf"), "--type", "q8_0")
    h.check("q8_0: converted", status == 0, err)
    def numbers(tensor, shape):
        raw = np.frombuffer(h.run("tensor", "convert", h.path("m.gguf"), "-", "--tensor", tensor)[1], np.uint8).reshape(-1, 34)
        d = raw[:, :2].copy().view(np.float16).astype(np.float64)
        return (d * raw[:, 2:].copy().view(np.int8)).reshape(shape)
    w["tok_embd"], w["output"] = numbers("token_embd.weight", w["tok_embd"].shape), numbers("output.weight", w["output"].shape)
    for i, layer in enumerate(w["layers"]):
        for k, tensor in (("q", "attn_q"), ("k", "attn_k"), ("v", "attn_v"), ("o", "attn_output"), ("gate", "ffn_gate"), ("up", "ffn_up"), ("down", "ffn_down")):
            layer[k] = numbers(f"blk.{i}.{tensor}.weight", layer[k].shape)
    tokens = np.random.default_rng(5).integers(0, c["vocab"], (BATCH, CHUNK))
    got, _ = run(h, "q8_0", pipeline(h, h.path("m.gguf"), CHUNK, "--all-logits"), CHUNK, tokens, [0] * BATCH, LENGTHS, device)
    worst = distance(got, [logits(name, w, tokens[b, :n]) for b, n in enumerate(LENGTHS)]) if got else 1
    h.check("q8_0: as in float64", worst < ALLOWED, f"{worst / 2.0 ** -24:.1f} of 2^-24")
    print(f"q8_0: within {worst / 2.0 ** -24:.1f} of 2^-24", flush=True)


if __name__ == "__main__":
    h = Harness()
    few = sys.argv[1:2] == ["few"]
    device, *families = sys.argv[2 if few else 1:] or ["cpu"]
    for i, name in enumerate(families or FAMILIES):
        one(h, name, device, not few or i % 6 == 0)
    if not families:
        blocks(h, device)
    h.finish()
