"""Adapters (LoRA) through `pipectl model show|check|synth|pipeline` and `generate`: read as PEFT and llama.cpp write them, logits against float64, the same bits for every chunk,
batch, device and format, statements that name them, and what is refused. usage: lora.py read|logits [few] [FAMILY...]|generate|devices DEVICE..."""
import hashlib
import json
import os
import re
import shutil
import struct
import sys

import numpy as np

import adapters
import models
from adapters import gguf_keys, matrices, merged, peft_tensors, write_gguf, write_peft
from harness import Harness
from models import FAMILIES, logits, weights

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from present import present  # noqa: E402

INVALID, UNSUPPORTED, USAGE, DIFFERS = 3, 5, 2, 6
BATCH, CHUNK, CONTEXT, LENGTHS = 2, 6, 16, (6, 4)
# As logits.py has it: a rounding of f32 is 2^-24, and what passes through a layer meets some tens of them.
ALLOWED = 16 * 2.0 ** -24
ATTENTION = ("q", "k", "v", "o")
ALL = (*ATTENTION, "gate", "up", "down")


def base(h, name, gguf):
    w = weights(name)
    if gguf:
        return w, models.write_gguf(h.path(name + ".gguf"), models.gguf_tensors(name, w), {**models.gguf_keys(name), **models.tokenizer_keys(300)})
    return w, models.write_hf(h.path(name), models.hf_tensors(name, w), models.config(name))


# ---- reading ----

def cid_v1(data):
    """Of raw bytes, as multibase base32: 0x01 0x55 0x12 0x20 and SHA-256."""
    bits = "".join(f"{b:08b}" for b in b"\x01\x55\x12\x20" + hashlib.sha256(data).digest())
    bits += "0" * (-len(bits) % 5)
    return "b" + "".join("abcdefghijklmnopqrstuvwxyz234567"[int(bits[i:i + 5], 2)] for i in range(0, len(bits), 5))


def shown(h, what, path, adapter, files, alpha, kind, root=False, dtype="f32"):
    """What show and check say, against the matrices and the definition of an adapter's CID."""
    status, out, err = h.run("--json", "model", "show", path)
    if not h.check(f"{what}: shown", status == 0, err):
        return None
    document = json.loads(out)
    got, rank = document["adapter"], len(next(iter(adapter.values()))[0])
    scale = float(np.float32(alpha) / (np.sqrt(np.float32(rank)) if root else np.float32(rank)))
    h.check(f"{what}: described", (got["kind"], got["format"], got["alpha"], got["rank"], got["projections"]) == ("lora", kind, alpha, str(rank), str(len(adapter))) and
            np.float32(got["scale"]) == np.float32(scale) and got["parameters"] == str(sum(a.size + b.size for a, b in adapter.values())), str(got))
    h.check(f"{what}: every tensor, once", {t["name"]: t["type"] for t in document["tensors"]} == {k: f"{dtype}[{a.shape[0]},{a.shape[1]}]" for k, a in files.items()}, str(document["tensors"])[:300])
    data = {k: models.raw(a, dtype.upper()) for k, a in files.items()}
    lines = f"lora {alpha:.9g} {'root' if root else 'rank'}\n" + "".join(f"{k} {dtype} {cid_v1(v)}\n" for k, v in data.items())
    h.check(f"{what}: its CID", got["cid"] == cid_v1(lines.encode()), got["cid"])
    status, out, err = h.run("model", "check", path, "--full")
    h.check(f"{what}: checked", status == 0 and all(cid_v1(v).encode() in out for v in data.values()) and out.endswith(b": ok\n"), err)
    return got["cid"]


def peft_of(name, adapter, rank, alpha, **change):
    return peft_tensors(name, adapter), adapters.config(name, adapter, rank, alpha, **change)


