"""`pipectl model serve --lora` with two adapters and the model itself: clients that ask for each at once get what each gets alone, which is what `generate --lora` gives; streams,
embeddings and logprobs too; names are listed, and others refused. usage: serve_lora.py"""
import json
import os
import random
import signal
import sys
import threading

from harness import Harness, patient

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "serve"))
import fake  # noqa: E402

h = Harness()
SMALL = ["--layers", "1", "--set", "n_embd=64", "--set", "n_heads=4", "--set", "n_kv_heads=2", "--set", "head_dim=16", "--set", "n_ff=96", "--vocab", "258", "--context", "128"]
MODEL, ONE, TWO = h.path("model.gguf"), h.path("one"), h.path("two.gguf")
ASKED = ["--model", MODEL, "--context", "128", "--backend", "cpu"]
# What generate is told of each name; "both" is two of one name.
GIVEN = {"model.gguf": [], "one": ["--lora", ONE], "team/two:v1": ["--lora", TWO + "=0.5"], "both": ["--lora", TWO, "--lora", ONE + "=-1"]}
SERVED = ["--lora", f"one={ONE}", "--lora", f"team/two:v1={TWO},0.5", "--lora", f"both={TWO}", "--lora", f"both={ONE},-1"]


def synth(path, *more):
    status, _, err = h.run("model", "synth", "--shape", "qwen2.5-0.5b", *SMALL, *more, "--out", path)
    h.check(f"synth {path}", status == 0, err)


def ask(s, p):
    """The answer to one request, streamed or not, without what hangs on the time."""
    p = dict(p)
    path = p.pop("path")
    if p.get("stream"):
        events = s.stream(path, **p)
        return "".join(c["text"] for e in events[:-1] for c in e["choices"]), events[0]["model"], events[0]["system_fingerprint"]
    status, doc = s.post(path, **p)
    if path == "embeddings":
        return status, doc["data"][0]["embedding"], doc["model"]
    return status, doc["choices"][0], doc["model"], doc["system_fingerprint"]


def answers(s, work):
    got = [None] * len(work)

    def client(i):
        try:
            got[i] = ask(s, work[i])
        except Exception as e:
            got[i] = repr(e)

    threads = [threading.Thread(target=client, args=(i,)) for i in range(len(work))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(patient(200))
    return got


def requests(rng, n):
    out = []
    for i in range(n):
        words = "".join(rng.choice("abc defg") for _ in range(rng.choice([1, 9, 30])))
        name = list(GIVEN)[i % len(GIVEN)]
        if i % 8 == 5:
            out.append({"path": "embeddings", "model": name, "input": words})
            continue
        p = {"path": "completions", "model": name, "prompt": words, "max_tokens": rng.randrange(1, 7), "temperature": rng.choice([0, 0.9]), "seed": rng.randrange(9)}
        if i % 8 == 2:
            p["stream"] = True
        elif i % 8 == 3:
            p["logprobs"] = 2
        elif i % 8 == 6:
            p["frequency_penalty"] = 0.5
        out.append(p)
    return out


def main():
    synth(MODEL, "--seed", "1")
    synth(ONE, "--seed", "2", "--lora", "4")
    synth(TWO, "--seed", "3", "--lora", "3", "--target", "q", "--target", "up", "--type", "bf16")
    wanted = {}
    for name, given in GIVEN.items():
        status, out, err = h.run("generate", *ASKED, *given, "--prompt", "the licence", "--tokens", "6", "--json")
        h.check(f"generate {name}", status == 0, err)
        wanted[name] = json.loads(out)["sequences"][0]["text"]
    h.check("each says something else", len(set(wanted.values())) == len(wanted), str(wanted))
    s = fake.Server(program=[h.pipectl, "--home", h.path("home"), "model", "serve", *ASKED, "--slots", "3", "--chunk", "8", *SERVED])
    status, _, data = s.ask("GET", "/v1/models")
    listed = json.loads(data)["data"]
    h.check("all are listed", status == 200 and [m["id"] for m in listed] == list(GIVEN) and [m.get("parent") for m in listed] == [None, *["model.gguf"] * 3] and len({m["cid"] for m in listed}) == 4, data)
    cids = {m["id"]: m["cid"] for m in listed}
    for name, text in wanted.items():
        status, doc = s.post("completions", model=name, prompt="the licence", max_tokens=6, temperature=0)
        h.check(f"{name}: what generate gives", status == 200 and doc["choices"][0]["text"] == text and doc["model"] == name and doc["system_fingerprint"].startswith(cids[name] + "/"), f"{doc} {text!r}")
    for name in ("three", "one ", "", "two:v1"):
        status, doc = s.post("completions", model=name, prompt="x", max_tokens=1)
        h.check(f"no model {name!r}", status == 404 and doc["error"]["code"] == "PC6261", f"{status} {doc}")
    work = requests(random.Random(7), 16)
    alone = [answers(s, [w])[0] for w in work]
    together = answers(s, work)
    for w, a, b in zip(work, alone, together):
        h.check(f"{w['model']}, {w['path']}: among others as alone", a == b and not isinstance(a, str), f"{w} {a} {b}"[:900])
    h.check("the same question has as many answers as adapters", len({str(answers(s, [{**work[0], "model": m}])[0]) for m in GIVEN}) == len(GIVEN))
    s.process.send_signal(signal.SIGTERM)
    h.check("it ends well", s.process.wait(patient(60)) == 0, str(s.process.returncode))
    for args, code, status, word in ((["--lora", ONE], "PC0010", 2, "NAME=FILE"), (["--lora", "=" + ONE], "PC0010", 2, "NAME=FILE"), (["--lora", f"a={ONE},x"], "PC0010", 2, '"x"'), (["--lora", f"model.gguf={ONE}"], "PC6299", 3, "own name"),
                                     (["--lora", f"a b={ONE}"], "PC6299", 3, '"a b"'), (["--lora", f"a={MODEL}"], "PC6294", 3, "general.type"), (["--lora", f"a={h.path('none')}"], "PC6294", 3, "no such file")):
        got, _, err = h.run("model", "serve", *ASKED, *args, "--socket", h.path("s"))
        h.check(f"refused: {args[1][:30]}", got == status and code in err and word in err and "listening" not in err, f"{got}: {err[:400]}")
    h.finish()


main()
