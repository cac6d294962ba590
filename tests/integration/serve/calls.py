"""The calls of the server over the fake engine: every answer beside the one that fake.py predicts; streams, stop strings across tokens,
echo, logprobs, usage; whatever is refused, each with its code, its HTTP status and the parameter that is meant."""
import base64
import json
import struct

import fake
from harness import Harness

h = Harness()
s = fake.Server("--context", 512)
PROMPT = "Once upon a time"
TOKENS = list(PROMPT.encode())


def text_of(doc):
    return [(c["text"], c["finish_reason"]) for c in doc["choices"]]


# ---- answers -------------------------------------------------------------------------------------------------------------------
for name, p in (("plain", {}), ("greedy", {"temperature": 0}), ("seed", {"seed": 7}), ("negative seed", {"seed": -1}), ("cool", {"temperature": 0.5}),
                ("top_p", {"top_p": 0.5}), ("min_p", {"min_p": 0.25}), ("top_k", {"top_k": 5}), ("repetition", {"repetition_penalty": 1.5}),
                ("presence", {"presence_penalty": -0.5}), ("frequency", {"frequency_penalty": 0.5})):
    code, doc = s.post("completions", prompt=PROMPT, max_tokens=40, **p)
    want = fake.answer(TOKENS, p, 40)
    h.check(name, code == 200 and text_of(doc) == [want[:2]], (doc, want))
    h.check(name + ": usage", doc["usage"] == {"prompt_tokens": 16, "completion_tokens": want[2], "total_tokens": 16 + want[2]}, doc)
    h.check(name + ": the fingerprint", doc["system_fingerprint"] == "bafkreifake/1" and doc["model"] == "fake" and doc["object"] == "text_completion", doc)
answers = {fake.answer(TOKENS, p, 40)[0] for p in ({}, {"temperature": 0}, {"seed": 7}, {"top_k": 5}, {"presence_penalty": -0.5})}
h.check("parameters matter", len(answers) == 5)
code, doc = s.post("completions", prompt=PROMPT)
h.check("16 tokens where nothing is said", text_of(doc) == [fake.answer(TOKENS, {}, 16)[:2]], doc)
code, doc = s.post("completions", prompt=["a", "b"], n=3, max_tokens=12)
want = [fake.answer(list(p), {}, 12, k)[:2] for p in (b"a", b"b") for k in range(3)]
h.check("two prompts, three choices", text_of(doc) == want and [c["index"] for c in doc["choices"]] == list(range(6)), (doc, want))
code, doc = s.post("completions", prompt=TOKENS, max_tokens=12)
h.check("tokens as a prompt", text_of(doc) == [fake.answer(TOKENS, {}, 12)[:2]], doc)
code, doc = s.post("completions", prompt=[[1, 2], TOKENS], max_tokens=12, echo=True)
h.check("lists of tokens, echo", [c["text"] for c in doc["choices"]] == ["\x01\x02" + fake.answer([1, 2], {}, 12)[0], PROMPT + fake.answer(TOKENS, {}, 12)[0]], doc)
code, doc = s.post("completions", prompt=PROMPT, max_tokens=0, echo=True)
h.check("nothing but the echo", text_of(doc) == [(PROMPT, "length")] and doc["usage"]["completion_tokens"] == 0, doc)

messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}, {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]
flat = [dict(m, content=m["content"] if isinstance(m["content"], str) else "ab") for m in messages]
code, doc = s.post("chat/completions", messages=messages, max_completion_tokens=30, n=2)
want = [fake.answer(fake.chat_tokens(flat), {}, 30, k)[:2] for k in (0, 1)]
h.check("a chat", [(c["message"]["content"], c["finish_reason"]) for c in doc["choices"]] == want and doc["object"] == "chat.completion"
        and all(c["message"]["role"] == "assistant" for c in doc["choices"]), (doc, want))
code, doc = s.post("chat/completions", messages=flat)
want = fake.answer(fake.chat_tokens(flat), {}, 512 - len(fake.chat_tokens(flat)))
h.check("a chat to its end", doc["choices"][0]["message"]["content"] == want[0] and doc["choices"][0]["finish_reason"] == want[1], (doc, want))

# ---- stop strings, wherever they lie across tokens --------------------------------------------------------------------------------
whole = fake.answer(TOKENS, {}, 60)[0]
stopped = 0
for start in range(0, len(whole) - 4):
    for n in (1, 3, 7):
        stop = whole[start:start + n]
        code, doc = s.post("completions", prompt=PROMPT, max_tokens=60, stop=stop)
        want = fake.answer(TOKENS, {"stop": stop}, 60)
        stopped += text_of(doc) == [want[:2]] and want[1] == "stop" and doc["usage"]["completion_tokens"] == want[2]
