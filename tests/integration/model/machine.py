"""`pipectl vm generate`: a model in a machine of the GPU VM gives the logits of `pipectl generate`, to the bit, of every family, on every device; one submission a
token; a layer that is passed by is a model without it; what the regulator does where it acts and where it observes; what is refused.
usage: machine.py families|deep|shape|regulator|refusals [few] DEVICE...     few: a third of the features"""
import json
import os
import struct
import sys

import numpy as np

from harness import Harness

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from present import present  # noqa: E402

SMALL = ["--set", "n_embd=64", "--set", "n_heads=4", "--set", "n_kv_heads=2", "--set", "head_dim=16", "--set", "n_ff=96", "--vocab", "300", "--context", "256"]
PROMPT = "A fox, 12345."
N = 3


def synth(h, name, shape, *args, sizes=SMALL):
    path = h.path(name)
    status, _, err = h.run("model", "synth", "--shape", shape, "--seed", "1", "--out", path, *sizes, *args)
    h.check(f"synth {name}", status == 0, err)
    return path


def plain(h, model, *args, prompt=PROMPT, tokens=N, context=64, device="cpu"):
    out = h.path("plain.npy")
    status, text, err = h.run("generate", "--model", model, "--prompt", prompt, "--tokens", str(tokens), "--context", str(context), "--json", "--logits", out,
                              "--ignore-end", "--backend", device, *args)
    if not h.check(f"generate {os.path.basename(model)}", status == 0, err[:1500]):
        return None, None
    return json.loads(text), np.load(out).view(np.uint32)


def machine(h, what, model, device, *args, prompt=PROMPT, tokens=N, context=64):
    out = h.path("machine.npy")
    status, text, err = h.run("vm", "generate", "--model", model, "--prompt", prompt, "--tokens", str(tokens), "--context", str(context), "--json", "--logits", out,
                              "--ignore-end", "--backend", device, *args)
    if not h.check(what, status == 0, err[:1500]):
        return None, None
    return json.loads(text), np.load(out).view(np.uint32)


def tokens_of(document):
    return document["sequences"][0]["tokens"]


def same(h, what, a, b):
    return h.check(what, a is not None and b is not None and a.shape == b.shape and bool((a == b).all()),
                   "no logits" if a is None or b is None else f"{int((a != b).sum())} of {a.size} differ")


def held(h, what, got, want, document, other):
    """Logits and tokens of a machine against those of generate, and its count of submissions."""
    if not same(h, f"{what}: logits", got, want):
        return
    h.check(f"{what}: tokens", tokens_of(document) == tokens_of(other), f"{tokens_of(document)} {tokens_of(other)}")
    ran = int(document["tokens_run"])
    h.check(f"{what}: a submission a token", int(document["submissions"]) == ran == document["prompt_tokens"] + N - 1, str(document["submissions"]))


# ---- families on devices

FAMILIES = {"qwen2.5-0.5b": [], "qwen3-0.6b": [], "llama3.2-1b": ["--type", "q8_0"], "gemma-2b": ["--type", "bf16"]}
MORE = {"gemma2-2b": [], "mistral-7b": ["--type", "f16"], "mixtral-8x7b": [], "qwen3-30b-a3b": [], "phi3-mini-4k": ["--set", "window=7"], "phi4-mini-4k": ["--set", "rope_dims=12"],
        "deepseek-moe-16b": ["--set", "window=7", "--set", "n_ff_shared=192", "--set", "n_ff_dense=80", "--set", "n_experts=4", "--set", "n_used=2"]}