def reading(h):
    for name, roles in (("qwen2", ALL), ("llama", ALL), ("phi3", ("qkv", "o", "gate_up", "down")), ("gemma2", ("q", "v"))):
        adapter = matrices(name, roles, 4, 7)
        _, model = base(h, name, True)
        tensors, settings = peft_of(name, adapter, 4, 8)
        folder = write_peft(h.path("peft"), tensors, settings)
        shown(h, f"{name} peft", folder, adapter, tensors, 8.0, "peft")
        # The parts of a folder mean the folder; from within it, too.
        for part in ("adapter_config.json", "adapter_model.safetensors"):
            status, _, err = h.run("model", "check", os.path.join(folder, part), "--base", model)
            h.check(f"{name}: {part}", status == 0, err)
        files = adapters.gguf_tensors(name, adapter)
        one = write_gguf(h.path("lora.gguf"), files, gguf_keys(name, 8.0))
        shown(h, f"{name} gguf", one, adapter, files, 8.0, "gguf")
        status, out, err = h.run("model", "check", folder, one, model, "--base", model)
        h.check(f"{name}: both fit, the model beside them", status == 0 and out.count(b": ok\n") == 3, err)
        shutil.rmtree(folder)
    adapter = matrices("qwen2", ("q", "down"), 5, 7)
    for dtype in ("F16", "BF16"):
        tensors, settings = peft_of("qwen2", adapter, 5, 10.5, use_rslora=True, target_modules=r".*\.(q|down)_proj", init_lora_weights="gaussian", later_key=None)
        folder = write_peft(h.path("peft"), tensors, settings, dtype)
        shown(h, f"{dtype}, a pattern, by the root", folder, adapter, tensors, 10.5, "peft", True, dtype.lower())
        status, _, err = h.run("model", "check", folder, "--base", h.path("qwen2.gguf"))
        h.check(f"{dtype}: fits", status == 0, err)
    for what, layers, change in (("a layer by its number", [1], {"layers_to_transform": 1}), ("layers by their numbers", [0, 1], {"layers_to_transform": [0, 1], "layers_pattern": "layers"}),
                                 ("all linear", [0, 1], {"target_modules": "all-linear"})):
        adapter = matrices("qwen2", ALL if "linear" in what else ("q", "v"), 2, 7, layers)
        tensors, settings = peft_of("qwen2", adapter, 2, 4, **change)
        status, _, err = h.run("model", "check", write_peft(h.path("peft"), tensors, settings), "--base", h.path("qwen2.gguf"))
        h.check(f"{what}: fits", status == 0, err)
    peft_faults(h)
    gguf_faults(h)
    synthetic(h)


def refused(h, what, path, code, status, *words, base=None):
    got, out, err = h.run("model", "check", path, *(("--base", base) if base else ()))
    h.check(what, got == status and code in err and not out and all(x in err for x in words), f"{got}: {out} {err[:600]}")