h.check("every stop string", stopped == 3 * (len(whole) - 4), (stopped, len(whole)))
stops = {"stop": [whole[30:33], whole[31:40], "nowhere", whole[20] + "\x00"[:0] + whole[21]]}
h.check("the first of several", text_of(s.post("completions", prompt=PROMPT, max_tokens=60, **stops)[1]) == [fake.answer(TOKENS, stops, 60)[:2]])

# ---- streams say what whole answers say ---------------------------------------------------------------------------------------------
for name, p in (("plain", {}), ("n", {"n": 3}), ("stop", {"stop": whole[25:31]}), ("held", {"stop": [whole[-3:] + "?", whole[10] + "zzzz"]}), ("echo", {"echo": True}),
                ("logprobs", {"logprobs": 2}), ("one", {"max_tokens": 1}), ("none", {"max_tokens": 0, "echo": True})):
    p = dict({"prompt": PROMPT, "max_tokens": 60}, **p)
    _, doc = s.post("completions", **p)
    events = s.stream("completions", stream_options={"include_usage": True}, **p)
    parts = [c for e in events[:-2] for c in e["choices"]]
    usage = events[-2]
    joined = [("".join(c["text"] for c in parts if c["index"] == i), [c["finish_reason"] for c in parts if c["index"] == i]) for i in range(p.get("n", 1))]
    h.check(f"stream, {name}", [(t, f[-1]) for t, f in joined] == text_of(doc) and all(f is None for _, g in joined for f in g[:-1]), (joined, doc))
    h.check(f"stream, {name}: its end", events[-1] == "[DONE]" and usage["choices"] == [] and usage["usage"] == doc["usage"]
            and all(e["usage"] is None for e in events[:-2]), events[-2:])
    if name == "logprobs":
        keys = ("tokens", "token_logprobs", "top_logprobs", "text_offset")
        both = {k: [x for c in parts for x in c["logprobs"][k]] for k in keys}
        whole_ones = doc["choices"][0]["logprobs"]
        h.check("stream: logprobs", both == whole_ones, (both, whole_ones))
        h.check("logprobs: offsets", whole_ones["text_offset"] == sorted(whole_ones["text_offset"]) and len(whole_ones["tokens"]) == doc["usage"]["completion_tokens"] - (doc["choices"][0]["finish_reason"] == "stop"), doc)
        h.check("logprobs: alternatives", all(1 <= len(t) <= 2 for t in whole_ones["top_logprobs"]) and max(map(len, whole_ones["top_logprobs"])) == 2
                and all(x <= 0 for x in whole_ones["token_logprobs"]), whole_ones)
_, doc = s.post("chat/completions", messages=flat, max_tokens=20, logprobs=True, top_logprobs=3)
events = s.stream("chat/completions", messages=flat, max_tokens=20, logprobs=True, top_logprobs=3)
parts = [e["choices"][0] for e in events[:-1]]
h.check("stream of a chat", "".join(c["delta"].get("content", "") for c in parts) == doc["choices"][0]["message"]["content"]
        and parts[0]["delta"] == {"role": "assistant", "content": ""} and parts[-1]["delta"] == {} and "usage" not in events[0], events)
content = doc["choices"][0]["logprobs"]["content"]
h.check("logprobs of a chat", [t for c in parts for t in c["logprobs"]["content"]] == content
        and b"".join(bytes(t["bytes"]) for t in content).decode("utf-8", "replace") == doc["choices"][0]["message"]["content"]
        and all(len(t["top_logprobs"]) == 3 for t in content), content)

# ---- embeddings -----------------------------------------------------------------------------------------------------------------
def embedding(tokens):
    x = 0xCBF29CE484222325
    for t in tokens:
        x = (x * 0x100000001B3 + t + 1) & fake.MASK
    return [(fake.mix((x + i) & fake.MASK) >> 48) / 65536 - 0.5 for i in range(8)]


