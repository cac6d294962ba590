"""An audit of a generation's pipeline (`pipectl model pipeline`) names where a device went wrong: the layer, by its job, the op, the element and the bit, of the first job that differs though
all behind it do, too; with layers as groups and one by one. usage: audit.py"""
import json

import numpy as np

from harness import Harness

SMALL = ["--layers", "3", "--set", "n_embd=64", "--set", "n_heads=4", "--set", "n_kv_heads=2", "--set", "head_dim=16", "--set", "n_ff=96", "--vocab", "300", "--context", "64"]
CONTEXT, LAYERS, ROW = 16, 3, 4 * 16 * 2 * 16


def audited(h, pipe, caches, fault):
    mock = "mock:wrap=cpu+flip-bit@" + fault
    zeros = h.write("zeros", bytes(ROW))
    args = [w for name, values in (("tokens", (1, 2, 3, 4)), ("start", (0,)), ("count", (4,))) for w in ("--in", f"{name}=" + h.write(name, np.array(values, np.uint32).tobytes()))]
    args += [w for name in caches for w in ("--in", f"{name}={zeros}")]
    status, out, err = h.run("--json", "audit", pipe, *args, "--backends", "cpu," + mock, "--repeat", "1", "--no-quarantine")
    h.check(f"{fault}: the audit fails", status == 6 and "PC5612" in out.decode() + err, f"{status} {err[:1500]}")
    return json.loads(out) if out else {}, mock


def one(h, model, flags, job, op, element, bit):
    status, text, err = h.run("model", "pipeline", model, "--batch", "1", "--chunk", "4", "--context", str(CONTEXT), *flags)
    h.check("a pipeline", status == 0, err)
    # Caches of groups are states, which begin as zeros.
    caches = [f"{k}_{i}" for k in ("keys", "values") for i in range(LAYERS)] if flags else []
    document, mock = audited(h, h.write("m.pipe.cfg", text), caches, f"{job}:element={element}:bit={bit}")
    found = document.get("divergences", [])
    if not h.check(f"{job}: one device diverges, and it is the mock", len(found) == 1 and found[0]["device"] == mock, str(found)[:800]):
        return
    d = found[0]
    h.check(f"{job}: the layer and the op", d["job"] == job and d["what"] == op, str(d)[:600])
    h.check(f"{job}: the element and the bit", d["element"] == str(element) and int(d["got"], 16) ^ int(d["want"], 16) == 1 << bit and d["flipped_bits"] == 1 and d["different"] == "1", str(d)[:600])
    h.check(f"{job}: the kernel where it began", d["origin"]["kernel"] and d["reproduction"]["reproduced"] > 0, str(d)[:900])
    agreed = [(o["job"], o["agreed"]) for o in document["outputs"]]
    at = agreed.index((job, False))
    h.check(f"{job}: nothing before it differs, and the logits do", all(a for _, a in agreed[:at]) and agreed[-1] == ("head", False), str(agreed))


if __name__ == "__main__":
    h = Harness()
    model = h.path("model.gguf")
    status, _, err = h.run("model", "synth", "--shape", "qwen3-0.6b", "--out", model, *SMALL)
    h.check("a model", status == 0, err)
    one(h, model, [], "layers.2.q_turned", "transformer.rope@1", 3 * 64 + 17, 31)  # of the last token, whose logits are given
    one(h, model, ["--unrolled"], "l1_gate", "tensor.matmul@1", 5, 7)
    h.finish()
