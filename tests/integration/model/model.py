"""`pipectl model show|check|synth|convert` against files that models.py writes by the formats' definitions, and weights made again in Python; lying, cut
and strange files end with one code each."""
import json
import os
import shutil
import struct
import subprocess
import sys

import numpy as np

import models
from harness import Harness
from models import FAMILIES, config, family, gguf_keys, gguf_tensors, hf_tensors, text, tokenizer_keys, weights, write_gguf, write_hf
from tensor import safetensors

INVALID, UNSUPPORTED = 3, 5


def show(h, path):
    status, out, err = h.run("--json", "model", "show", path)
    return (json.loads(out) if status == 0 else None), err


def description(name, layout):
    """What show says of a family, from the test's own table."""
    c = FAMILIES[name]
    kind = "llama" if layout == "gguf" and family(name) == "mistral" else family(name)
    scaling = next((k for k in ("llama3", "linear", "yarn", "dynamic", "long") if c[k]), "none").replace("long", "longrope")
    factor = c["yarn"][0] if c["yarn"] else c["dynamic"] or c["linear"] or (c["llama3"] or [None])[0]
    more = {"rope_factor": factor} if factor else {}
    if c["yarn"]:
        more.update(rope_low=c["yarn"][3], rope_high=c["yarn"][2], rope_original=str(c["yarn"][1]), rope_magnitude=models.magnitude(c))
    if c["long"]:
        more.update(rope_original=str(c["long"][0]), rope_magnitude=models.magnitude(c))
    return {**more, "n_dense": str(c["dense"]), "n_ff_dense": str(c["ff_dense"]), "n_ff_shared": str(c["shared"]), "family": kind, "n_layers": str(c["layers"]), "n_embd": str(c["embd"]), "n_heads": str(c["heads"]), "n_kv_heads": str(c["kv"]), "head_dim": str(c["dim"]),
            "n_ff": str(c["ff"]), "n_vocab": str(c["vocab"]), "n_context": str(c["context"]), "rms_eps": float(np.float32(c["eps"])), "rope_base": c["base"],
            "rope_dims": str(models.turned(c)), "rope_pairing": "neighbours" if layout == "gguf" and family(name) in ("llama", "mistral", "mixtral", "deepseek") else "halves", "rope_scaling": scaling,
            "n_experts": str(c["experts"]), "n_used": str(c["used"]), "window": str(c["window"]), "window_first": "1" if name == "qwen2-late" else "0", "window_every": "2" if kind == "gemma2" else "1",
            "attn_softcap": c["attn_cap"], "final_softcap": c["cap"], "attn_scale": float(np.float32(c["dim"] ** -0.5)),
            "embed_scale": float(np.float32(np.sqrt(c["embd"]))) if c["gelu"] else 1, "norm_offset": 1 if c["gelu"] and layout == "hf" else 0,
            "activation": "gelu by tanh" if c["gelu"] else "silu", "embeddings": "tied" if c["tied"] else "not tied",
            "biases": "q k v o" if c["o_bias"] else "q k v" if c["bias"] else "none", "kv_bytes_token": str(8 * c["layers"] * c["kv"] * c["dim"])}


def families(h):
    for name in FAMILIES:
        w = weights(name)
        made = {} if not FAMILIES[name]["gguf"] else {"gguf": (write_gguf(h.path(name + ".gguf"), gguf_tensors(name, w), {**gguf_keys(name), **tokenizer_keys(300)}), gguf_tensors(name, w))}
        made["hf"] = (write_hf(h.path(name), hf_tensors(name, w), config(name), shards=3 if name in ("qwen2", "mixtral") else 1), hf_tensors(name, w))
        for layout, (path, tensors) in made.items():
            got, err = show(h, path)
            want = description(name, layout)
            h.check(f"{name} {layout}: read", got is not None, err)
            if got is None:
                continue
            wrong = {k: (got["model"].get(k), v) for k, v in want.items() if got["model"].get(k) != v}
            h.check(f"{name} {layout}: described", not wrong, str(wrong))
            shapes = {t["name"]: t["type"] for t in got["tensors"]}
            h.check(f"{name} {layout}: every tensor, once", shapes == {k: "f32[" + ",".join(map(str, a.shape)) + "]" for k, a in tensors.items()}, str(shapes)[:300])
            n = sum(a.size for a in tensors.values())
            h.check(f"{name} {layout}: parameters", got["model"]["parameters"] == str(n) and got["model"]["bytes_by_type"] == {"f32": str(4 * n)})
            status, out, err = h.run("model", "check", path, "--full")
            h.check(f"{name} {layout}: checked", status == 0 and out.count(b"bafkrei") == len(tensors), err)
        # The parts of a folder mean the folder.
        for part in ("config.json", "model.safetensors.index.json" if name in ("qwen2", "mixtral") else "model.safetensors"):
            h.check(f"{name}: {part}", show(h, os.path.join(h.path(name), part))[0] is not None)


# ---- what is refused ----

def refused(h, what, path, code, status, *words):
    got, out, err = h.run("model", "check", path)
    h.check(what, got == status and code in err and not out and all(x in err for x in words), err)