def peft_faults(h):
    good, model = matrices("qwen2", ("q", "v"), 4, 7), h.path("qwen2.gguf")

    def one(what, code, status, *words, t=None, cut=None, text=None, base=None, **change):
        tensors, settings = peft_of("qwen2", good, 4, 8, **change)
        tensors = t(tensors) if t else tensors
        shutil.rmtree(h.path("bad"), ignore_errors=True)
        folder = write_peft(h.path("bad"), tensors, settings)
        if cut is not None:
            h.write("bad/adapter_model.safetensors", h.read("bad/adapter_model.safetensors")[:cut])
        if text is not None:
            h.write("bad/adapter_config.json", text)
        refused(h, "peft: " + what, folder, code, status, *words, base=base)

    a, b = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", "base_model.model.model.layers.1.self_attn.v_proj.lora_B.weight"
    for key, value in (("use_dora", True), ("modules_to_save", ["lm_head"]), ("fan_in_fan_out", True), ("rank_pattern", {"q_proj": 8}), ("alpha_pattern", {"q_proj": 8}), ("bias", "all"),
                       ("lora_bias", True), ("exclude_modules", ["v_proj"]), ("layer_replication", [[0, 1]]), ("target_parameters", ["x"]), ("trainable_token_indices", [1]),
                       ("use_qalora", True), ("loftq_config", {"bits": 4}), ("megatron_config", {"x": 1}), ("corda_config", {"x": 1}), ("init_lora_weights", "pissa"), ("init_lora_weights", "olora"),
                       ("peft_type", "IA3"), ("task_type", "SEQ_CLS"), ("layers_pattern", ["h"]), ("alora_invocation_tokens", [1, 2]), ("something_new", 3)):
        one(f"{key} {value}", "PC6296", UNSUPPORTED, f'"{key}"', **{key: value})
    for key in ("r", "lora_alpha", "target_modules", "peft_type"):
        one("without " + key, "PC6295", INVALID, f'"{key}"', **{key: "absent"})
    for key, value, word in (("r", 0, "none of 1"), ("r", 4.5, "none of 1"), ("r", "4", "no number"), ("lora_alpha", 0, "above 0"), ("lora_alpha", -1, "above 0"), ("lora_alpha", 1e7, "1e6"), ("lora_alpha", "8", "no number"),
                             ("use_rslora", 1, "neither"), ("target_modules", [], "neither"), ("target_modules", ["q_proj", 3], "entry 1"), ("target_modules", "(", "no pattern"), ("target_modules", 3, "neither"),
                             ("layers_to_transform", [0, -1], "entry 1"), ("layers_to_transform", "all", "entry 0"), ("target_modules", r"(.*)*x(\1)*y", "too long")):
        one(f"{key} {value}", "PC6295", INVALID, f'"{key}"', word, **{key: value})
    for text, word in ((b"", "byte 0"), (b"[]", "byte"), (b'{"r": 4, }', "byte"), (b'{"r": 4, "r": 8}', "twice")):
        one(f"a config that is {text}", "PC6294", INVALID, word, text=text)
    one("a half that is missing", "PC6297", INVALID, "no tensor", a, t=lambda t: {k: v for k, v in t.items() if k != a})
    one("the other half", "PC6297", INVALID, "no tensor", b, t=lambda t: {k: v for k, v in t.items() if k != b})
    one("a magnitude vector", "PC6297", INVALID, "lora_magnitude_vector", t=lambda t: {**t, a.replace("lora_A.weight", "lora_magnitude_vector"): np.ones(64, np.float32)})
    one("an embedding", "PC6297", INVALID, "lora_embedding_A", t=lambda t: {**t, "base_model.model.model.embed_tokens.lora_embedding_A": np.ones((4, 300), np.float32)})
    one("no tensors", "PC6297", INVALID, "no tensors", t=lambda t: {})
    one("other ranks", "PC6297", INVALID, "different ranks", t=lambda t: {**t, a: t[a][:3]})
    one("another rank than it says", "PC6297", INVALID, "4 ranks", "says 8", r=8)
    one("a row for a matrix", "PC6297", INVALID, "no matrix", t=lambda t: {**t, a: t[a][0]})
    one("no elements", "PC6297", INVALID, "no matrix", t=lambda t: {**t, a: t[a][:, :0]})
    one("a target without tensors", "PC6297", INVALID, '"k_proj"', target_modules=["q_proj", "v_proj", "k_proj"])
    one("tensors without a target", "PC6297", INVALID, "asks for it", target_modules=["q_proj"])
    one("tensors of another layer", "PC6297", INVALID, "asks for it", "layers.0", layers_to_transform=[1])
    one("a layer that is missing", "PC6297", INVALID, "layers.1.self_attn.v_proj", t=lambda t: {k: v for k, v in t.items() if "layers.1.self_attn.v_proj" not in k}, base=model)
    one("another shape", "PC6298", INVALID, "[64,60]", "[64,64]", t=lambda t: {**t, a: t[a][:, :60]}, base=model)
    one("a layer that the model has not", "PC6298", INVALID, "layers.7.", t=lambda t: {**t, **{k.replace("layers.0", "layers.7"): v for k, v in t.items() if "layers.0" in k}}, base=model)
    one("an expert", "PC6298", INVALID, "experts.0", t=lambda t: {**t, **{k.replace("self_attn.q_proj", "mlp.experts.0.q_proj"): v for k, v in t.items() if "q_proj" in k}}, base=model)
    one("a head that is an embedding", "PC6298", INVALID, "lm_head", t=lambda t: {**t, "base_model.model.lm_head.lora_A.weight": np.ones((4, 64), np.float32), "base_model.model.lm_head.lora_B.weight": np.ones((300, 4), np.float32)},
        target_modules=["q_proj", "v_proj", "lm_head"], base=model)
    one("a key that is not there", "PC6296", UNSUPPORTED, '"peft_typo"', peft_typo="LORA")
    size = len(h.read("bad/adapter_model.safetensors"))
    for cut in (0, 7, 8, 60, size - 1):
        one(f"cut to {cut} bytes", "PC4211", INVALID, cut=cut)
    tensors, settings = peft_of("qwen2", good, 4, 8)
    folder = write_peft(h.path("bad"), tensors, settings)
    os.unlink(os.path.join(folder, "adapter_config.json"))
    refused(h, "peft: no config", os.path.join(folder, "adapter_model.safetensors"), "PC6294", INVALID, "adapter_config.json")
    write_peft(h.path("bad"), tensors, settings)
    os.unlink(os.path.join(folder, "adapter_model.safetensors"))
    refused(h, "peft: no tensors' file", folder, "PC6294", INVALID, "adapter_model.safetensors")
    status, _, err = h.run("model", "pipeline", model, "--lora", h.path("none"))
    h.check("no such adapter", status == INVALID and "PC6294" in err and "no such file" in err, f"{status}: {err}")
    status, _, err = h.run("model", "pipeline", model, "--lora", model)
    h.check("a model is no adapter", status == INVALID and "PC6294" in err and "general.type" in err, f"{status}: {err}")
    # All that is wrong, each with its code.
    write_peft(h.path("bad"), {k: v for k, v in tensors.items() if k != a}, {**settings, "r": 8})
    status, _, err = h.run("model", "check", folder)
    h.check("peft: all that is wrong", status == INVALID and err.count("PC6297") == 4, f"{status}: {err}")