code, doc = s.post("embeddings", input=[PROMPT, "b"])
h.check("embeddings", [d["embedding"] for d in doc["data"]] == [embedding(TOKENS), embedding(b"b")] and doc["usage"] == {"prompt_tokens": 17, "total_tokens": 17}, doc)
code, doc = s.post("embeddings", input=PROMPT, encoding_format="base64", dimensions=8, user="me")
h.check("embeddings in base64", list(struct.unpack("<8f", base64.b64decode(doc["data"][0]["embedding"], validate=True))) == embedding(TOKENS), doc)
code, doc = s.post("embeddings", input=list(range(40, 240)) * 2)
h.check("an embedding of several chunks", doc["data"][0]["embedding"] == embedding(list(range(40, 240)) * 2), doc)

# ---- what changes nothing -----------------------------------------------------------------------------------------------------------
code, doc = s.post("completions", prompt=PROMPT, best_of=1, suffix=None, logit_bias={}, user="me", temperature=None, max_tokens=12)
h.check("neutral values", code == 200 and text_of(doc) == [fake.answer(TOKENS, {}, 12)[:2]], doc)
code, doc = s.post("chat/completions", messages=flat, tools=[], response_format={"type": "text"}, tool_choice="none", store=False, max_tokens=3)
h.check("neutral values of a chat", code == 200, doc)

