"""Language models on an NVIDIA GPU: what is checked comes first, then times, a short table last. Run by h200_model, which has the machine ready.
usage: h200_model.py PIPECTL PART..., parts:
checks   ops, models and machines of small shapes: the tests' own programs, on both of NVIDIA's APIs
same     of `shapes` the 1.5B shape alone, through both APIs, in chunks of 7 and batches of 16
shapes   models of real shapes: logits by CID through both APIs, chunks of 1, 7, 64 and all, batches of 1, 3 and 16
decode   decode and prefill of the 1.5B shape, beside transformers (PyTorch) with the same weights
speed    that, and decode of a q4_k, a q8_0 and a model of experts
large    3B and 7B shapes: no memory runs out
peer MODEL  (run by `speed`) PyTorch alone"""
import json
import os
import subprocess
import sys
import threading
import time

PIPECTL = os.path.abspath(sys.argv[1])
OUT = os.environ.get("OUT", "/tmp") + "/model"
DIR = "/tmp/models"
DEVICES = ("vulkan:nvidia", "opencl:nvidia")
LETTERS = "The quick brown fox jumps over the lazy dog; 0123456789 times it went. "
os.makedirs(OUT, exist_ok=True)
os.makedirs(DIR, exist_ok=True)
BEGUN = time.time()
table = []


def note(text, row=False):
    line = f"[{time.time() - BEGUN:6.1f}] {text}"
    print(line, flush=True)
    with open(OUT + "/record.txt", "a", encoding="utf-8") as f:
        f.write(line + "\n")
    if row:
        table.append(text)


def command(args, limit):
    begun = time.time()
    try:
        done = subprocess.run(args, capture_output=True, timeout=limit, check=False)
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), time.time() - begun
    except subprocess.TimeoutExpired as e:
        return 124, e.stdout or b"", (e.stderr or b"").decode("utf-8", "replace"), time.time() - begun


def last(out, err, n=6):
    text = out.decode("utf-8", "replace") if isinstance(out, bytes) else out
    return "\n".join((text.strip().splitlines() + err.strip().splitlines())[-n:])


# ---- models, made while the device works on something else ------------------------------------

MODELS = {
    "1.5b": ("qwen2.5-1.5b", "bf16", "1.5b", ()),  # a folder: transformers reads it, too
    "1.5b-q4_k": ("qwen2.5-1.5b", "q4_k", "1.5b-q4_k.gguf", ("--layers", "4")),
    "0.6b": ("qwen3-0.6b", "bf16", "0.6b.gguf", ()),
    "0.6b-q8_0": ("qwen3-0.6b", "q8_0", "0.6b-q8_0.gguf", ("--layers", "8")),
    "moe": ("qwen3-30b-a3b", "bf16", "moe.gguf", ("--layers", "2")),
    "3b": ("qwen2.5-3b", "bf16", "3b.gguf", ()),
    "7b": ("qwen2.5-7b", "bf16", "7b.gguf", ()),
}
making = {}


def make(name):
    shape, kind, path, more = MODELS[name]

    def work():
        status, out, err, s = command([PIPECTL, "model", "synth", "--shape", shape, "--seed", "1", "--type", kind, "--out", f"{DIR}/{path}", *more], 400)
        note(f"synth {name}: status {status}, {s:.0f} s {last(out, err, 2) if status else ''}")

    making[name] = threading.Thread(target=work)
    making[name].start()


def path_of(name):
    making[name].join()
    return f"{DIR}/{MODELS[name][2]}"


# ---- checks -----------------------------------------------------------------------------------