def gguf_faults(h):
    adapter, model = matrices("qwen2", ("q", "v"), 4, 7), h.path("qwen2.gguf")
    good, keys = adapters.gguf_tensors("qwen2", adapter), gguf_keys("qwen2", 8.0)

    def one(what, code, status, *words, t=None, base=None, **change):
        given = {**keys, **{k.replace("__", "."): v for k, v in change.items()}}
        write_gguf(h.path("bad.gguf"), t(good) if t else good, {k: v for k, v in given.items() if v is not None})
        refused(h, "gguf: " + what, h.path("bad.gguf"), code, status, *words, base=base)

    word = lambda s: (models.STRING, models.text(s))
    one("a control vector", "PC6296", UNSUPPORTED, "adapter.type", adapter__type=word("control_vector"))
    one("no kind", "PC6295", INVALID, "adapter.type", adapter__type=None)
    one("no architecture", "PC6295", INVALID, "general.architecture", general__architecture=None)
    one("another architecture", "PC6298", INVALID, '"llama"', '"qwen2"', general__architecture=word("llama"), base=model)
    one("words that it begins with", "PC6296", UNSUPPORTED, "adapter.alora.invocation_tokens", adapter__alora__invocation_tokens=(models.ARRAY, struct.pack("<IQI", models.U32, 1, 5)))
    for value, said in ((None, "missing"), (word("8"), "no number"), ((models.F32, struct.pack("<f", 0)), "above 0"), ((models.F32, struct.pack("<f", float("nan"))), "above 0"), ((models.F32, struct.pack("<f", float("inf"))), "above 0")):
        one(f"alpha {value}", "PC6295", INVALID, "adapter.lora.alpha", said, **{"adapter__lora__alpha": value})
    name = "blk.0.attn_q.weight.lora_b"
    one("a half that is missing", "PC6297", INVALID, "no tensor", name, t=lambda t: {k: v for k, v in t.items() if k != name})
    one("a surplus tensor", "PC6297", INVALID, "output_norm", t=lambda t: {**t, "output_norm.weight": np.ones(64, np.float32)})
    one("a projection that is none", "PC6298", INVALID, "attn_norm", t=lambda t: {**t, "blk.0.attn_norm.weight.lora_a": np.ones((4, 64), np.float32), "blk.0.attn_norm.weight.lora_b": np.ones((64, 4), np.float32)}, base=model)
    one("a matrix of too many rows", "PC6298", INVALID, "[65,64]", "[64,64]", t=lambda t: {**t, name: np.concatenate([t[name], t[name][:1]])}, base=model)
    one("one less", "PC6298", INVALID, "[63,64]", "[64,64]", t=lambda t: {**t, name: t[name][:63]}, base=model)
    write_gguf(h.path("bad.gguf"), good, keys)
    data = h.read("bad.gguf")
    h.write("bad.gguf", data[:-1])
    refused(h, "gguf: cut", h.path("bad.gguf"), "PC4211", INVALID)
    at = data.index(name.encode()) + len(name) + 4 + 16  # behind the number of dimensions and both: the type's number
    h.write("bad.gguf", data[:at] + struct.pack("<I", 24) + data[at + 4:])
    refused(h, "gguf: integers", h.path("bad.gguf"), "PC6297", INVALID, "f32, f16 and bf16", name)