# ---- what is refused: one code each ---------------------------------------------------------------------------------------------------
C, CH, E = "completions", "chat/completions", "embeddings"
say = [{"role": "user", "content": "x"}]
deep = b'{"model":"fake","prompt":' + b"[" * 40 + b"]" * 40 + b"}"
BAD = [
    (C, {}, 400, "PC6265", "prompt"), (CH, {}, 400, "PC6265", "messages"), (E, {}, 400, "PC6265", "input"),
    (C, b'{"prompt":"x"}', 400, "PC6265", "model"), (C, {"prompt": "x", "model": "gpt"}, 404, "PC6261", "model"), (C, {"prompt": "x", "model": 1}, 400, "PC6264", "model"),
    (C, {"prompt": "x", "temprature": 1}, 400, "PC6262", "temprature"), (E, {"input": "x", "max_tokens": 1}, 400, "PC6262", "max_tokens"),
    (CH, {"messages": say, "echo": True}, 400, "PC6262", "echo"), (C, {"prompt": "x", "": 1}, 400, "PC6262", None),
    (C, {"prompt": "x", "best_of": 2}, 400, "PC6263", "best_of"), (C, {"prompt": "x", "suffix": "y"}, 400, "PC6263", "suffix"),
    (C, {"prompt": "x", "logit_bias": {"5": 1}}, 400, "PC6263", "logit_bias"), (CH, {"messages": say, "tools": [{}]}, 400, "PC6263", "tools"),
    (CH, {"messages": say, "response_format": {"type": "json_object"}}, 400, "PC6263", "response_format"),
    (CH, {"messages": say, "reasoning_effort": "low"}, 400, "PC6263", "reasoning_effort"), (CH, {"messages": say, "service_tier": "auto"}, 400, "PC6263", "service_tier"),
    (C, {"prompt": "x", "echo": True, "logprobs": 1}, 400, "PC6263", "logprobs"), (E, {"input": "x", "dimensions": 4}, 400, "PC6263", "dimensions"),
    (CH, {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, "PC6263", "messages"),
    (CH, {"messages": [dict(say[0], tool_calls=[])]}, 400, "PC6263", "messages"),
    (C, {"prompt": ""}, 400, "PC6264", "prompt"), (C, {"prompt": []}, 400, "PC6264", "prompt"), (C, {"prompt": [[]]}, 400, "PC6264", "prompt"),
    (C, {"prompt": [1, "x"]}, 400, "PC6264", "prompt"), (C, {"prompt": ["x", 1]}, 400, "PC6264", "prompt"), (C, {"prompt": [10 ** 9]}, 400, "PC6264", "prompt"),
    (C, {"prompt": [-1]}, 400, "PC6264", "prompt"), (C, {"prompt": [1.5]}, 400, "PC6264", "prompt"), (C, {"prompt": {}}, 400, "PC6264", "prompt"), (C, {"prompt": ["x"] * 65}, 400, "PC6264", "prompt"),
    (C, {"prompt": "x", "max_tokens": -1}, 400, "PC6264", "max_tokens"), (C, {"prompt": "x", "max_tokens": "1"}, 400, "PC6264", "max_tokens"),
    (C, {"prompt": "x", "max_tokens": 1e300}, 400, "PC6264", "max_tokens"), (CH, {"messages": say, "max_tokens": 1, "max_completion_tokens": 1}, 400, "PC6264", "max_completion_tokens"),
    (CH, {"messages": say, "max_tokens": 0}, 400, "PC6264", "max_tokens"),
    (C, {"prompt": "x", "temperature": 2.1}, 400, "PC6264", "temperature"), (C, {"prompt": "x", "temperature": True}, 400, "PC6264", "temperature"),
    (C, {"prompt": "x", "top_p": -0.1}, 400, "PC6264", "top_p"), (C, {"prompt": "x", "min_p": 2}, 400, "PC6264", "min_p"), (C, {"prompt": "x", "top_k": 0.5}, 400, "PC6264", "top_k"),
    (C, {"prompt": "x", "repetition_penalty": 0}, 400, "PC6264", "repetition_penalty"), (C, {"prompt": "x", "presence_penalty": 3}, 400, "PC6264", "presence_penalty"),
    (C, {"prompt": "x", "frequency_penalty": -3}, 400, "PC6264", "frequency_penalty"), (C, {"prompt": "x", "seed": 2 ** 53}, 400, "PC6264", "seed"), (C, {"prompt": "x", "seed": 0.5}, 400, "PC6264", "seed"),
    (C, {"prompt": "x", "n": 0}, 400, "PC6264", "n"), (C, {"prompt": "x", "n": 9}, 400, "PC6264", "n"), (C, {"prompt": "x", "stop": ""}, 400, "PC6264", "stop"),
    (C, {"prompt": "x", "stop": ["a"] * 5}, 400, "PC6264", "stop"), (C, {"prompt": "x", "stop": 1}, 400, "PC6264", "stop"), (C, {"prompt": "x", "stop": "y" * 257}, 400, "PC6264", "stop"),
    (C, {"prompt": "x", "stream": 1}, 400, "PC6264", "stream"), (C, {"prompt": "x", "stream_options": {}}, 400, "PC6264", "stream_options"),
    (C, {"prompt": "x", "stream": True, "stream_options": {"a": 1}}, 400, "PC6262", "stream_options"), (C, {"prompt": "x", "stream": True, "stream_options": 1}, 400, "PC6264", "stream_options"),
    (C, {"prompt": "x", "stream": True, "stream_options": {"include_usage": 1}}, 400, "PC6264", "stream_options.include_usage"),
    (C, {"prompt": "x", "logprobs": 21}, 400, "PC6264", "logprobs"), (C, {"prompt": "x", "logprobs": True}, 400, "PC6264", "logprobs"),
    (CH, {"messages": say, "logprobs": 1}, 400, "PC6264", "logprobs"), (CH, {"messages": say, "top_logprobs": 1}, 400, "PC6264", "top_logprobs"),
    (C, {"prompt": "x", "echo": "yes"}, 400, "PC6264", "echo"), (C, {"prompt": "x", "user": ""}, 400, "PC6264", "user"), (C, {"prompt": "x", "user": "a\nb"}, 400, "PC6264", "user"),
    (E, {"input": "x", "encoding_format": "hex"}, 400, "PC6264", "encoding_format"), (CH, {"messages": []}, 400, "PC6264", "messages"), (CH, {"messages": ["x"]}, 400, "PC6264", "messages"),
    (CH, {"messages": [{"role": "user", "content": 1}]}, 400, "PC6264", "messages"), (CH, {"messages": [{"role": "user", "content": []}]}, 400, "PC6264", "messages"),
    (CH, {"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "b": 1}]}]}, 400, "PC6264", "messages"),
    (CH, {"messages": [{"role": "user"}]}, 400, "PC6265", "messages"), (CH, {"messages": [{"content": "x"}]}, 400, "PC6265", "messages"), (CH, {"messages": [{"role": 1, "content": "x"}]}, 400, "PC6264", "messages"),
    (CH, {"messages": [{"role": "pope", "content": "x"}]}, 400, "PC4102", None),
    (C, {"prompt": "x" * 512}, 400, "PC6266", "prompt"), (C, {"prompt": "x" * 10, "max_tokens": 503}, 400, "PC6266", "prompt"), (E, {"input": "x" * 513}, 400, "PC6266", "input"),
    (CH, {"messages": [{"role": "user", "content": "x" * 600}]}, 400, "PC6266", "messages"),
    (C, {"prompt": ["x"] * 64, "n": 8, "max_tokens": 500, "logprobs": 20}, 400, "PC6267", "max_tokens"),
    (C, b"", 400, "PC6260", None), (C, b"{", 400, "PC6260", None), (C, b"[]", 400, "PC6260", None), (C, b"{} x", 400, "PC6260", None), (C, b"\xff", 400, "PC6260", None),
    (C, b'{"model":"fake","prompt":"a\\u0000b"}', 400, "PC6260", None), (C, b'{"model":"fake","prompt":"\x00"}', 400, "PC6260", None), (C, deep, 400, "PC6260", None),
    (C, b'{"model":"fake","prompt":"x","n":1,"n":2}', 400, "PC6260", None), (C, b'{"model":"fake","prompt":"x","n":NaN}', 400, "PC6260", None),
    (C, b'{"model":"fake","prompt":"\\ud800"}', 400, "PC6260", None), (C, ("{" + ",".join(f'"a{i}":1' for i in range(70)) + "}").encode(), 400, "PC6260", None),
]
for path, body, status, code, param in BAD:
    if isinstance(body, dict):
        body = dict({"model": "fake"}, **body)
    got, headers, data = s.ask("POST", "/v1/" + path, body)
    doc = json.loads(data)
    e = doc.get("error", {})
    h.check(f"refused: {path} {str(body)[:80]}", got == status and list(doc) == ["error"] and list(e) == ["message", "type", "param", "code"] and e["code"] == code
            and e["param"] == param and e["message"] and headers["Content-Type"] == "application/json", (got, data))
h.check("the nearest name", "did you mean \\\"temperature\\\"?" in s.ask("POST", "/v1/completions", {"model": "fake", "prompt": "x", "temprature": 1})[2].decode())

# ---- paths and methods ------------------------------------------------------------------------------------------------------------------
J = {"Content-Type": "application/json"}
good = {"model": "fake", "prompt": "x"}
for name, args, status, code in (
        ("no such path", ("GET", "/"), 404, "PC6254"), ("an admin's path", ("GET", "/metrics"), 404, "PC6254"), ("a model's path", ("GET", "/v1/models/fake"), 404, "PC6254"),
        ("a query", ("GET", "/health?x=1"), 404, "PC6254"), ("a path in other words", ("GET", "/v1/../health"), 404, "PC6254"), ("an escaped path", ("GET", "/h%65alth"), 404, "PC6254"),
        ("GET of a call", ("GET", "/v1/completions"), 405, "PC6255"), ("POST of a document", ("POST", "/health", b"{}", J), 405, "PC6255"), ("OPTIONS", ("OPTIONS", "/v1/completions"), 405, "PC6255"),
        ("DELETE", ("DELETE", "/v1/models"), 405, "PC6255"), ("no type", ("POST", "/v1/completions", good, {}), 415, "PC6256"),
        ("text", ("POST", "/v1/completions", good, {"Content-Type": "text/plain"}), 415, "PC6256"), ("a form", ("POST", "/v1/completions", b"a=b", {"Content-Type": "application/x-www-form-urlencoded"}), 415, "PC6256"),
        ("another charset", ("POST", "/v1/completions", good, {"Content-Type": "application/json; charset=latin1"}), 415, "PC6256")):
    got, headers, data = s.ask(*args)
    h.check(name, got == status and json.loads(data)["error"]["code"] == code, (got, data))
    h.check(name + ": Allow", status != 405 or headers["Allow"] in ("GET", "POST"), headers)
h.check("a charset", s.ask("POST", "/v1/completions", good, {"Content-Type": "Application/JSON; charset=UTF-8"})[0] == 200)
got, _, data = s.ask("GET", "/v1/models")
h.check("models", json.loads(data) == {"object": "list", "data": [{"id": "fake", "object": "model", "created": 0, "owned_by": "pipectl", "cid": "bafkreifake", "context": 512}]}, data)

# ---- one connection, many requests --------------------------------------------------------------------------------------------------------
import http.client
c = http.client.HTTPConnection("localhost")
got = [s.ask(*a, keep=c)[0] for a in (("GET", "/health"), ("POST", "/v1/completions", good), ("POST", "/v1/completions", {}), ("GET", "/no"), ("POST", "/v1/completions", good)) for _ in range(3)]
h.check("a connection is kept", got == [200] * 6 + [400] * 3 + [404] * 3 + [200] * 3, got)
c.close()
h.check("it ends well", s.stop() == (0, ""))

# ---- a model that lacks something -----------------------------------------------------------------------------------------------------------
s = fake.Server("--chat", 0, "--embd", 0)
for path, body in ((CH, {"messages": say}), (E, {"input": "x"})):
    code, doc = s.post(path, **body)
    h.check("lacks " + path, code == 400 and doc["error"]["code"] == "PC6276", doc)
s.stop()
h.finish()