def families(h, devices):
    drawn = ["--temperature", "0.8", "--seed", "7", "--top-k", "40", "--top-p", "0.9", "--repetition-penalty", "1.1"]
    for device in devices:
        shapes = dict(FAMILIES, **MORE) if device == "cpu" else FAMILIES if device.startswith("opencl") else {k: FAMILIES[k] for k in ("qwen2.5-0.5b", "gemma-2b")}
        for shape, more in shapes.items():
            model = synth(h, f"{shape}.gguf", shape, "--layers", "2", *more)
            other, want = plain(h, model)
            document, got = machine(h, f"{shape} on {device}", model, device)
            if document and other:
                held(h, f"{shape} on {device}", got, want, document, other)
                h.check(f"{shape}: instances are layers", document["instances"] == 2 == len(document["layers"]), str(document["instances"]))
    # Drawn by the sampler of generate, with penalties; and a folder of safetensors.
    model = synth(h, "folder", "qwen2.5-0.5b", "--layers", "2")
    other, want = plain(h, model, *drawn)
    document, got = machine(h, "drawn", model, devices[0], *drawn)
    if document and other:
        held(h, "drawn", got, want, document, other)
    # A fault that is to be seen: other logits are not taken for the same.
    if want is not None:
        wrong = want.copy()
        wrong.flat[5] ^= 1
        found = int((wrong != got).sum())
        h.check("a flipped bit is seen", found == 1, str(found))
        h.planted("a machine's logits differ in a bit", "vm generate", "the logits of generate", f"{found} of {got.size} differ")


# ---- many layers, real sizes

def deep(h, devices):
    model = synth(h, "deep.gguf", "qwen2.5-1.5b", "--layers", "28")
    other, want = plain(h, model)
    for device in devices:
        document, got = machine(h, f"28 layers on {device}", model, device)
        if document and other:
            held(h, f"28 layers on {device}", got, want, document, other)
            h.check("28 instances", document["instances"] == 28 == len(document["layers"]), str(document["instances"]))
            norms = [layer["activation_norm"] for layer in document["layers"]]
            h.check("norms are told", all(n > 0 for n in norms) and [layer["layer"] for layer in document["layers"]] == list(range(28)), str(norms))
            h.check("and nothing is out of order", all(layer["layer_status"] == 0 and layer["scale_factor"] == 1 and layer["active"] for layer in document["layers"]))
            h.check("time of layers is told, or there is no clock", len(document["advice"]["layer_ns"]) in (0, 28), str(document["advice"]))


def shape(h, devices):
    """A layer of the real shape of qwen2.5-1.5b: 1,536 features, 8,960 of the feed-forward block, 12 heads of 128; or few of them."""
    features, wide, sizes = 1536, 8960, []
    if FEW:
        features, wide = 384, 2240
        sizes = ["--set", f"n_embd={features}", "--set", f"n_ff={wide}", "--set", "n_heads=3", "--set", "n_kv_heads=1"]
    model = synth(h, "shape.gguf", "qwen2.5-1.5b", "--layers", "1", "--vocab", "300", "--type", "bf16", sizes=sizes)
    for device in devices:
        other, want = plain(h, model, device=device)
        document, got = machine(h, f"a layer of qwen2.5-1.5b on {device}", model, device)
        if document and other:
            held(h, f"a layer of qwen2.5-1.5b on {device}", got, want, document, other)
            h.check("registers are as wide as the widest value", document["width"] == wide and document["n_embd"] == features, str(document["width"]))


# ---- layers and the regulator

def tensors(path):
    """Header and bytes of a safetensors file."""
    data = open(path, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + n]), data[8 + n:]


def write_folder(h, name, config, header, data):
    folder = h.path(name)
    os.makedirs(folder, exist_ok=True)
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config, f)
    return folder


def without(h, model, layer):
    """The model of one layer fewer."""
    header, data = tensors(os.path.join(model, "model.safetensors"))
    config = json.load(open(os.path.join(model, "config.json")))
    out, kept, parts = {}, 0, []
    for name, t in sorted(((k, v) for k, v in header.items() if k != "__metadata__"), key=lambda kv: kv[1]["data_offsets"]):
        words = name.split(".")
        if words[:2] == ["model", "layers"]:
            number = int(words[2])
            if number == layer:
                continue
            words[2] = str(number - (number > layer))
        a, b = t["data_offsets"]
        out[".".join(words)] = dict(t, data_offsets=[kept, kept + b - a])
        parts.append(data[a:b])
        kept += b - a
    config["num_hidden_layers"] -= 1
    for key in ("max_window_layers", "layer_types"):
        if isinstance(config.get(key), list):
            del config[key][layer]
    return write_folder(h, f"without-{layer}", config, out, b"".join(parts))