def synthetic(h):
    """Matrices from a seed, made again here; both formats hold the same, but for the order of rows."""
    small = ["--shape", "llama3.2-1b", "--layers", "2", "--set", "n_embd=64", "--set", "n_heads=4", "--set", "n_kv_heads=2", "--set", "head_dim=16", "--set", "n_ff=96", "--vocab", "300", "--context", "256"]
    for what, out, more in (("gguf", h.path("s.gguf"), ("--alpha", "3")), ("peft", h.path("s"), ()), ("some", h.path("some.gguf"), ("--target", "v", "--target", "down", "--type", "bf16"))):
        status, text, err = h.run("model", "synth", *small, "--lora", "3", "--seed", "9", *more, "--out", out)
        h.check(f"synth {what}", status == 0 and text.decode().strip() == out, err)
    documents = {k: json.loads(h.run("--json", "model", "show", h.path(p))[1]) for k, p in (("gguf", "s.gguf"), ("peft", "s"), ("some", "some.gguf"))}
    h.check("synth: alpha", [d["adapter"]["alpha"] for d in documents.values()] == [3, 6, 6], str([d["adapter"] for d in documents.values()]))
    h.check("synth: what for", [d["adapter"]["projections"] for d in documents.values()] == ["14", "14", "4"] and {t["type"].split("[")[0] for t in documents["some"]["tensors"]} == {"bf16"}, str(documents["some"])[:600])

    def tensor(path, name):
        return np.frombuffer(h.run("tensor", "convert", path, "-", "--tensor", name)[1], np.float32)

    for role, number, part, shape, names in (("q", 3, 0, (3, 64), ("blk.1.attn_q.weight.lora_a", "q_proj.lora_A")), ("q", 3, 1, (64, 3), ("blk.1.attn_q.weight.lora_b", "q_proj.lora_B"))):
        want = models.uniform(9, 1 << 31 | part << 8 | number, 1, shape) * np.float32(np.sqrt(3 / shape[1]))
        h.check(f"synth {names[1]}", np.array_equal(tensor(os.path.join(h.path("s"), "adapter_model.safetensors"), f"base_model.model.model.layers.1.self_attn.{names[1]}.weight").reshape(shape), want))
        h.check(f"synth {names[0]}", np.array_equal(tensor(h.path("s.gguf"), names[0]).reshape(shape), models.neighbours(want, 16) if part else want))
    for args, code, status, said in ((("--lora", "0"), "PC6290", INVALID, "rank"), (("--lora", "two"), "PC0010", USAGE, "--lora"), (("--lora", "2", "--alpha", "0"), "PC6290", INVALID, "alpha"), (("--lora", "2", "--alpha", "x"), "PC0010", USAGE, "--alpha"),
                                     (("--lora", "2", "--target", "norm"), "PC0010", USAGE, "norm"), (("--lora", "2", "--target", "qkv"), "PC6290", INVALID, "projections"), (("--lora", "2", "--type", "q8_0"), "PC0010", USAGE, "--type"),
                                     (("--lora", "2", "--shard", "1MiB"), "PC0010", USAGE, "--shard"), (("--alpha", "2"), "PC0010", USAGE, "--lora"), (("--target", "q"), "PC0010", USAGE, "--lora")):
        got, _, err = h.run("model", "synth", *small, *args, "--out", h.path("none.gguf"))
        h.check(f"synth {' '.join(args)}", got == status and code in err and said in err and not os.path.exists(h.path("none.gguf")), f"{got}: {err}")


# ---- what is computed ----

def distance(got, want):
    """The largest difference of real tokens' logits, as a part of the largest logit."""
    y = np.frombuffer(got, np.float32).reshape(BATCH, CHUNK, -1)
    return max(np.abs(y[b, :n] - want[b]).max() / np.abs(want[b]).max() for b, n in enumerate(LENGTHS))


def pipeline(h, what, model, *more):
    status, out, err = h.run("model", "pipeline", model, "--batch", str(BATCH), "--chunk", str(CHUNK), "--context", str(CONTEXT), "--all-logits", *more)
    h.check(f"{what}: a pipeline", status == 0, err[:800])
    return out


def run(h, what, text, tokens, caches=()):
    data = {"tokens": tokens, "start": [0] * BATCH, "count": LENGTHS}
    ins = [w for k, v in data.items() for w in ("--in", f"{k}=" + h.write(k, np.asarray(v, np.uint32).tobytes()))] + [w for k, n in caches for w in ("--in", f"{k}=zero:{n}")]
    status, _, err = h.run("run", h.write("m.pipe.cfg", text), *ins, "--out", "logits=" + h.path("out"), "--backend", "cpu", "--no-memo")
    return h.read("out") if h.check(f"{what}: run", status == 0, err[:1500]) else None


# Of a family: what adapters are for, by layers, and in which formats model and adapter are.
CASES = {
    "qwen2": [(ALL, None)], "llama": [(ALL, None)], "phi3": [(("qkv", "o", "gate_up", "down"), None)], "gemma2": [(("q", "v", "down"), None)],
    "qwen2moe": [((*ATTENTION, "shared_gate", "shared_up", "shared_down", "output"), None)], "deepseek": [(("q", "k", "o"), None), (("shared_up", "shared_gate"), [1, 2]), (("gate", "up"), [0])],
    "mixtral": [(("q", "v"), None)], "qwen3": [(("k", "up"), [1])],
}