def checks():
    programs = [("vm/vm.py", "programs", "cpu", *DEVICES), ("vm/vm.py", "regulator", "cpu", *DEVICES), ("ops/attention.py", "few", *DEVICES), ("ops/experts.py", "few", *DEVICES), ("ops/sampling.py", "few", *DEVICES),
                ("ops/matmul_thin.py", "few", *DEVICES), ("model/generate.py", "devices", *DEVICES), ("model/joins.py", "devices", *DEVICES), ("ops/attention_planted.py", DEVICES[1], "right"),
                ("ops/experts_planted.py", DEVICES[1], "right"), ("ops/transformer.py", "kv", "few", *DEVICES), ("ops/norms.py", "few", *DEVICES), ("ops/windows.py", "few", *DEVICES), ("ops/doubles.py", "few", *DEVICES), ("model/machine.py", "families", *DEVICES), ("model/budget.py", DEVICES[1]), ("ops/vectors.py", "few", *DEVICES)]
    programs += [("model/logits.py", d, "qwen2", "qwen3", "mixtral", "gemma2") for d in DEVICES]
    results = {}

    def one(i, p):
        home = f"/tmp/home-{i}"
        subprocess.run(["cp", "-r", os.environ["PIPECTL_HOME"], home], check=True)
        env = dict(os.environ, PIPECTL_HOME=home, PIPECTL_TEST_HOME=home, PIPELINES=os.getcwd() + "/pipelines")
        begun = time.time()
        try:
            done = subprocess.run([sys.executable, "-B", f"tests/integration/{p[0]}", *p[1:]], capture_output=True, timeout=240, check=False, env=env)
            results[p] = (done.returncode, last(done.stdout, done.stderr.decode("utf-8", "replace"), 12), time.time() - begun)
        except subprocess.TimeoutExpired as e:
            results[p] = (124, last(e.stdout or b"", "", 12), time.time() - begun)

    threads = [threading.Thread(target=one, args=x) for x in enumerate(programs)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for p in programs:
        status, text, s = results[p]
        note(f"{' '.join(p)}: status {status}, {s:.0f} s: {text.splitlines()[-1] if text else ''}", True)
        if status:
            note(text)


# ---- real shapes ------------------------------------------------------------------------------

def generate(name, device, tokens, *more, prompt=70, logits=None, limit=120):
    text = (LETTERS * (prompt // len(LETTERS) + 1))[:prompt]
    args = [PIPECTL, "generate", "--model", path_of(name), "--prompt", text, "--tokens", str(tokens), "--ignore-end", "--json", "--backend", device, *more]
    if "--context" not in more:
        args += ["--context", "2048"]
    if logits:
        args += ["--logits", f"/tmp/{logits}.npy"]
    status, out, err, s = command(args, limit)
    if status:
        note(f"generate {name} {device} {' '.join(more)}: status {status}, {s:.0f} s\n{last(out, err, 8)}", True)
        return None
    d = json.loads(out)
    d["whole"] = s
    return d


def digest(logits, sequence=None):
    import hashlib
    import numpy as np
    a = np.load(f"/tmp/{logits}.npy")
    a = a if sequence is None else a[sequence:sequence + 1]
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()[:16]


def shapes(names=("1.5b", "0.6b", "1.5b-q4_k", "moe"), cuts=("1", "7", "128"), batches=("3", "16")):
    for name in names:
        found = {}
        for device in DEVICES:
            d = generate(name, device, 4, logits="l")
            if d:
                found[device] = digest("l")
                note(f"{name} {device}: {found[device]} whole {d['whole']:.1f} s, build {d['build_seconds']:.1f} s, decode {d['tokens_per_second']:.1f}/s")
        note(f"{name}: logits of 4 tokens behind 70 {'the same through both' if len(set(found.values())) == 1 and len(found) == 2 else f'DIFFER: {found}'}", True)
        if name != "1.5b" or not found:
            continue
        want = next(iter(found.values()))
        for device in DEVICES:
            for more in [("--chunk", c) for c in cuts] + [("--batch", b) for b in batches]:
                if device == DEVICES[0] and more[1] not in ("7", "16"):
                    continue
                d = generate(name, device, 4, *more, logits="l")
                same = d is not None and all(digest("l", i) == want for i in range(int(more[1]) if more[0] == "--batch" else 1))
                note(f"{name} {device} {' '.join(more)}: {'the same logits' if same else 'DIFFER'}", True)


def same():
    shapes(("1.5b",), ("7",), ("16",))


# ---- speed ------------------------------------------------------------------------------------

def speed_of(name, device, batch, prompt, chunk, tokens, *more):
    d = generate(name, device, tokens, "--batch", str(batch), "--chunk", str(chunk), *more, prompt=prompt)
    if not d:
        return
    decode, prefill = d["decode"], d["prefill"]
    size = int(d["weight_bytes"])
    steps = tokens - 1
    note(f"{name} {device} batch {batch}{' ' * bool(more)}{' '.join(more)}: decode {d['tokens_per_second']:.1f} tokens/s; device {decode['device_seconds'] / steps * 1e3:.2f} ms a step, host {decode['seconds'] / steps * 1e3:.2f}; "
         f"weights {size / 1e9:.2f} GB: {size / (decode['device_seconds'] / steps) / 1e9 if decode['device_seconds'] else 0:.0f} GB/s; "
         f"prefill {int(prefill['tokens']) / prefill['seconds'] if prefill['seconds'] else 0:.0f} tokens/s (chunk {chunk}, device {prefill['device_seconds']:.3f} s of {prefill['tokens']}); build {d['build_seconds']:.1f} s, "
         f"{d['dispatches_of_a_token']} dispatches, {int(d['device_bytes']) / 1e9:.2f} GB on the device, {d['submissions']} submissions", True)


def decode():
    generate("1.5b", DEVICES[1], 1, logits="ours")
    for device in DEVICES[::-1]:
        # So many tokens that clocks are up: an idle device has 345 MHz of 1,980, and a context of Vulkan alone does not raise them.
        generate("1.5b", device, 200, "--batch", "1", "--chunk", "512", prompt=512)
        speed_of("1.5b", device, 1, 512, 512, 400)
        speed_of("1.5b", device, 16, 512, 512, 100)
    status, out, err, s = command([sys.executable, os.path.abspath(__file__), PIPECTL, "peer", path_of("1.5b")], 150)
    note(f"peer: status {status}, {s:.0f} s")
    for line in out.decode().splitlines():
        note(line, True)
    if status:
        note(last(out, err, 12))


def joins():
    """What dispatches that become one gain (core/runtime/exec/resident_join.c), way by way and by turns: decode of one sequence and of 16, prefill, and the same logits of each."""
    for device in DEVICES[::-1]:
        generate("1.5b", device, 200, "--batch", "1", "--chunk", "512", prompt=512)
        found = {}
        for _ in range(2):
            for way in (("--joins", "none"), ("--joins", "beside"), ("--joins", "behind"), ("--joins", "ahead"), ("--no-fuse",)):
                speed_of("1.5b", device, 1, 512, 512, 200, *way)
                if way not in found and generate("1.5b", device, 4, *way, logits="joined"):
                    found[way] = digest("joined")
        note(f"{device}: logits of {len(found)} ways: {'the same' if len(set(found.values())) == 1 else 'they differ: ' + str(found)}", True)
        for way in ("none", "behind", "ahead"):
            speed_of("1.5b", device, 16, 512, 512, 100, "--joins", way)


def speed():
    decode()
    for device in DEVICES[::-1]:
        speed_of("1.5b-q4_k", device, 1, 64, 64, 400)
        speed_of("0.6b-q8_0", device, 1, 64, 64, 400)
    speed_of("moe", DEVICES[1], 1, 64, 64, 17)


def peer(path):
    """transformers with the same weights: logits beside ours, decode and prefill."""
    import numpy as np
    import torch
    from transformers import AutoModelForCausalLM
    torch.backends.cuda.matmul.allow_tf32 = False
    ids = torch.tensor([list((LETTERS * 8)[:512].encode())], device="cuda")
    for dtype in (torch.float32, torch.bfloat16):
        model = AutoModelForCausalLM.from_pretrained(path, dtype=dtype).cuda().eval()
        with torch.no_grad():
            if dtype == torch.float32 and os.path.exists("/tmp/ours.npy"):
                ours = np.load("/tmp/ours.npy")[0, 0]
                theirs = model(ids[:, :70]).logits[0, -1].float().cpu().numpy()
                print(f"transformers f32: the first token's logits are {np.abs(ours - theirs).max() / np.abs(theirs).max():.2e} of the largest from ours, argmax {int(theirs.argmax())} and {int(ours.argmax())}")
            for _ in range(2):
                model(ids)
            torch.cuda.synchronize()
            t = time.time()
            for _ in range(3):
                out = model(ids, use_cache=True)
            torch.cuda.synchronize()
            prefill = (time.time() - t) / 3
            for batch in (1, 16):
                cache = model(ids.repeat(batch, 1), use_cache=True).past_key_values
                token = torch.ones(batch, 1, dtype=torch.long, device="cuda")
                for _ in range(3):
                    model(token, past_key_values=cache, use_cache=True)
                torch.cuda.synchronize()
                t = time.time()
                for _ in range(20):
                    model(token, past_key_values=cache, use_cache=True)
                torch.cuda.synchronize()
                print(f"transformers {dtype}: batch {batch}, decode {batch * 20 / (time.time() - t):.1f} tokens/s; prefill of 512 {512 / prefill:.0f} tokens/s", flush=True)
            del out, cache
        del model
        torch.cuda.empty_cache()
    big = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    other = torch.empty_like(big)
    for _ in range(3):
        other.copy_(big)
    torch.cuda.synchronize()
    t = time.time()
    for _ in range(10):
        other.copy_(big)
    torch.cuda.synchronize()
    print(f"torch: a copy moves {2 * 10 * big.numel() / (time.time() - t) / 1e9:.0f} GB/s, read and written")


def large():
    for name in ("3b", "7b"):
        for device in DEVICES[::-1]:
            speed_of(name, device, 1, 64, 64, 9)


def main():
    parts = sys.argv[2:]
    if parts[0] == "peer":
        peer(parts[1])
        return
    for part, names in (("same", ("1.5b",)), ("decode", ("1.5b",)), ("joins", ("1.5b",)), ("shapes", ("1.5b", "0.6b", "1.5b-q4_k", "moe")), ("speed", ("1.5b", "1.5b-q4_k", "0.6b-q8_0", "moe")), ("large", ("3b", "7b"))):
        for name in names if part in parts else ():
            if name not in making:
                make(name)
    for device in DEVICES:
        begun = time.time()
        status, out, err, _ = command([PIPECTL, "op", "run", "tensor.sum", "--backend", device, "--in", "x=zero:4096:f32[1024]", "--out", "y=/tmp/y"], 90)
        note(f"{device}: the first op, with all that is asked of the device once: status {status}, {time.time() - begun:.1f} s {last(out, err, 3) if status else ''}")
    for part in parts:
        note(f"== {part}")
        {"checks": checks, "same": same, "shapes": shapes, "decode": decode, "joins": joins, "speed": speed, "large": large}[part]()
    note("== table")
    for row in table:
        print(row)


if __name__ == "__main__":
    main()