def louder(h, model, token, by):
    """The model whose embedding of a token is so many times as large."""
    header, data = tensors(os.path.join(model, "model.safetensors"))
    t = header["model.embed_tokens.weight"]
    rows = np.frombuffer(data[t["data_offsets"][0]:t["data_offsets"][1]], np.float32).reshape(t["shape"]).copy()
    rows[token] *= np.float32(by)
    a, b = t["data_offsets"]
    return write_folder(h, "louder", json.load(open(os.path.join(model, "config.json"))), header, data[:a] + rows.tobytes() + data[b:])


def copy_tokenizer(model, folder):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if os.path.exists(os.path.join(model, name)):
            with open(os.path.join(model, name), "rb") as f, open(os.path.join(folder, name), "wb") as g:
                g.write(f.read())
    return folder


def regulator(h, devices):
    model = synth(h, "three", "qwen2.5-0.5b", "--layers", "3")
    # A layer that is passed by.
    for layer in (0, 1):
        fewer = copy_tokenizer(model, without(h, model, layer))
        other, want = plain(h, fewer)
        for device in devices:
            document, got = machine(h, f"without layer {layer} on {device}", model, device, "--skip", str(layer))
            if document and other:
                held(h, f"without layer {layer} on {device}", got, want, document, other)
                h.check("it is not active", [x["active"] for x in document["layers"]] == [k != layer for k in range(3)], str(document["layers"]))
    # An activation explodes at the last token of the prompt.
    other, calm = plain(h, model, tokens=1)
    bang = ord("!")
    loud = copy_tokenizer(model, louder(h, model, bang, 1000))
    status, text, err = h.run("tokenizer", "encode", os.path.join(model, "tokenizer.json"), "A fox!", "--json")
    h.check("the token is a byte's", status == 0 and json.loads(text)["ids"][-1] == bang, f"{text} {err}")
    other, want = plain(h, loud, prompt="A fox!", tokens=1)
    for device in devices:
        document, got = machine(h, f"observed on {device}", loud, device, prompt="A fox!", tokens=1)
        seen = same(h, f"observed on {device}: logits are the pipeline's", got, want)
        status, text, err = h.run("vm", "generate", "--model", loud, "--prompt", "A fox!", "--tokens", "1", "--context", "64", "--json", "--logits", h.path("acts.npy"), "--ignore-end",
                                  "--backend", device, "--act")
        if not h.check(f"acting on {device}", status == 0, err[:1500]) or not seen:
            continue
        acts = json.loads(text)
        damped = np.load(h.path("acts.npy")).view(np.uint32)
        first, second = acts["layers"][0], acts["layers"][1]
        h.check("the anomaly is told", document["layers"][0]["layer_status"] == 1 == first["layer_status"], str(first))
        h.check("observed: no scale", all(x["scale_factor"] == 1 for x in document["layers"]), str(document["layers"]))
        h.check("acting: the next layer is scaled to the mean norm", 0 < second["scale_factor"] < 0.5 and
                abs(second["scale_factor"] * first["activation_norm"] / first["mean_norm"] - 1) < 1e-5, f"{first} {second}")
        h.check("and damped", second["activation_norm"] < document["layers"][1]["activation_norm"] / 2, f"{second} {document['layers'][1]}")
        if h.check("and logits are others", bool((damped != want).any())) and device == devices[0]:
            h.planted("vm: an activation explodes", "a model in a machine", "the regulator: anomaly",
                      f"layer 0: norm {first['activation_norm']:.6g}, mean {first['mean_norm']:.6g}; scale {second['scale_factor']:.6g}")
        # What is wanted in place of the mean.
        status, text, err = h.run("vm", "generate", "--model", loud, "--prompt", "A fox!", "--tokens", "1", "--context", "64", "--json", "--ignore-end", "--backend", device,
                                  "--act", "--target", "2", "--epsilon", "1e-3")
        h.check("a target", status == 0, err[:1500])
        if status == 0:
            layers = json.loads(text)["layers"]
            h.check("scaled to it", abs(layers[1]["scale_factor"] * layers[0]["activation_norm"] / 2 - 1) < 1e-5, str(layers))


# ---- what is refused, and advice