def one(h, name, ways):
    """ways: both formats of the model with both of the adapter, and unrolled; else one of each."""
    rng, c = np.random.default_rng(3), FAMILIES[name]
    tokens, adapter = rng.integers(0, c["vocab"], (BATCH, CHUNK)), {}
    for i, (roles, layers) in enumerate(CASES[name]):
        adapter.update(matrices(name, roles, 3, 20 + i, layers))
    tensors, settings = peft_tensors(name, adapter), adapters.config(name, adapter, 3, 6, **({"layers_to_transform": [1]} if name == "qwen3" else {}))
    files = {"peft": write_peft(h.path("peft"), tensors, settings, "BF16"), "gguf": write_gguf(h.path("lora.gguf"), adapters.gguf_tensors(name, adapter), gguf_keys(name, 6.0), "BF16")}
    w, model = base(h, name, True)
    plain = pipeline(h, name, model)
    want = {by: [logits(name, merged(name, w, adapter, 2 * by, "BF16"), tokens[b, :n]) for b, n in enumerate(LENGTHS)] for by in (1.0, -0.75, 0.0)}
    found = {}
    cases = [("gguf", model, "gguf", 1.0), ("gguf", model, "peft", 1.0)]
    if ways:
        folder = base(h, name, False)[1]
        cases += [("gguf", model, "peft", -0.75), ("hf", folder, "gguf", 1.0), ("hf", folder, "peft", 1.0)]
    for kind, path, lora, by in cases:
        what = f"{name} {kind} with {lora} by {by}"
        text = pipeline(h, what, path, "--lora", files[lora] + ("" if by == 1 else f"={by}"))
        got = run(h, what, text, tokens)
        if got is None:
            continue
        worst = distance(got, want[by])
        h.check(f"{what}: as in float64", worst < ALLOWED, f"{worst / 2.0 ** -24:.1f} of 2^-24")
        print(f"{what}: within {worst / 2.0 ** -24:.1f} of 2^-24", flush=True)
        found.setdefault(by, []).append(got)
    h.check(f"{name}: the same bytes from all formats", all(len(set(f)) == 1 for f in found.values()))
    h.check(f"{name}: without it the logits are others", distance(found[1.0][0], want[0.0]) > 1000 * ALLOWED)
    h.check(f"{name}: without it no word of it", b"lora" not in plain)
    if ways:
        caches = [(f"{k}_{i}", 4 * BATCH * CONTEXT * c["kv"] * c["dim"]) for k in ("keys", "values") for i in range(c["layers"])]
        got = run(h, f"{name} unrolled", pipeline(h, f"{name} unrolled", model, "--unrolled", "--lora", files["peft"]), tokens, caches)
        h.check(f"{name}: the same bytes layer by layer", got == found[1.0][0])
    planted = [(b'scale = "2"', b'scale = "2.001"')] if ways else []
    text = pipeline(h, name, model, "--lora", files["gguf"])
    for old, new in planted:
        h.check(f"{name}: {old.decode()} is there to be changed", old in text)
        got = run(h, f"{name} with {new.decode()}", text.replace(old, new, 1), tokens)
        if h.check(f"{name}: {new.decode()} instead of {old.decode()} is seen", got is not None and distance(got, want[1.0]) > ALLOWED):
            h.planted(f"{name}: an adapter's {new.decode()} in place of {old.decode()}", "transformer.lora", "logits against float64", f"{distance(got, want[1.0]) / 2.0 ** -24:.0f} of 2^-24, {ALLOWED / 2.0 ** -24:.0f} allowed")
    if name == "llama":
        # A PEFT adapter on a GGUF model whose rows of B are not moved.
        moved = pipeline(h, name, model, "--lora", files["peft"])
        left = re.sub(rb'(b = ")q_lora0_rows.y(")', rb'\1$lora_0/base_model.model.model.layers.{i}.self_attn.q_proj.lora_B.weight\2', moved)
        got = run(h, "llama with rows as they lie", left, tokens)
        if h.check("rows that are not moved are seen", left != moved and got is not None and distance(got, want[1.0]) > ALLOWED):
            h.planted("an adapter's rows of q in the order of another format", "core/model/pipeline/adapters.c", "logits against float64", f"{distance(got, want[1.0]) / 2.0 ** -24:.0f} of 2^-24, {ALLOWED / 2.0 ** -24:.0f} allowed")