def gguf_faults(h):
    tensors, keys = gguf_tensors("qwen2", weights("qwen2")), {**gguf_keys("qwen2"), **tokenizer_keys(300)}
    def one(what, code, status, *words, t=None, k=None):
        write_gguf(h.path("bad.gguf"), t or tensors, k or keys)
        refused(h, "gguf: " + what, h.path("bad.gguf"), code, status, *words)
    def key(name, kind, data):
        return {**keys, name: (kind, data)}
    def without(d, *names):
        return {k: v for k, v in d.items() if k not in names}
    def of(name):
        return gguf_tensors(name, weights(name)), gguf_keys(name)
    one("no architecture", "PC6282", INVALID, "general.architecture", k=without(keys, "general.architecture"))
    one("unknown architecture", "PC6281", UNSUPPORTED, "mamba", k=key("general.architecture", models.STRING, text("mamba")))
    for k in ("block_count", "embedding_length", "attention.head_count", "context_length", "feed_forward_length", "attention.layer_norm_rms_epsilon"):
        one("without " + k, "PC6282", INVALID, "qwen2." + k, k=without(keys, "qwen2." + k))
    one("another type", "PC6282", INVALID, "qwen2.block_count", k=key("qwen2.block_count", models.F32, struct.pack("<f", 2)))
    one("no layers", "PC6282", INVALID, "layers", k=key("qwen2.block_count", models.U32, struct.pack("<I", 0)))
    one("heads that do not divide", "PC6282", INVALID, k=key("qwen2.attention.head_count_kv", models.U32, struct.pack("<I", 3)))
    one("an odd head", "PC6282", INVALID, k={**keys, "qwen2.attention.key_length": (models.U32, struct.pack("<I", 15)), "qwen2.attention.value_length": (models.U32, struct.pack("<I", 15))})
    one("heads by layer", "PC6283", UNSUPPORTED, "head_count_kv", k=key("qwen2.attention.head_count_kv", models.ARRAY, struct.pack("<IQII", models.U32, 2, 2, 2)))
    one("values of another size", "PC6283", UNSUPPORTED, "value_length", k=key("qwen2.attention.value_length", models.U32, struct.pack("<I", 8)))
    one("an unknown key", "PC6283", UNSUPPORTED, "qwen2.residual_scale", k=key("qwen2.residual_scale", models.F32, struct.pack("<f", 1)))
    one("parallel residuals", "PC6283", UNSUPPORTED, k=key("qwen2.use_parallel_residual", models.BOOL, b"\1"))
    for n in (0, 7, 18):
        one(f"{n} of 16 features turned", "PC6282", INVALID, f"{n} of 16", k=key("qwen2.rope.dimension_count", models.U32, struct.pack("<I", n)))
    one("another scaling", "PC6283", UNSUPPORTED, "longrope", k=key("qwen2.rope.scaling.type", models.STRING, text("longrope")))
    one("numbers of yarn without yarn", "PC6283", UNSUPPORTED, "yarn_beta_fast", k=key("qwen2.rope.scaling.yarn_beta_fast", models.F32, struct.pack("<f", 8)))
    t, k = of("qwen2-yarn")
    def yarn(what, code, status, word, name, data):
        one("yarn: " + what, code, status, word, t=t, k={**k, "qwen2.rope.scaling." + name: (models.F32 if len(data) == 4 and name != "original_context_length" else models.U32, data)})
    yarn("half of it", "PC6283", UNSUPPORTED, "yarn_ext_factor", "yarn_ext_factor", struct.pack("<f", 0.5))
    yarn("slow that is fast", "PC6282", INVALID, "beta_fast", "yarn_beta_slow", struct.pack("<f", 64))
    yarn("no original context", "PC6282", INVALID, "context", "original_context_length", struct.pack("<I", 0))
    yarn("no magnitude", "PC6282", INVALID, "attention", "yarn_attn_factor", struct.pack("<f", 0))
    yarn("no factor", "PC6282", INVALID, "factor", "factor", struct.pack("<f", 0))
    t, k = of("qwen2moe")
    one("no size of a shared expert", "PC6282", INVALID, "expert_shared_feed_forward_length", t=t, k=without(k, "qwen2moe.expert_shared_feed_forward_length"))
    one("a gate of a shared expert that is gone", "PC6284", INVALID, "ffn_gate_inp_shexp", t=without(t, "blk.1.ffn_gate_inp_shexp.weight"), k=k)
    one("a shared expert of another size", "PC6285", INVALID, "shexp", t=t, k={**k, "qwen2moe.expert_shared_feed_forward_length": (models.U32, struct.pack("<I", 32))})
    t, k = of("qwen3moe")
    one("a shared expert of another family", "PC6283", UNSUPPORTED, "expert_shared", t=t, k={**k, "qwen3moe.expert_shared_feed_forward_length": (models.U32, struct.pack("<I", 32))})
    u32, f32 = lambda v: (models.U32, struct.pack("<I", v)), lambda v: (models.F32, struct.pack("<f", v))
    t, k = of("phi3-long")
    one("longrope: half of the factors", "PC6283", UNSUPPORTED, "rope_factors_short", t=without(t, "rope_factors_short.weight"), k=k)
    one("longrope: fewer factors", "PC6282", INVALID, "15 numbers for 16", t={**t, "rope_factors_long.weight": t["rope_factors_long.weight"][:15]}, k=k)
    one("longrope: factors of halves", "PC6283", UNSUPPORTED, "row of f32", t={**t, "rope_factors_long.weight": t["rope_factors_long.weight"].reshape(2, 8)}, k=k)
    one("longrope: a factor of nothing", "PC6282", INVALID, "pair 3", t={**t, "rope_factors_long.weight": np.where(np.arange(16) == 3, 0, 1).astype(np.float32)}, k=k)
    one("longrope: a factor that is none", "PC6282", INVALID, "pair 15", t={**t, "rope_factors_short.weight": np.where(np.arange(16) == 15, np.nan, 1).astype(np.float32)}, k=k)
    one("longrope: no original context", "PC6282", INVALID, "original_context_length", t=t, k=without(k, "phi3.rope.scaling.original_context_length"))
    one("longrope: another factor", "PC6282", INVALID, "phi3.rope.scaling.factor", t=t, k={**k, "phi3.rope.scaling.factor": f32(2)})
    one("longrope: a magnitude of 0", "PC6282", INVALID, "attention", t=t, k={**k, "phi3.rope.scaling.attn_factor": f32(0)})
    one("longrope: a number of yarn", "PC6283", UNSUPPORTED, "yarn_beta_fast", t=t, k={**k, "phi3.rope.scaling.yarn_beta_fast": f32(8)})
    for kind in ("yarn", "linear", "none"):
        one(f"longrope: {kind} beside its factors", "PC6283", UNSUPPORTED, f'"{kind}"', t=t, k={**k, "phi3.rope.scaling.type": (models.STRING, text(kind)), "phi3.rope.scaling.factor": f32(16)})
    one("longrope: frequencies of Llama 3 besides", "PC6283", UNSUPPORTED, "scaled twice", t={**t, "rope_freqs.weight": np.ones(16, np.float32)}, k=k)
    one("phi3: q of its own", "PC6286", UNSUPPORTED, "attn_q.weight", t={**t, "blk.0.attn_q.weight": np.zeros((128, 64), np.float32)}, k=k)
    one("phi3: q, k and v that are short", "PC6285", INVALID, "[255,64]", "[256,64]", t={**t, "blk.1.attn_qkv.weight": t["blk.1.attn_qkv.weight"][:255]}, k=k)
    one("phi3: up without a gate", "PC6285", INVALID, "[96,64]", "[192,64]", t={**t, "blk.0.ffn_up.weight": t["blk.0.ffn_up.weight"][:96]}, k=k)
    one("phi3: experts", "PC6283", UNSUPPORTED, "no experts", t=t, k={**k, "phi3.expert_count": u32(4), "phi3.expert_used_count": u32(2)})
    t, k = of("deepseek")
    one("deepseek: a gate of a shared expert", "PC6286", UNSUPPORTED, "ffn_gate_inp_shexp", t={**t, "blk.1.ffn_gate_inp_shexp.weight": np.zeros(64, np.float32)}, k=k)
    one("deepseek: no shared expert that is told", "PC6284", INVALID, "ffn_up_shexp", t=without(t, "blk.2.ffn_up_shexp.weight"), k=k)
    one("deepseek: shared ones of another size", "PC6282", INVALID, "shared experts", t=t, k={**k, "deepseek.expert_shared_feed_forward_length": u32(48)})
    one("deepseek: experts in a layer without", "PC6286", UNSUPPORTED, "blk.0.ffn_gate_inp", t={**t, "blk.0.ffn_gate_inp.weight": np.zeros((6, 64), np.float32)}, k=k)
    one("deepseek: all layers without experts", "PC6282", INVALID, "some have experts", t=t, k={**k, "deepseek.leading_dense_block_count": u32(3)})
    one("deepseek: one more without", "PC6284", INVALID, "blk.1.ffn_gate.weight", t=t, k={**k, "deepseek.leading_dense_block_count": u32(2)})
    one("deepseek: weights that are scaled", "PC6283", UNSUPPORTED, "expert_weights_scale", t=t, k={**k, "deepseek.expert_weights_scale": f32(2.5)})
    t, k = of("qwen3moe")
    one("shared experts that another family counts", "PC6283", UNSUPPORTED, "expert_shared_count", t=t, k={**k, "qwen3moe.expert_shared_count": u32(1)})
    one("layers in front of another family", "PC6283", UNSUPPORTED, "leading_dense", t=t, k={**k, "qwen3moe.leading_dense_block_count": u32(1)})
    one("caps of another family", "PC6283", UNSUPPORTED, k=key("qwen2.final_logit_softcapping", models.F32, struct.pack("<f", 30)))
    one("experts of another family", "PC6283", UNSUPPORTED, k={**keys, "qwen2.expert_count": (models.U32, struct.pack("<I", 4)), "qwen2.expert_used_count": (models.U32, struct.pack("<I", 2))})
    one("one of several files by another name", "PC4218", INVALID, "which its name does not say", k=key("split.count", 2, struct.pack("<H", 3)))
    t, k = of("llama-scaled")
    one("frequencies that nobody published", "PC6283", UNSUPPORTED, "rope_freqs", t={**t, "rope_freqs.weight": np.arange(1, 9, dtype=np.float32)}, k=k)
    one("frequencies of another shape", "PC6283", UNSUPPORTED, "rope_freqs", t={**t, "rope_freqs.weight": np.ones(3, np.float32)}, k=k)
    t, k = of("mixtral")
    one("half of a head turned, as neighbours", "PC6283", UNSUPPORTED, "dimension_count", t=t, k={**k, "llama.rope.dimension_count": (models.U32, struct.pack("<I", 8))})
    one("more experts than there are", "PC6282", INVALID, "experts", t=t, k={**k, "llama.expert_used_count": (models.U32, struct.pack("<I", 5))})
    one("a shared expert", "PC6286", UNSUPPORTED, "shexp", t={**t, "blk.0.ffn_gate_shexp.weight": np.zeros((4, 64), np.float32)}, k=k)
    one("a missing tensor", "PC6284", INVALID, "blk.1.ffn_up.weight", t=without(tensors, "blk.1.ffn_up.weight"))
    one("a bias that its family needs", "PC6284", INVALID, "blk.1.attn_k.bias", t=without(tensors, "blk.1.attn_k.bias"))
    one("another shape", "PC6285", INVALID, "[95,64]", "[96,64]", t={**tensors, "blk.0.ffn_up.weight": tensors["blk.0.ffn_up.weight"][:95]})
    one("a vocabulary of another size", "PC6285", INVALID, "token_embd", t={**tensors, "token_embd.weight": np.zeros((299, 64), np.float32)})
    one("a surplus tensor", "PC6286", UNSUPPORTED, "adapter", t={**tensors, "adapter.weight": np.zeros(4, np.float32)})
    # All at once, each with its code.
    write_gguf(h.path("bad.gguf"), {**without(tensors, "blk.0.attn_q.weight"), "extra": np.zeros(4, np.float32), "output_norm.weight": np.zeros(3, np.float32)}, keys)
    status, _, err = h.run("model", "check", h.path("bad.gguf"))
    h.check("gguf: all that is wrong", status == INVALID and all(c in err for c in ("PC6284", "PC6285", "PC6286")), err)
    vocabulary = [("too many tokens", "tokens", {"tokenizer.ggml.tokens": (models.ARRAY, struct.pack("<IQ", models.STRING, 301) + text("x") * 301), "qwen2.vocab_size": (models.U32, struct.pack("<I", 300))}),
                  ("tokens that are numbers", "tokens", {"tokenizer.ggml.tokens": (models.ARRAY, struct.pack("<IQ", models.U32, 300) + bytes(1200))}),
                  ("types of another number", "token_type", {"tokenizer.ggml.token_type": (models.ARRAY, struct.pack("<IQ", 5, 2) + bytes(8))}),
                  ("scores that are none", "scores", {"tokenizer.ggml.scores": (models.ARRAY, struct.pack("<IQ", 5, 300) + bytes(1200))}),
                  ("merges that are none", "merges", {"tokenizer.ggml.merges": (models.U32, bytes(4))}),
                  ("an end that is no token", "eos", {"tokenizer.ggml.eos_token_id": (models.U32, struct.pack("<I", 300))}),
                  ("a switch that is none", "add_bos", {"tokenizer.ggml.add_bos_token": (models.U32, bytes(4))})]
    for what, word, change in vocabulary:
        one(what, "PC6288", INVALID, word, k={**keys, **change})
    one("two keys of one name", "PC4211", INVALID, k={**keys, "x": (models.U32, bytes(4) + text("x") + struct.pack("<I", models.U32) + bytes(4))})