def refusals(h, devices):
    model = synth(h, "three.gguf", "qwen2.5-0.5b", "--layers", "3")
    ask = ["vm", "generate", "--model", model, "--prompt", PROMPT, "--tokens", "1", "--backend", "cpu"]

    def refused(what, code, done, planted=None):
        status, _, err = done
        if h.check(f"{what}: {code}", status != 0 and code in err and err.count("error:") == 1, f"{status} {err}") and planted:
            h.planted(*planted, err.strip().splitlines()[0])

    small = h.run("vm", "generate", "--heap", "4096", *ask[2:])
    refused("a heap too small", "PC4403", small, planted=("a model larger than the heap", "vm generate", "PC4403"))
    last = h.run("vm", "generate", "--skip", "2", *ask[2:])
    refused("the last layer passed by", "PC4408", last, planted=("the layer with the head is skipped", "vm generate", "PC4408"))
    refused("no such layer", "PC0010", h.run(*ask, "--skip", "3"))
    refused("a part verified", "PC0010", h.run(*ask, "--verify", "sample=0.5"))
    refused("a context too long", "PC6290", h.run(*ask, "--context", "1024"))
    status, _, err = h.run("vm", "generate", "--model", model, "--tokens", "1", "--backend", "cpu")
    h.check("no prompt", status == 2 and "PC0010" in err, err)
    status, text, err = h.run(*ask, "--json", "--verify", "all", "--budget", "400000", "--context", "64", "--ignore-end")
    h.check("verified beside the reference", status == 0, err)
    if status == 0:
        advice = json.loads(text)["advice"]
        h.check("a budget is pressed, and the oldest goes", advice["pressed"] and advice["evict"] == 0 and "prefetch" not in advice, str(advice))
    status, text, err = h.run(*ask, "--json", "--context", "64")
    h.check("else the next is fetched", status == 0 and not json.loads(text)["advice"]["pressed"] and json.loads(text)["advice"]["prefetch"] == 0, f"{text} {err}")
    many = synth(h, "many.gguf", "qwen2.5-0.5b", "--layers", "1025", sizes=["--set", "n_embd=16", "--set", "n_heads=1", "--set", "n_kv_heads=1", "--set", "head_dim=16", "--set", "n_ff=16",
                                                                             "--vocab", "259", "--context", "64"])
    status, _, err = h.run("vm", "generate", "--model", many, "--prompt", "x", "--tokens", "1", "--backend", "cpu")
    if h.check("more layers than instances: PC6293", status != 0 and "PC6293" in err, f"{status} {err}"):
        h.planted("a model of more layers than a machine has instances", "vm generate", "PC6293", err.strip().splitlines()[0])
    status, text, err = h.run(*ask, "--json", "--context", "64", "--act", "--target", "2", "--epsilon", "0.001")
    h.check("a target below every norm scales", status == 0 and all(0 < x["scale_factor"] < 1 for x in json.loads(text)["layers"][1:]), f"{text} {err}")
    # Text for people, and every way to draw.
    status, out, err = h.run("vm", "generate", "--model", model, "--prompt", PROMPT, "--tokens", "2", "--context", "64", "--backend", "cpu", "--ignore-end", "--temperature", "0.9",
                             "--seed", "3", "--top-k", "20", "--top-p", "0.95", "--min-p", "0.01", "--repetition-penalty", "1.1", "--presence-penalty", "0.1", "--frequency-penalty", "0.1")
    h.check("lines of layers", status == 0 and all(f"layer {k}: norm " in err for k in range(3)) and "submissions for" in err, f"{out} {err}")
    status, out, err = h.run("vm", "generate", "--model", model, "--tokenizer", h.path("none.json"), "--prompt", "x", "--backend", "cpu")
    h.check("no such tokenizer", status != 0, err)
    status, out, err = h.run("vm", "generate", "--model", model, "--family", "chatml", "--chat", "--system", "Be brief.", "--prompt", "x", "--tokens", "1", "--context", "64", "--backend", "cpu")
    h.check("a chat", status in (0, 3), err)


h = Harness()
part = {"families": families, "deep": deep, "shape": shape, "regulator": regulator, "refusals": refusals}[sys.argv[1]]
FEW = sys.argv[2:3] == ["few"]
part(h, present(h, sys.argv[3 if FEW else 2:] or ["cpu"]))
h.finish()