def several(h):
    """Several add up in the order given, each with a scale; by the root of r; ranks of their own in GGUF; and only some layers."""
    name, tokens = "qwen2", np.random.default_rng(5).integers(0, 300, (BATCH, CHUNK))
    w, model = base(h, name, True)
    first, second = matrices(name, ("q", "down"), {"q": 2, "down": 5}, 1), matrices(name, ("q", "v"), 4, 2, [1])
    one_ = write_gguf(h.path("first.gguf"), adapters.gguf_tensors(name, first), gguf_keys(name, 10.0), "F16")
    two = write_peft(h.path("second"), peft_tensors(name, second), adapters.config(name, second, 4, 3, use_rslora=True, layers_to_transform=[1]))
    both = w
    for role, rank in (("q", 2), ("down", 5)):
        both = merged(name, both, {k: v for k, v in first.items() if k[0] == role}, 0.5 * float(np.float32(10) / np.float32(rank)), "F16")
    both = merged(name, both, second, -float(np.float32(3) / np.sqrt(np.float32(4))))
    want = [logits(name, both, tokens[b, :n]) for b, n in enumerate(LENGTHS)]
    text = pipeline(h, "several", model, "--lora", one_ + "=0.5", "--lora", two + "=-1")
    got = run(h, "several", text, tokens)
    worst = distance(got, want)
    h.check("several: as in float64", worst < ALLOWED, f"{worst / 2.0 ** -24:.1f} of 2^-24")
    print(f"several: within {worst / 2.0 ** -24:.1f} of 2^-24", flush=True)
    h.check("several: layers that are alike are a group", text.count(b"repeat :") == 2 and b"q_lora1" in text and text.index(b"q_lora0") < text.index(b"q_lora1"), text.decode()[:200])
    other = run(h, "several, in the other order", pipeline(h, "several", model, "--lora", two + "=-1", "--lora", one_ + "=0.5"), tokens)
    h.check("the order is part of the answer's bits, and rounding is all that it changes", other != got and distance(other, want) < ALLOWED)
    for args, code, status, word in ((("--lora", two + "=x"), "PC0010", USAGE, "x"), (("--lora", two + "=2e6"), "PC0010", USAGE, "2e6"), (("--lora", "=1"), "PC0010", USAGE, "names no file"),
                                     (("--lora", two) * 65, "PC6299", INVALID, "65 adapters"), (("--lora", base(h, "llama", False)[1]), "PC6294", INVALID, "adapter_model.safetensors")):
        got, _, err = h.run("model", "pipeline", model, *args)
        h.check(f"refused: {word}", got == status and code in err and word in err, f"{got}: {err[:300]}")
    many = run(h, "64 adapters", pipeline(h, "64 adapters", model, *("--lora", two) * 64), tokens)
    h.check("64 adapters add up", many is not None)


# ---- what is generated ----

SMALL = ["--set", "n_embd=64", "--set", "n_heads=4", "--set", "n_kv_heads=2", "--set", "head_dim=16", "--set", "n_ff=96", "--vocab", "300", "--context", "256"]
PROMPT = "The quick brown fox, 12345."


def synth(h, name, shape, seed, *more):
    path = h.path(name)
    layers = () if "--layers" in more else ("--layers", "2")
    status, _, err = h.run("model", "synth", "--shape", shape, "--seed", str(seed), "--out", path, *SMALL, *layers, *more)
    h.check(f"synth {name}", status == 0, err)
    return path


def generate(h, what, model, *args, prompt=PROMPT, tokens=4):
    out = h.path("logits.npy")
    status, text, err = h.run("generate", "--model", model, "--prompt", prompt, "--tokens", str(tokens), "--context", "128", "--json", "--logits", out, "--ignore-end", *args)
    if not h.check(what, status == 0, err[:1500]):
        return None, None
    return json.loads(text), np.load(out).view(np.uint32)


def same(h, what, a, b):
    h.check(what, a is not None and b is not None and a.shape == b.shape and bool((a == b).all()))


def generating(h, device):
    model = synth(h, "m.gguf", "qwen2.5-0.5b", 1)
    one_, two = synth(h, "one.gguf", "qwen2.5-0.5b", 2, "--lora", "4"), synth(h, "two.gguf", "qwen2.5-0.5b", 3, "--lora", "2", "--type", "bf16", "--target", "q", "--target", "v")
    ask = ["--backend", device, "--lora", one_, "--lora", two + "=0.5"]
    document, whole = generate(h, "with two adapters", model, *ask)
    _, plain = generate(h, "without", model, "--backend", device)
    if document is None:
        return
    cids = [json.loads(h.run("--json", "model", "show", p)[1])["adapter"]["cid"] for p in (one_, two)]
    h.check("they are named", [(a["cid"], a["scale"]) for a in document["adapters"]] == list(zip(cids, (1, 0.5))) and document["adapters"][0]["file"].endswith("/one.gguf"), str(document["adapters"]))
    h.check("the model is the same one, the logits are not", plain is not None and not (plain == whole).all())
    for chunk in ("1", "7", "64"):
        _, got = generate(h, f"chunks of {chunk}", model, *ask, "--chunk", chunk)
        same(h, f"chunks of {chunk} change nothing", got, whole)
    _, got = generate(h, "three sequences", model, *ask, "--batch", "3", "--chunk", "5")
    for i in range(3):
        same(h, f"sequence {i} of three", None if got is None else got[i:i + 1], whole)
    _, got = generate(h, "the other order", model, "--backend", device, "--lora", two + "=0.5", "--lora", one_)
    h.check("the order is part of the bits", got is not None and not (got == whole).all())
    # A plain run of the pipeline that is written gives the first token's logits.
    status, text, err = h.run("model", "pipeline", model, "--chunk", str(len(PROMPT)), "--context", "128", "--lora", one_, "--lora", two + "=0.5")
    ins = [w for k, v in (("tokens", list(PROMPT.encode())), ("start", [0]), ("count", [len(PROMPT)])) for w in ("--in", f"{k}=" + h.write(k, np.asarray(v, np.uint32).tobytes()))]
    status, _, err = h.run("run", h.write("m.pipe.cfg", text), *ins, "--out", "logits=" + h.path("out"), "--backend", device, "--no-memo")
    same(h, "a plain run", np.frombuffer(h.read("out"), np.uint32) if status == 0 else None, whole[0, 0])
    h.check("a pipeline with adapters is accepted", h.run("check", h.path("m.pipe.cfg"))[0] == 0)
    statements(h, model, one_, two, device)
    status, _, err = h.run("vm", "generate", "--model", model, "--prompt", "x", "--lora", one_)
    h.check("machines take none", status == USAGE and "--lora" in err, f"{status}: {err}")
    other = synth(h, "llama.gguf", "llama3.2-1b", 2, "--lora", "4")
    status, _, err = h.run("generate", "--model", model, "--prompt", "x", "--lora", other, "--backend", device)
    h.check("an adapter of another family", status == INVALID and "PC6298" in err and '"llama"' in err, f"{status}: {err}")