def config_faults(h):
    tensors, good = hf_tensors("qwen2", weights("qwen2")), config("qwen2")
    def one(what, code, status, *words, name="qwen2", t=None, **change):
        shutil.rmtree(h.path("bad"), ignore_errors=True)
        settings = {k: v for k, v in {**config(name), **change}.items() if v != "absent"}
        write_hf(h.path("bad"), t or hf_tensors(name, weights(name)), settings)
        refused(h, "config: " + what, h.path("bad"), code, status, *words)
    for key in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size", "intermediate_size", "max_position_embeddings", "rms_norm_eps", "hidden_act", "model_type"):
        one("without " + key, "PC6282", INVALID, key, **{key: "absent"})
    one("an unknown family", "PC6281", UNSUPPORTED, "phimoe", model_type="phimoe")
    one("no number", "PC6282", INVALID, "hidden_size", hidden_size="64")
    one("half a feature", "PC6282", INVALID, "hidden_size", hidden_size=64.5)
    one("neither true nor false", "PC6282", INVALID, "tie_word_embeddings", tie_word_embeddings=1)
    one("a key that is near another", "PC6283", UNSUPPORTED, "did you mean", rope_thet=1.0)
    for key, value in (("logit_scale", 0.5), ("mlp_bias", True), ("partial_rotary_factor", 0.5), ("pretraining_tp", 2), ("use_parallel_residual", True), ("quantization_config", {"bits": 4}),
                       ("shared_expert_intermediate_size", 128), ("some_multiplier", 2), ("hidden_act", "gelu"), ("rope_scaling", {"type": "longest", "factor": 2}), ("original_max_position_embeddings", 64), ("n_shared_experts", 1),
                       ("rope_scaling", {"rope_type": "yarn", "factor": 4.0, "truncate": False}), ("rope_scaling", {"rope_type": "yarn", "factor": 4.0, "yarn_power": 2}), ("attn_logit_softcapping", 50.0), ("attention_bias", False)):
        one(f"{key} {value}", "PC6283", UNSUPPORTED, "truncate" if "truncate" in str(value) else "yarn" if "yarn" in str(value) else key if key[:4] not in ("rope", "attn") else "", **{key: value})
    one("scaling without a kind", "PC6282", INVALID, "rope_type", rope_scaling={"factor": 2})
    one("scaling without a factor", "PC6282", INVALID, "factor", rope_scaling={"type": "linear"})
    one("yarn: slow that is fast", "PC6282", INVALID, "beta_fast", rope_scaling={"rope_type": "yarn", "factor": 4.0, "beta_fast": 1, "beta_slow": 2})
    one("yarn: no factor", "PC6282", INVALID, "factor", rope_scaling={"rope_type": "yarn"})
    one("a shared expert without a size", "PC6282", INVALID, "shared_expert_intermediate_size", name="qwen2moe", shared_expert_intermediate_size="absent")
    # Longrope: what it needs, what contradicts itself, what is another's.
    scaled = config("phi3-long")["rope_scaling"]
    def long(what, code, status, word, **change):
        inner = {k: v for k, v in {**scaled, **change.pop("inner", {})}.items() if v != "absent"}
        one("longrope: " + what, code, status, word, name="phi3-long", rope_scaling=inner, **change)
    for key in ("long_factor", "short_factor"):
        long("no " + key, "PC6282", INVALID, key, inner={key: "absent"})
        long("fewer of " + key, "PC6282", INVALID, "15 numbers for 16", inner={key: scaled[key][:15]})
        long("a text in " + key, "PC6282", INVALID, "element 2", inner={key: [*scaled[key][:2], "1", *scaled[key][3:]]})
        long("0 in " + key, "PC6282", INVALID, "pair 2", inner={key: [*scaled[key][:2], 0, *scaled[key][3:]]})
    long("no original context", "PC6282", INVALID, "original_max_position_embeddings", original_max_position_embeddings="absent")
    long("two original contexts", "PC6282", INVALID, "given twice", inner={"original_max_position_embeddings": 4})
    long("another factor", "PC6282", INVALID, "factor", inner={"factor": 2.0})
    long("yarn's numbers", "PC6283", UNSUPPORTED, "beta_fast", inner={"beta_fast": 32})
    long("a magnitude of 0", "PC6282", INVALID, "attention", inner={"attention_factor": 0})
    long("numbers of another family", "PC6283", UNSUPPORTED, "short_mscale", inner={"short_mscale": 1.1})
    long("its factors without it", "PC6283", UNSUPPORTED, "no factors", inner={"type": "linear", "factor": 16.0})
    for what, change, more in (("its first name", {"type": "su"}, {}), ("the factor, said", {"factor": 16.0}, {}), ("the newer place", {"original_max_position_embeddings": 8}, {}),
                               ("both names", {"rope_type": "longrope"}, {}), ("the context within alone", {"original_max_position_embeddings": 8}, {"original_max_position_embeddings": None})):
        shutil.rmtree(h.path("bad"), ignore_errors=True)
        write_hf(h.path("bad"), hf_tensors("phi3-long", weights("phi3-long")), {**config("phi3-long"), "rope_scaling": {**scaled, **change}, **more})
        got, err = show(h, h.path("bad"))
        m = got["model"] if got else {}
        h.check(f"config: longrope, {what}", m.get("rope_scaling") == "longrope" and m.get("rope_magnitude") == models.magnitude(FAMILIES["phi3-long"]) and m.get("rope_original") == "8", err + str(m))
    one("phi3: biases", "PC6283", UNSUPPORTED, "attention_bias", name="phi3", attention_bias=True)
    # Of a head of 24 features.
    for part, code, status, word in ((0, "PC6282", INVALID, "no part"), (1.25, "PC6282", INVALID, "no part"), (-0.5, "PC6282", INVALID, "no part"), ("0.5", "PC6282", INVALID, "no number"),
                                     (0.03, "PC6282", INVALID, "0 of 24"), (0.25 / 6, "PC6282", INVALID, "1 of 24"), (0.3, "PC6282", INVALID, "7 of 24")):
        one(f"phi3: {part} of a head turned", code, status, word, name="phi3", partial_rotary_factor=part)
    one("phi3: two parts of a head", "PC6282", INVALID, "given twice", name="phi3-part", partial_rotary_factor=0.5, rope_scaling={**config("phi3-part")["rope_scaling"], "partial_rotary_factor": 0.75})
    one("longrope: factors of a whole head", "PC6282", INVALID, "16 numbers for 12", name="phi3-long", partial_rotary_factor=0.75)
    for what, more, within in (("within", {"partial_rotary_factor": None}, {"partial_rotary_factor": 0.75}), ("twice alike", {}, {"partial_rotary_factor": 0.75}), ("not quite", {"partial_rotary_factor": 0.78}, {})):
        shutil.rmtree(h.path("bad"), ignore_errors=True)
        write_hf(h.path("bad"), hf_tensors("phi3-part", weights("phi3-part")), {**config("phi3-part"), **more, "rope_scaling": {**config("phi3-part")["rope_scaling"], **within}})
        got, err = show(h, h.path("bad"))
        h.check(f"config: a part of a head, {what}", got is not None and got["model"]["rope_dims"] == "24", err)
    one("phi3: a bias of the head", "PC6283", UNSUPPORTED, "lm_head_bias", name="phi3", lm_head_bias=True)
    one("deepseek: groups of experts", "PC6283", UNSUPPORTED, "n_group", name="deepseek", n_group=8)
    one("deepseek: by sigmoid", "PC6283", UNSUPPORTED, "scoring_func", name="deepseek", scoring_func="sigmoid")
    one("deepseek: weights that are scaled", "PC6283", UNSUPPORTED, "routed_scaling_factor", name="deepseek", routed_scaling_factor=16.0)
    one("deepseek: experts now and then", "PC6283", UNSUPPORTED, "moe_layer_freq", name="deepseek", moe_layer_freq=2)
    one("deepseek: without experts", "PC6282", INVALID, "n_routed_experts", name="deepseek", n_routed_experts="absent")
    one("deepseek: another number of shared ones", "PC6285", INVALID, "shared_experts", name="deepseek", n_shared_experts=1)
    one("deepseek: no shared ones", "PC6286", UNSUPPORTED, "shared_experts", name="deepseek", n_shared_experts=None)
    # The magnitude of two numbers, and of the factor alone.
    for change, want in (({"mscale": 1.0, "mscale_all_dim": 0.5}, (1 + 0.1 * np.log(4)) / (1 + 0.05 * np.log(4))), ({}, 1 + 0.1 * np.log(4)), ({"attention_factor": 0.75}, 0.75)):
        shutil.rmtree(h.path("bad"), ignore_errors=True)
        write_hf(h.path("bad"), tensors, {**good, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, **change}})
        got, err = show(h, h.path("bad"))
        m = got["model"] if got else {}
        h.check(f"config: yarn {change}", m.get("rope_magnitude") == float(np.float32(want)) and m.get("rope_high") == 32 and m.get("rope_low") == 1 and m.get("rope_original") == "128", err + str(m))
    one("layers of a kind that is not there", "PC6283", UNSUPPORTED, "layer_types", layer_types=["full_attention", "sliding_attention"])
    one("too few kinds", "PC6282", INVALID, "layer_types", layer_types=["full_attention"])
    one("experts only now and then", "PC6283", UNSUPPORTED, "decoder_sparse_step", name="qwen3moe", decoder_sparse_step=2)
    one("a head that is tied and there", "PC6286", UNSUPPORTED, "lm_head", t={**tensors, "lm_head.weight": np.zeros((300, 64), np.float32)})
    one("a head that is not there", "PC6284", INVALID, "lm_head", tie_word_embeddings=False)
    # What changes nothing is taken.
    write_hf(h.path("fine"), {**tensors, "model.layers.0.self_attn.rotary_emb.inv_freq": np.zeros(8, np.float32)},
             {**good, "attention_dropout": 0.1, "_attn": "x", "quantization_config": None, "sliding_window": 4, "use_sliding_window": False, "max_window_layers": 1, "layer_types": ["full_attention"] * 2})
    h.check("config: keys that change nothing", h.run("model", "check", h.path("fine"))[0] == 0)
    write_hf(h.path("slides"), tensors, {**good, "sliding_window": 4, "use_sliding_window": True, "max_window_layers": 1, "layer_types": ["full_attention", "sliding_attention"]})
    got, err = show(h, h.path("slides"))
    h.check("config: a window from a layer on", got is not None and got["model"]["window"] == "4" and got["model"]["window_first"] == "1", err)


