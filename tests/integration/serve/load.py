"""Answers do not depend on who else is in the batch: 32 clients that come at random, each with its own prompts, parameters and ways of
reading, get the answers that each gets alone; under failing room, small steps and other numbers of slots, too.

    load.py                              the fake engine, whose answers fake.py predicts, and three that lie
    load.py --model NAME -- PROGRAM...   any server: PROGRAM is given --socket PATH and limits behind what stands here, and says `listening on`
                                         on standard error, as in: load.py --model NAME -- build/dev/bin/pipectl model serve --model FILE
"""
import json
import random
import sys
import threading
import time

import fake
from harness import Harness, patient

CLIENTS, EACH = 32, 4
h = Harness()
model, program = "fake", None
if "--" in sys.argv:
    model, program = sys.argv[sys.argv.index("--model") + 1], sys.argv[sys.argv.index("--") + 1:]
seed = 20261126


def requests(rng, most):
    """What one client asks, one after the other."""
    out = []
    for _ in range(EACH):
        p = {"model": model, "max_tokens": rng.randrange(1, most)}
        if rng.random() < 0.7:
            p.update(temperature=rng.choice([0, 0.5, 1, 1.5]), seed=rng.randrange(1000))
        if rng.random() < 0.3:
            p["top_p"] = rng.choice([0.5, 0.9])
        if rng.random() < 0.3:
            p["top_k"] = rng.randrange(1, 40)
        if rng.random() < 0.2:
            p["repetition_penalty"] = 1.25
        if rng.random() < 0.3:
            p["stop"] = [" stop", "the a"]
        if rng.random() < 0.2:
            p["n"] = rng.randrange(2, 4)
        words = "".join(rng.choice("abcdefgh ijk") for _ in range(rng.choice([3, 20, 150, 400]) + rng.randrange(50)))
        path = rng.choice(["completions", "completions", "chat/completions", "embeddings"] if not program else ["completions", "chat/completions"])
        if path == "completions":
            p["prompt"] = words
        elif path == "embeddings":
            p = {"model": model, "input": words}
        else:
            p["messages"] = [{"role": "user", "content": words}]
        out.append((path, p, path != "embeddings" and rng.random() < 0.5))
    return out


def ask(s, path, p, streams):
    """The choices of an answer, or its embeddings."""
    if not streams:
        status, doc = s.post(path, **p)
        if status != 200:
            return doc
        return [(c.get("text", c.get("message", {}).get("content")), c["finish_reason"]) for c in doc["choices"]] if path != "embeddings" else doc["data"]
    events = s.stream(path, **p)
    if events[-1] != "[DONE]":
        return events[-1]
    parts = [c for e in events[:-1] for c in e["choices"]]
    return [("".join(c.get("text", c.get("delta", {}).get("content", "")) for c in parts if c["index"] == i), [c["finish_reason"] for c in parts if c["index"] == i][-1])
            for i in range(p.get("n", 1))]


def predicted(path, p):
    if path == "embeddings":
        return None
    tokens = list(p["prompt"].encode()) if path == "completions" else fake.chat_tokens(p["messages"])
    return [fake.answer(tokens, p, p["max_tokens"], k)[:2] for k in range(p.get("n", 1))]


def load(s, work, rng):
    """All clients at once."""
    got = [[None] * EACH for _ in work]
    waits = [[rng.random() * 0.1 for _ in range(EACH)] for _ in work]

    def client(i):
        for k, (path, p, streams) in enumerate(work[i]):
            time.sleep(waits[i][k])
            try:
                got[i][k] = ask(s, path, p, streams)
            except Exception as e:
                got[i][k] = repr(e)

    threads = [threading.Thread(target=client, args=(i,)) for i in range(len(work))]
    for t in threads:
        t.start()
    for t in threads:
        t.join(patient(300))
    return got


def compare(name, alone, got):
    wrong = [(i, k) for i in range(len(got)) for k in range(EACH) if got[i][k] != alone[i][k]]
    return h.check(name, not wrong, f"seed {seed}: {len(wrong)} of {CLIENTS * EACH} differ, the first: " +
                   (repr((alone[wrong[0][0]][wrong[0][1]], got[wrong[0][0]][wrong[0][1]]))[:600] if wrong else ""))


rng = random.Random(seed)
work = [requests(rng, 60) for _ in range(CLIENTS)]
usual = ["--peer-connections", 100, "--peer-requests", 100]
s = fake.Server(*usual, program=program)
alone = [[ask(s, *r) for r in w] for w in work]
h.check("there are answers", all(isinstance(a, list) and a for w in alone for a in w), str(alone)[:300])
if not program:
    wrong = [(r, a) for w, x in zip(work, alone) for r, a in zip(w, x) if predicted(*r[:2]) not in (None, a)]
    h.check("alone: as predicted", not wrong, wrong[:1])
    h.check("answers differ from one another", len({json.dumps(a) for w in alone for a in w}) > CLIENTS * EACH * 0.9)
compare("32 clients", alone, load(s, work, rng))
h.check("nobody is left", s.idle())
ended = s.stop()
h.check("it ends well", ended[0] == 0 if program else ended == (0, ""), ended)
for name, options in () if program else (
        ("one slot", ["--slots", 1]), ("many slots", ["--slots", 64]), ("chunks of 7", ["--chunk", 7]), ("steps of 16 tokens", ["--step-tokens", 16]),
        ("a slow engine", ["--step-us", 500, "--token-us", 20]), ("little room", ["--slots", 16, "--pool", 700, "--step-us", 300])):
    s = fake.Server(*usual, *options, log=True)
    compare(f"32 clients, {name}", alone, load(s, work, rng))
    h.check(f"{name}: nobody is left", s.idle())
    metrics = s.stop()
    h.check(f"{name}: it ends well", metrics == (0, ""), metrics)
    if name == "little room":
        last = [x["fields"] for x in map(json.loads, open(s.log)) if x["message"] == "metrics"][-1]
        h.check("room was short", int(last["preempted"]) > 0 and int(last["failed"]) == 0, last)

# A server whose answers did depend on the batch is seen: one by one that its engine lies about.
for lie, what in () if program else ((1, "a token that depends on how many sequences are in the step"), (2, "a token that depends on the slot"),
                                     (3, "a token that depends on how a prompt is cut")):
    s = fake.Server(*usual, "--lie", lie, "--slots", 4, "--step-us", 300)
    liar = [[ask(s, *r) for r in w] for w in work] if lie != 3 else alone
    got = load(s, work, rng)
    wrong = sum(got[i][k] != liar[i][k] for i in range(CLIENTS) for k in range(EACH))
    h.check(what, wrong > 0, wrong)
    h.planted(what, "tests/fakes/engine.c", "integration_serve_load", f"{wrong} of {CLIENTS * EACH} answers under load differ from those alone" if wrong else "")
    s.stop()
h.finish()
