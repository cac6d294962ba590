"""Adapters for the models of models.py, by the definitions of PEFT and llama.cpp: matrices at random, files in both formats, and weights in float64 into which they are
merged. Shares nothing with core/model."""
import json
import os
import struct

import numpy as np

from models import F32, FAMILIES, GGUF_NAMES, HF_NAMES, STRING, family, gguf, neighbours, raw, safetensors, text

NUMBERS = {"F32": 0, "F16": 1, "BF16": 30}  # ggml's, of types
OF_LLAMA = ("llama", "mistral", "mixtral", "deepseek")


def sizes(name, role):
    """Features that a projection gives, and takes."""
    c = FAMILIES[name]
    q, kv, ff, shared = c["heads"] * c["dim"], c["kv"] * c["dim"], c["ff_dense"] or c["ff"], c["shared"]
    return {"q": (q, c["embd"]), "k": (kv, c["embd"]), "v": (kv, c["embd"]), "o": (c["embd"], q), "gate": (ff, c["embd"]), "up": (ff, c["embd"]), "down": (c["embd"], ff),
            "qkv": (q + 2 * kv, c["embd"]), "gate_up": (2 * ff, c["embd"]), "shared_gate": (shared, c["embd"]), "shared_up": (shared, c["embd"]), "shared_down": (c["embd"], shared),
            "output": (c["vocab"], c["embd"])}[role]


def matrices(name, roles, rank, seed, layers=None):
    """(role, layer) -> (A, B); rank: a number, or by role. Rows of B of q and k in the order of halves. The output is in layer None."""
    rng, out = np.random.default_rng(seed), {}
    for i in range(FAMILIES[name]["layers"]) if layers is None else layers:
        for role in roles:
            m, n = sizes(name, role)
            r = rank[role] if isinstance(rank, dict) else rank
            if role != "output" or i == 0:
                out[role, None if role == "output" else i] = ((rng.standard_normal((r, n)) / np.sqrt(n)).astype(np.float32), (rng.standard_normal((m, r)) / np.sqrt(r) / 4).astype(np.float32))
    return out


def as_stored(a, dtype):
    """What is left of f32 in a file of that type, in f32."""
    return a if dtype == "F32" else a.astype(np.float16).astype(np.float32) if dtype == "F16" else (np.frombuffer(raw(a, dtype), np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(a.shape)


def merged(name, w, adapter, scale, dtype="F32"):
    """The model's weights in float64 with an adapter; others stay as they are."""
    c = FAMILIES[name]
    out = {**w, "layers": [dict(layer) for layer in w["layers"]]}
    cuts = {"qkv": ("q", "k", "v"), "gate_up": ("gate", "up")}
    for (role, layer), (a, b) in adapter.items():
        d = scale * (as_stored(b, dtype).astype(np.float64) @ as_stored(a, dtype).astype(np.float64))
        at = out if layer is None else out["layers"][layer]
        if role in cuts:
            ends = np.cumsum([sizes(name, k)[0] for k in cuts[role]])[:-1]
            for k, part in zip(cuts[role], np.split(d, ends)):
                at[k] = at[k].astype(np.float64) + part
        else:
            at[role] = at[role].astype(np.float64) + d
    return out


def hf_name(name, role, layer):
    names = dict(HF_NAMES)
    if family(name) == "deepseek":
        names.update({f"shared_{k}": f"mlp.shared_experts.{k}_proj.weight" for k in ("gate", "up", "down")})
    return "lm_head" if layer is None else f"model.layers.{layer}.{names[role]}".removesuffix(".weight")


def gguf_name(role, layer):
    return "output.weight" if layer is None else f"blk.{layer}.{GGUF_NAMES[role]}"


def config(name, adapter, rank, alpha, **change):
    """adapter_config.json with all that PEFT 0.17 writes; a value of "absent" leaves a key out."""
    targets = sorted({hf_name(name, *key).split(".")[-1] for key in adapter})
    out = {"alpha_pattern": {}, "auto_mapping": None, "base_model_name_or_path": "none", "bias": "none", "corda_config": None, "eva_config": None, "exclude_modules": None,
           "fan_in_fan_out": False, "inference_mode": True, "init_lora_weights": True, "layer_replication": None, "layers_pattern": None, "layers_to_transform": None, "loftq_config": {},
           "lora_alpha": alpha, "lora_bias": False, "lora_dropout": 0.05, "megatron_config": None, "megatron_core": "megatron.core", "modules_to_save": None, "peft_type": "LORA",
           "qalora_group_size": 16, "r": rank, "rank_pattern": {}, "revision": None, "target_modules": targets, "target_parameters": None, "task_type": "CAUSAL_LM",
           "trainable_token_indices": None, "use_dora": False, "use_qalora": False, "use_rslora": False, **change}
    return {k: v for k, v in out.items() if v != "absent"}


def peft_tensors(name, adapter):
    out = {}
    for (role, layer), (a, b) in adapter.items():
        out[f"base_model.model.{hf_name(name, role, layer)}.lora_A.weight"] = a
        out[f"base_model.model.{hf_name(name, role, layer)}.lora_B.weight"] = b
    return out


def write_peft(folder, tensors, settings, dtype="F32"):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "adapter_model.safetensors"), "wb") as f:
        f.write(safetensors({k: (dtype, list(a.shape), raw(a, dtype)) for k, a in tensors.items()}, meta={"format": "pt"}))
    with open(os.path.join(folder, "adapter_config.json"), "w", encoding="utf-8") as f:
        json.dump(settings, f)
    return folder


def gguf_tensors(name, adapter):
    out = {}
    for (role, layer), (a, b) in adapter.items():
        if family(name) in OF_LLAMA and role in ("q", "k"):
            b = neighbours(b, FAMILIES[name]["dim"])
        out[gguf_name(role, layer) + ".lora_a"], out[gguf_name(role, layer) + ".lora_b"] = a, b
    return out


def gguf_keys(name, alpha):
    arch = "llama" if family(name) in OF_LLAMA[:3] else family(name)
    return {"general.architecture": (STRING, text(arch)), "general.type": (STRING, text("adapter")), "general.name": (STRING, text("a test")), "adapter.type": (STRING, text("lora")),
            "adapter.lora.alpha": (F32, struct.pack("<f", alpha))}


def write_gguf(path, tensors, keys, dtype="F32"):
    with open(path, "wb") as f:
        f.write(gguf({k: (NUMBERS[dtype], tuple(reversed(a.shape)), raw(a, dtype)) for k, a in tensors.items()}, [(k, t, data) for k, (t, data) in keys.items()]))
    return path