def parts(h):
    """A model in several GGUF files: what the whole is, and lies of every kind."""
    tensors, keys = gguf_tensors("qwen2", weights("qwen2")), {**gguf_keys("qwen2"), **tokenizer_keys(300)}
    U16, I32 = 2, 5
    names = list(tensors)
    def write(change=lambda i, t, k: (t, k), n=3, name="part", without=()):
        for i in range(n):
            t = {k: tensors[k] for k in names[i * len(names) // n:(i + 1) * len(names) // n]}
            said = {"split.no": (U16, struct.pack("<H", i)), "split.count": (U16, struct.pack("<H", n)), "split.tensors.count": (I32, struct.pack("<i", len(names)))}
            t, k = change(i, t, {**(keys if i == 0 else {}), **said})
            if i not in without:
                write_gguf(h.path(f"{name}-{i + 1:05}-of-{n:05}.gguf"), t, k)
        return h.path(f"{name}-00001-of-{n:05}.gguf")
    whole = write_gguf(h.path("unparted.gguf"), tensors, keys)
    path = write()
    want, _ = show(h, whole)
    for part in (path, path.replace("-00001-of", "-00003-of")):
        got, err = show(h, part)
        h.check("parts: any of them is the model", got is not None and got["model"] == want["model"] and [t["name"] for t in got["tensors"]] == [t["name"] for t in want["tensors"]] and
                len({t["file"] for t in got["tensors"]}) == 3, err)
    cids = [sorted(x for x in h.run("model", "check", p, "--full")[1].split() if x.startswith(b"bafkrei")) for p in (path, whole)]
    h.check("parts: its tensors are the whole's", cids[0] == cids[1] and len(cids[0]) == len(tensors))
    h.run("model", "convert", path, h.path("joined.gguf"))
    h.run("model", "convert", whole, h.path("same.gguf"))
    h.check("parts: converted into one file", h.read("joined.gguf") == h.read("same.gguf"))
    status, _, err = h.run("model", "convert", whole, h.path("cut.gguf"), "--shard", "40KiB")
    made = sorted(x for x in os.listdir(h.dir) if x.startswith("cut-"))
    h.check("parts: written", status == 0 and len(made) > 3 and not os.path.exists(h.path("cut.gguf")), err)
    got, err = show(h, h.path(made[0]))
    h.check("parts: and read again", got is not None and got["model"] == want["model"], err)
    h.run("model", "convert", h.path(made[0]), h.path("back.gguf"))
    h.check("parts: to the same file", h.read("back.gguf") == h.read("same.gguf"))
    texts = [h.run("model", "pipeline", p)[1].replace(os.fsencode(p), b"") for p in (path, whole)]
    h.check("parts: the same pipeline", texts[0] == texts[1] and len(texts[0]) > 1000)
    status, _, err = h.run("model", "synth", "--shape", "qwen3-0.6b", *SMALL, "--shard", "20KiB", "--out", h.path("seeded.gguf"))
    h.check("parts: synth writes them", status == 0 and h.run("model", "check", h.path(min(x for x in os.listdir(h.dir) if x.startswith("seeded-"))))[0] == 0, err)
    def one(what, *words, code="PC4218", **how):
        refused(h, "parts: " + what, write(name="bad", **how), code, INVALID, *words)
    def said(name, kind, data, of=1):
        return lambda i, t, k: (t, {**k, name: (kind, data)} if i == of else k)
    one("a missing one", "part 2 of 3", without=(1,))
    one("another count", "split.count", change=said("split.count", U16, struct.pack("<H", 4)))
    one("another number", "split.no", change=said("split.no", U16, struct.pack("<H", 2)))
    one("no count", "split.count", change=lambda i, t, k: (t, {n: v for n, v in k.items() if i != 2 or n != "split.count"}))
    one("a count that is a text", "split.count", change=said("split.count", models.STRING, text("3")))
    one("fewer tensors than are said", "split.tensors.count", change=said("split.tensors.count", I32, struct.pack("<i", len(names) + 1), 0))
    one("a tensor twice", "token_embd", change=lambda i, t, k: ({**t, "token_embd.weight": tensors["token_embd.weight"]} if i == 2 else t,
                                                                   {**k, "split.tensors.count": (I32, struct.pack("<i", len(names) + 1))}))
    one("a part that says what the first says", change=said("qwen2.block_count", models.U32, struct.pack("<I", 1)))
    write(name="bad")
    with open(h.path("bad-00002-of-00003.gguf"), "r+b") as f:
        f.truncate(60)
    refused(h, "parts: one that is cut", h.path("bad-00001-of-00003.gguf"), "PC4211", INVALID)
    shutil.copy(h.path("alone.safetensors"), h.path("bad-00002-of-00003.gguf"))
    refused(h, "parts: one of another format", h.path("bad-00001-of-00003.gguf"), "PC4218", INVALID)
    for name in ("bad-00004-of-00003.gguf", "bad-00000-of-00000.gguf"):
        shutil.copy(h.path("bad-00001-of-00003.gguf"), h.path(name))
    refused(h, "parts: part 4 of 3", h.path("bad-00004-of-00003.gguf"), "PC4218", INVALID)
    refused(h, "parts: none at all", h.path("bad-00000-of-00000.gguf"), "PC4218", INVALID)
    shutil.copy(whole, h.path("one-00001-of-00001.gguf"))
    h.check("parts: one alone need not say so", h.run("model", "check", h.path("one-00001-of-00001.gguf"))[0] == 0)


def file_faults(h):
    tensors, good = hf_tensors("qwen2", weights("qwen2")), config("qwen2")
    refused(h, "nothing there", h.path("nothing"), "PC6280", INVALID, "there is no such file or folder")
    os.makedirs(h.path("empty"))
    refused(h, "an empty folder", h.path("empty"), "PC6280", INVALID)
    h.write("alone.safetensors", safetensors({"x": ("F32", [1], bytes(4))}))
    refused(h, "safetensors alone", h.path("alone.safetensors"), "PC6280", INVALID, "config.json")
    np.save(h.path("x.npy"), np.zeros(3))
    refused(h, "another file of tensors", h.path("x.npy"), "PC6280", INVALID)
    for what, text_ in (("no JSON", b"{"), ("a list", b"[]"), ("a key twice", json.dumps(good).encode()[:-1] + b', "vocab_size": 300}'),
                        ("a text that ends early", json.dumps(good).encode().replace(b'"qwen2"', b'"qwen2\\u0000x"')), ("something behind", json.dumps(good).encode() + b"x"), ("more names than can be looked at", json.dumps(dict(good, **{f"_{i}": 1 for i in range(1024)})).encode()),
                        ("a number with a zero in front", json.dumps(good).encode().replace(b'"vocab_size": ', b'"vocab_size": 0')), ("a byte of no text", json.dumps(good).encode().replace(b'"qwen2"', b'"qwen2"\x01'))):
        write_hf(h.path("odd"), tensors, good)
        h.write("odd/config.json", text_)
        refused(h, "config.json: " + what, h.path("odd"), "PC6280", INVALID)
    # Types that weights cannot have.
    for dtype, code in (("F64", "PC6287"), ("I32", "PC6287")):
        folder = write_hf(h.path("typed"), tensors, good)
        data = {k: ("F32", list(a.shape), a.tobytes()) for k, a in tensors.items()}
        data["model.norm.weight"] = (dtype, [64], bytes(64 * (8 if dtype == "F64" else 4)))
        h.write("typed/model.safetensors", safetensors(data))
        refused(h, "a norm of " + dtype, folder, code, UNSUPPORTED, "model.norm.weight")
    # Indexes that lie.
    def index(what, change, code="PC4218", status=INVALID):
        shutil.rmtree(h.path("shards"), ignore_errors=True)
        write_hf(h.path("shards"), tensors, good, shards=2)
        place = h.path("shards/model.safetensors.index.json")
        with open(place) as f:
            said = json.load(f)
        change(said["weight_map"])
        with open(place, "w") as f:
            json.dump(said, f)
        refused(h, "index: " + what, h.path("shards"), code, status)
    first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
    index("a tensor of the other file", lambda m: m.update({next(k for k in m if m[k] == first): second}))
    index("a tensor that is not there", lambda m: m.update(ghost=first))
    index("a tensor that it does not name", lambda m: m.pop(next(iter(m))))
    index("a file that is not there", lambda m: m.update({next(iter(m)): "gone.safetensors"}))
    index("a path that leads away", lambda m: m.update({next(iter(m)): "../odd/model.safetensors"}))
    index("a number for a file", lambda m: m.update({next(iter(m)): 1}))
    index("nothing", lambda m: m.clear())
    h.write("shards/model.safetensors.index.json", b"{}")
    refused(h, "index: no map", h.path("shards"), "PC4218", INVALID)
    write_hf(h.path("shards"), tensors, good, shards=2)
    whole = h.read("shards/model.safetensors.index.json")
    for what, text_ in (("two maps", whole.rstrip()[:-1] + b', "weight_map": {}}'), ("something behind", whole + b"x"), ("a name that ends early", whole.replace(first.encode(), first.encode() + b"\\u0000x"))):
        h.write("shards/model.safetensors.index.json", text_)
        refused(h, "index: " + what, h.path("shards"), "PC4218", INVALID)
    parts(h)
    # Cut anywhere, a file is refused, with one code and no more.
    write_gguf(h.path("whole.gguf"), gguf_tensors("qwen2", weights("qwen2")), gguf_keys("qwen2"))
    whole = h.read("whole.gguf")
    for n in [*range(0, 200, 7), *range(200, len(whole), len(whole) // 40), len(whole) - 1]:
        h.write("cut.gguf", whole[:n])
        status, _, err = h.run("model", "check", h.path("cut.gguf"))
        h.check(f"cut after {n} bytes", status == INVALID and err.count("error: PC") == 1 and "PC4211" in err, err)


# ---- weights from a seed ----

ROLES = "tok_embd rope_freqs attn_norm q q_bias k k_bias v v_bias q_norm k_norm o o_bias post_attn_norm ffn_norm gate up down router gate_experts up_experts down_experts post_ffn_norm output_norm output shared_router shared_gate shared_up shared_down qkv gate_up".split()


def drawn(seed, role, layer, expert, shape):
    u = models.uniform(seed, ROLES.index(role) + 256 * expert, layer, shape)
    if role.endswith("bias"):
        return u / np.float32(8)
    if role.endswith("norm"):
        return (1 + np.rint(u.astype(np.float64) * 2 ** 13) / 2 ** 16).astype(np.float32)
    return u * np.float32(np.sqrt(3 / shape[-1]))


SMALL = ["--layers", "2", "--vocab", "300", "--context", "128", "--set", "n_embd=64", "--set", "n_heads=4", "--set", "n_kv_heads=2", "--set", "head_dim=32", "--set", "n_ff=96"]
EXPERTS = ["--set", "n_experts=4", "--set", "n_used=2"]
SHAPES = {"qwen2.5-0.5b": [], "qwen3-0.6b": [], "llama3-8b": [], "llama3.2-1b": [], "mistral-7b": [], "mixtral-8x7b": EXPERTS, "qwen3-30b-a3b": EXPERTS, "gemma-2b": [], "gemma2-2b": [],
          "qwen1.5-moe-a2.7b": [*EXPERTS, "--set", "n_ff_shared=160"], "qwen2.5-7b-yarn": [], "phi3-mini-4k": [], "phi4-mini-4k": ["--set", "rope_dims=24"],
          "deepseek-moe-16b": [*EXPERTS, "--set", "n_ff_shared=192", "--set", "n_ff_dense=160"]}


def stored(path):
    """The bytes of all tensors of a file of either format, by the formats' definitions."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] != b"GGUF":
        n, = struct.unpack_from("<Q", data)
        return {k: data[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]] for k, v in json.loads(data[8:8 + n]).items() if k != "__metadata__"}
    at = 24
    n_tensors, n_keys = struct.unpack_from("<QQ", data, 8)
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

    def number(form):
        nonlocal at
        at += struct.calcsize(form)
        return struct.unpack_from(form, data, at - struct.calcsize(form))[0]

    def text():
        nonlocal at
        n = number("<Q")
        at += n
        return data[at - n:at].decode()

    def skip(kind):
        nonlocal at
        if kind == 8:
            text()
        elif kind == 9:
            of, n = number("<I"), number("<Q")
            for _ in range(n):
                skip(of)
        else:
            at += sizes[kind]

    for _ in range(n_keys):
        text()
        skip(number("<I"))
    places = {}
    for _ in range(n_tensors):
        name = text()
        shape = [number("<Q") for _ in range(number("<I"))]
        width = {0: 4, 1: 2, 30: 2}[number("<I")]
        places[name] = (number("<Q"), width * int(np.prod(shape)))
    begin = -(-at // 32) * 32  # no file of this test has another alignment
    return {k: data[begin + o:begin + o + n] for k, (o, n) in places.items()}


READ = {}  # path: when it was written, what it holds


def values(h, t, path=None):
    """A tensor of a listing, as numbers: of each file the first one by the tool, too."""
    path = path or t["file"]
    written = os.stat(path).st_mtime_ns, os.stat(path).st_ino
    if READ.get(path, (None,))[0] != written:
        READ[path] = written, stored(path)
        status, out, err = h.run("tensor", "convert", path, "-", "--tensor", t["name"])
        h.check(f"{path}: a tensor by itself", status == 0 and out == READ[path][1][t["name"]], err)
    kind, shape = t["type"][:-1].split("[")
    return np.frombuffer(READ[path][1][t["name"]], {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}[kind]).reshape([int(x) for x in shape.split(",")])


def synth(h):
    seed = 0x123456789
    for shape, more in SHAPES.items():
        offset = np.float32(1) if shape.startswith("gemma") else np.float32(0)
        for out, kind in (("s.gguf", "f32"), ("s", "bf16")):
            shutil.rmtree(h.path("s"), ignore_errors=True)
            status, _, err = h.run("model", "synth", "--shape", shape, "--seed", hex(seed), *SMALL, *more, "--type", kind, "--out", h.path(out))
            h.check(f"synth {shape} {out}", status == 0, err)
            got, err = show(h, h.path(out))
            h.check(f"synth {shape} {out}: read", got is not None, err)
            for t in got["tensors"] if got else []:
                if t["role"] == "rope_freqs":
                    continue
                a, role = values(h, t), t["role"]
                if a.ndim == 3:
                    want = np.stack([drawn(seed, role, t["layer"], e, a.shape[1:]) for e in range(len(a))])
                else:
                    want = drawn(seed, role, t["layer"], t["expert"], a.shape)
                if out == "s.gguf" and shape.startswith(("llama", "mi", "deepseek")) and role in ("q", "k"):
                    want = models.neighbours(want, 32)
                if out == "s" and role.endswith("norm"):
                    want = want - offset
                small = role.endswith(("norm", "bias")) or role in ("router", "shared_router")
                h.check(f"synth {shape} {out} {t['name']}", a.dtype == (np.float32 if small or kind == "f32" else np.uint16) and
                        a.tobytes() == models.raw(want, "F32" if a.dtype == np.float32 else "BF16"))
    # Blocks are what tensor convert makes of the same numbers, rows that are no blocks of 256 are q8_0.
    for kind, want in (("q8_0", "q8_0"), ("q4_k", "q8_0"), ("q4_0", "q4_0"), ("f16", "f16")):
        h.run("model", "synth", "--shape", "qwen3-0.6b", "--seed", "1", *SMALL, "--out", h.path("f.gguf"))
        h.run("model", "synth", "--shape", "qwen3-0.6b", "--seed", "1", *SMALL, "--type", kind, "--out", h.path("q.gguf"))
        h.run("tensor", "convert", h.path("f.gguf"), h.path("w.bin"), "--tensor", "blk.0.attn_q.weight", "--to", want)
        status, out, err = h.run("tensor", "convert", h.path("q.gguf"), "-", "--tensor", "blk.0.attn_q.weight")
        h.check(f"synth as {kind}", status == 0 and out == h.read("w.bin"), err)
    with open(h.path("f.gguf"), "rb") as f:
        first = f.read()
    h.run("model", "synth", "--shape", "qwen3-0.6b", "--seed", "1", *SMALL, "--out", h.path("f2.gguf"))
    h.check("the same seed, the same bytes", h.read("f2.gguf") == first)
    h.run("model", "synth", "--shape", "qwen3-0.6b", "--seed", "2", *SMALL, "--out", h.path("f2.gguf"))
    h.check("another seed, other bytes", h.read("f2.gguf") != first)
    # The tokenizer: a token a byte.
    shutil.rmtree(h.path("s"), ignore_errors=True)
    h.run("model", "synth", "--shape", "qwen3-0.6b", *SMALL, "--shard", "60KiB", "--out", h.path("s"))
    with open(h.path("s/tokenizer.json")) as f:
        tokens = json.load(f)
    printable = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    others = [b for b in range(256) if b not in printable]
    letters = {b: chr(b) if b in printable else chr(0x100 + others.index(b)) for b in range(256)}
    h.check("a token a byte", tokens["model"]["vocab"] == {letters[b]: b for b in range(256)} and [t["content"] for t in tokens["added_tokens"]] == ["<|begin|>", "<|end|>"])
    h.check("sharded", len([x for x in os.listdir(h.path("s")) if x.startswith("model-")]) > 2 and h.run("model", "check", h.path("s"), "--full")[0] == 0)
    for what, args, code, status in (("no shape", ["--shape", "gpt-5", "--out", "x"], "PC6289", INVALID), ("a vocabulary without room", ["--shape", "qwen3-0.6b", *SMALL, "--set", "n_vocab=100", "--out", "x"], "PC6290", INVALID),
                                     ("a folder that is there", ["--shape", "qwen3-0.6b", *SMALL, "--out", h.path("s")], "PC0024", 1), ("no out", ["--shape", "qwen3-0.6b"], "PC0010", 2),
                                     ("an unknown size", ["--shape", "qwen3-0.6b", "--set", "n_emb=3", "--out", "x"], "PC0010", 2), ("no number", ["--shape", "qwen3-0.6b", "--layers", "x", "--out", "x"], "PC0010", 2),
                                     ("a type of no weights", ["--shape", "qwen3-0.6b", "--type", "i32", "--out", "x"], "PC0010", 2), ("no layers", ["--shape", "qwen3-0.6b", "--layers", "0", "--out", "x"], "PC6282", INVALID),
                                     ("blocks in safetensors", ["--shape", "qwen3-0.6b", *SMALL, "--type", "q8_0", "--out", h.path("blocks")], "PC4214", INVALID),
                                     ("a tokenizer that is none", ["--shape", "qwen3-0.6b", *SMALL, "--tokenizer", h.path("w.bin"), "--out", "x.gguf"], "PC4211", INVALID)):
        got, _, err = h.run("model", "synth", *args)
        h.check("synth: " + what, got == status and code in err, err)
    # A tokenizer of another file.
    write_gguf(h.path("tokens.gguf"), {"x": np.zeros(1, np.float32)}, tokenizer_keys(300))
    status, _, err = h.run("model", "synth", "--shape", "qwen3-0.6b", *SMALL, "--tokenizer", h.path("tokens.gguf"), "--out", h.path("f2.gguf"))
    h.check("a tokenizer that comes along", status == 0 and text("t299") in h.read("f2.gguf") and h.run("model", "check", h.path("f2.gguf"))[0] == 0, err)


# ---- other files of the same model ----

def convert(h):
    for name in FAMILIES:
        w = weights(name)
        folder, file = write_hf(h.path("c"), hf_tensors(name, w), config(name)), h.path("c.gguf")
        status, _, err = h.run("model", "convert", folder, file, "--no-tokenizer")
        if not FAMILIES[name]["gguf"]:
            h.check(f"convert {name}: what GGUF cannot say", status == INVALID and "PC6290" in err, err)
            shutil.rmtree(folder)
            continue
        got, why = show(h, file) if status == 0 else (None, err)
        h.check(f"convert {name} to GGUF", got is not None, why)
        want = gguf_tensors(name, w)
        for t in got["tensors"] if got else []:
            a = values(h, t)
            # The divisors of frequencies are f32's nearest of two computations; Gemma's norms were rounded when 1 was taken off.
            near = np.allclose(a, want[t["name"]], rtol=2e-7, atol=1e-7) if t["role"] == "rope_freqs" or FAMILIES[name]["gelu"] else a.tobytes() == want[t["name"]].tobytes()
            h.check(f"convert {name} {t['name']}", near)
        shutil.rmtree(h.path("back"), ignore_errors=True)
        status, _, err = h.run("model", "convert", file, h.path("back"), "--no-tokenizer")
        there, why = show(h, h.path("back")) if status == 0 else (None, err)
        # A window of Llama is Mistral's; else it is the model that it was.
        texts = [h.run("model", "pipeline", p, "--context", str(n))[1].replace(os.fsencode(q), b"") for n in (16, 100) for p, q in ((folder, folder + "/model.safetensors"), (h.path("back"), h.path("back/model.safetensors")))]
        h.check(f"convert {name} back: the same pipelines", texts[0] == texts[1] and texts[2] == texts[3] and len(texts[0]) > 1000)
        h.check(f"convert {name} back", there is not None and there["model"] == show(h, folder)[0]["model"], why)
        for t in there["tensors"] if there else []:
            same = values(h, t).tobytes() == values(h, t, h.path("c/model.safetensors")).tobytes()
            h.check(f"convert {name} back {t['name']}", same or FAMILIES[name]["gelu"])
        shutil.rmtree(h.path("c"))
    # A tokenizer that is brought along is one, and no larger than the vocabulary; a folder's is looked at by `check`, too.
    whole = write_gguf(h.path("words.gguf"), gguf_tensors("qwen2", weights("qwen2")), gguf_keys("qwen2"))
    status, _, err = h.run("model", "convert", whole, h.path("words"), "--tokenizer", whole)
    h.check("a GGUF file is no tokenizer of a folder", status == INVALID and "PC7001" in err and not os.path.exists(h.path("words")), err)
    h.run("model", "synth", "--shape", "qwen3-0.6b", *SMALL, "--out", h.path("small"))
    words = json.loads(h.read("small/tokenizer.json"))
    words["model"]["vocab"].update((f"t{i}", i) for i in range(258, 600))
    larger = h.write("larger.json", json.dumps(words).encode())
    status, _, err = h.run("model", "convert", whole, h.path("words"), "--tokenizer", larger)
    h.check("a tokenizer of more tokens than the model has", status == INVALID and "PC6288" in err and not os.path.exists(h.path("words")), err)
    h.check("a folder without a tokenizer", h.run("model", "convert", whole, h.path("words"), "--no-tokenizer")[0] == 0 and h.run("model", "check", h.path("words"))[0] == 0)
    for what, text_of, code in (("that is none", b"{}", "PC7001"), ("of more tokens than the model has", h.read("larger.json"), "PC6288")):
        h.write("words/tokenizer.json", text_of)
        status, _, err = h.run("model", "check", h.path("words"))
        h.check(f"check: a tokenizer {what}", status == INVALID and code in err, err)
    # Elsewhere a part of a head is turned by llama.cpp alone.
    part = write_gguf(h.path("part.gguf"), gguf_tensors("qwen2", weights("qwen2")), {**gguf_keys("qwen2"), "qwen2.rope.dimension_count": (models.U32, struct.pack("<I", 8))})
    got, why = show(h, part)
    h.check("half of a head turned", got is not None and got["model"]["rope_dims"] == "8" and b"dims = 8;" in h.run("model", "pipeline", part)[1], why)
    status, _, err = h.run("model", "convert", part, h.path("part"), "--no-tokenizer")
    h.check("half of a head turned: what config.json cannot say", status == INVALID and "PC6290" in err and "part of a head" in err, err)
    folder = write_hf(h.path("c"), hf_tensors("qwen3", weights("qwen3")), config("qwen3"), dtype="BF16")
    h.write("c/tokenizer.json", h.read("small/tokenizer.json"))
    h.run("model", "convert", folder, h.path("half32"))
    status, _, err = h.run("model", "convert", folder, h.path("half"), "--type", "f16")
    got, why = show(h, h.path("half"))
    kinds = {t["name"]: t["type"].split("[")[0] for t in got["tensors"]} if got else {}
    h.check("norms stay f32", kinds.get("model.norm.weight") == "f32" and kinds.get("model.layers.0.mlp.up_proj.weight") == "f16", err + why)
    h.check("the tokenizer stays", h.read("half/tokenizer.json") == h.read("small/tokenizer.json"))
    h.run("model", "convert", folder, h.path("parts"), "--shard", "30KiB")
    status, out, err = h.run("model", "check", h.path("parts"), "--full")
    h.check("in parts", status == 0 and len([x for x in os.listdir(h.path("parts")) if x.startswith("model-")]) > 2 and
            sorted(x for x in out.split() if x.startswith(b"bafkrei")) == sorted(x for x in h.run("model", "check", h.path("half32"), "--full")[1].split() if x.startswith(b"bafkrei")), err)
    h.run("model", "convert", folder, h.path("q.gguf"), "--type", "q8_0", "--no-tokenizer")
    h.run("model", "convert", h.path("q.gguf"), h.path("q2.gguf"))
    h.check("what keeps its type keeps its bytes", h.read("q.gguf") == h.read("q2.gguf"))
    for what, args, code, status in (("another format without a word", [folder, "x.gguf"], "PC6290", INVALID), ("into itself", [h.path("q.gguf"), h.path("q.gguf")], "PC6290", INVALID),
                                     ("blocks in safetensors", [h.path("q.gguf"), h.path("y"), "--no-tokenizer"], "PC4214", INVALID), ("a tokenizer and none", [folder, "x.gguf", "--no-tokenizer", "--tokenizer", "t"], "PC0010", 2)):
        got, _, err = h.run("model", "convert", *args)
        h.check("convert: " + what, got == status and code in err, err)


def pipelines(h):
    """The text alone; logits.py runs it."""
    for name in FAMILIES:
        w = weights(name)
        path = write_gguf(h.path(name + ".gguf"), gguf_tensors(name, w), gguf_keys(name)) if FAMILIES[name]["gguf"] else write_hf(h.path(name), hf_tensors(name, w), config(name))
        for more in ([], ["--unrolled"], ["--all-logits"]):
            status, out, err = h.run("model", "pipeline", path, "--batch", "2", "--chunk", "3", "--context", "16", *more)
            h.check(f"pipeline {name} {more}", status == 0 and (b"repeat" in out) == (more != ["--unrolled"]) and (b"last_rows" in out) == (more != ["--all-logits"]), err)
            h.write("p.cfg", out)
            h.check(f"pipeline {name} {more}: laid out", h.run("fmt", "--check", h.path("p.cfg"))[0] == 0)
    for what, args in (("no batch", ["--batch", "0"]), ("no chunk", ["--chunk", "0"]), ("more context than the model has", ["--context", "129"]), ("a chunk beyond the context", ["--chunk", "9", "--context", "8"])):
        status, _, err = h.run("model", "pipeline", path, *args)
        h.check("pipeline: " + what, status == INVALID and "PC6290" in err, err)


if __name__ == "__main__":
    h = Harness()
    {"read": lambda: (families(h), gguf_faults(h), config_faults(h), file_faults(h)), "synth": lambda: synth(h), "convert": lambda: (convert(h), pipelines(h))}[sys.argv[1]]()
    h.finish()