def statements(h, model, one_, two, device):
    ask, loras = ["--model", model, "--context", "128", "--backend", device], ["--lora", one_, "--lora", two + "=0.5"]
    status, _, err = h.run("generate", *ask, *loras, "--prompt", PROMPT, "--tokens", "3", "--temperature", "0.7", "--seed", "9", "--receipt", h.path("said.cfg"))
    h.check("a statement", status == 0, err)
    said = h.read("said.cfg").decode()
    h.check("it names adapters and scales", re.search(r'adapters = \(\s*\{ adapter = "bafkrei[a-z0-9]+"; scale = "1"; \},\s*\{ adapter = "bafkrei[a-z0-9]+"; scale = "0.5"; \}\s*\);', said.replace("adapters :", "adapters =")) is not None, said[:1500])
    status, out, err = h.run("generate", *ask, *loras, "--chunk", "3", "--replay", h.path("said.cfg"), "--json")
    h.check("made again", status == 0 and json.loads(out)["agrees"] is True, err)
    for what, given, word in (("without adapters", [], "2 adapters, 0 are given"), ("with one", loras[:2], "1 are given"), ("in the other order", [*loras[2:], *loras[:2]], "adapter 0"), ("with another scale", [*loras[:3], two + "=0.25"], "the scale 0.5, the one given 0.25")):
        status, _, err = h.run("generate", *ask, *given, "--replay", h.path("said.cfg"))
        h.check(f"replayed {what}", status == DIFFERS and "PC6292" in err and word in err, f"{status}: {err}")
    status, _, err = h.run("generate", *ask, "--prompt", PROMPT, "--tokens", "1", "--receipt", h.path("plain.cfg"))
    h.check("a statement without adapters has no word of them", status == 0 and b"adapter" not in h.read("plain.cfg"), err)
    status, _, err = h.run("generate", *ask, *loras, "--replay", h.path("plain.cfg"))
    h.check("it is not made again with some", status == DIFFERS and "0 adapters, 2 are given" in err, f"{status}: {err}")


def devices(h, names):
    """The reference's logits, of a model whose rows are moved and one whose layers are not alike, whichever dispatches become one."""
    layer = ("--layers", "1")
    qwen, llama = synth(h, "m.gguf", "qwen2.5-0.5b", 1, *layer), synth(h, "l.gguf", "llama3.2-1b", 1, *layer)
    one_, moved = synth(h, "one.gguf", "qwen2.5-0.5b", 2, "--lora", "4", *layer), synth(h, "two", "llama3.2-1b", 3, "--lora", "3", "--type", "f16", "--target", "q", "--target", "down", *layer)
    for model, lora, joins in ((qwen, one_, "ahead"), (llama, moved, "behind")):
        _, want = generate(h, "cpu", model, "--backend", "cpu", "--lora", lora, prompt="abcd", tokens=2)
        for device in names:
            if "gpu" in device and joins != "ahead":
                continue  # what moves rows is run once, and in no join
            how = ("--joins", joins) if "gpu" in device else ()
            _, got = generate(h, f"{device} {how}", model, "--backend", device, "--lora", lora, "--chunk", "3", *how, prompt="abcd", tokens=2)
            same(h, f"{os.path.basename(lora)} on {device} {' '.join(how)}: cpu's logits", got, want)


def main():
    h = Harness()
    if sys.argv[1] == "read":
        reading(h)
    elif sys.argv[1] == "logits":
        few = sys.argv[2:3] == ["few"]
        for name in sys.argv[2 + few:] or CASES:
            one(h, name, not few or name == "llama")
        several(h)
    elif sys.argv[1] == "generate":
        generating(h, sys.argv[2])
    else:
        devices(h, [n for n in sys.argv[2:] if n.startswith("mock")] or present(h, sys.argv[2:]))
    h.finish()


if __name__ == "__main__":
    main()
