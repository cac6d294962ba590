"""`pipectl generate` on models with seeded weights: the same logits, to the bit, for every chunk, batch and device, as those of a plain run of the model's
pipeline; draws that are a function of seed, stream and position; what cannot be is refused. usage: generate.py small|devices DEVICE..."""
import json
import os
import shutil
import subprocess
import sys

import numpy as np

from harness import Harness, share

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops"))
from present import present  # noqa: E402

SMALL = ["--layers", "2", "--set", "n_embd=64", "--set", "n_heads=4", "--set", "n_kv_heads=2", "--set", "head_dim=16", "--set", "n_ff=96", "--vocab", "300", "--context", "256"]
PROMPT = "The quick brown fox, 12345 of them."
N = 6


def synth(h, name, shape, seed=1, sizes=SMALL, more=()):
    path = h.path(name)
    status, _, err = h.run("model", "synth", "--shape", shape, "--seed", str(seed), "--out", path, *sizes, *more)
    h.check(f"synth {name}", status == 0, err)
    return path


def generate(h, what, model, *args, prompt=PROMPT, tokens=N, context=128):
    """The document and the logits [sequences, tokens, n_vocab] as words; None after a failure that was told."""
    out = h.path("logits.npy")
    status, text, err = h.run("generate", "--model", model, "--prompt", prompt, "--tokens", str(tokens), "--context", str(context), "--json", "--logits", out,
                              "--ignore-end", *args)
    if not h.check(what, status == 0, err[:1500]):
        return None, None
    return json.loads(text), np.load(out).view(np.uint32)


def tokens_of(document):
    return [s["tokens"] for s in document["sequences"]]


def plain(h, model, tokens, vocab):
    """The logits of a prompt by `run` of the pipeline that `model pipeline` writes."""
    status, text, err = h.run("model", "pipeline", model, "--chunk", str(len(tokens)), "--context", "128")
    h.check("pipeline", status == 0, err)
    pipe = h.write("model.pipe.cfg", text)
    data = {"tokens": tokens, "start": [0], "count": [len(tokens)]}
    ins = [w for k, v in data.items() for w in ("--in", f"{k}=" + h.write(k, np.asarray(v, np.uint32).tobytes()))]
    status, _, err = h.run("run", "--no-in-place", pipe, *ins, "--out", "logits=" + h.path("copied"), "--backend", "cpu", "--no-memo")
    h.check("a plain run with copies", status == 0, err[:1500])
    status, _, err = h.run("run", pipe, *ins, "--out", "logits=" + h.path("plain"), "--backend", "cpu", "--no-memo")
    h.check("a plain run", status == 0 and h.read("plain") == h.read("copied"), err[:1500])
    status, _, err = h.run("plan", "--no-in-place", pipe, *ins, "--backend", "cpu")
    h.check("a plan with copies", status == 0, err)
    return np.frombuffer(h.read("plain"), np.uint32).reshape(vocab) if status == 0 else None


def same(h, what, a, b):
    h.check(what, a is not None and b is not None and a.shape == b.shape and bool((a == b).all()),
            "no logits" if a is None or b is None else f"{int((a != b).sum())} of {a.size} differ")


def sealed(h, text):
    """A text with this home's own signature, as a maker who lies would have it."""
    key = h.path("home/keys/signing.pem")
    if not os.path.exists(key):
        key = next(os.path.join(d, f) for d, _, fs in os.walk(h.path("home")) for f in fs if f == "signing.pem")
    body = h.write("body", text)
    value = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", body], capture_output=True, check=True).stdout.hex()
    public = subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-outform", "DER"], capture_output=True, check=True).stdout[-32:].hex()
    return text + f'signature : {{ key = "{public}"; value = "{value}"; }};\n'.encode()


def statements(h, model, device):
    """What was made is signed, and made again by other chunks; who lies is found out."""
    ask = ["--model", model, "--context", "128", "--backend", device]
    status, _, err = h.run("generate", *ask, "--prompt", PROMPT, "--tokens", "5", "--temperature", "0.7", "--seed", "9", "--top-k", "40", "--batch", "2", "--ignore-end",
                           "--receipt", h.path("said.cfg"))
    h.check("a statement", status == 0, err)
    said = h.read("said.cfg")
    status, out, err = h.run("generate", *ask, "--chunk", "3", "--replay", h.path("said.cfg"), "--json")
    h.check("made again", status == 0 and json.loads(out)["agrees"] is True, err)
    status, _, err = h.run("generate", *ask, "--replay", h.write("changed.cfg", said.replace(b'seed = "9"', b'seed = "8"')))
    h.check("a changed statement", status == 3 and "PC5012" in err, err)
    body = said[:said.rindex(b"signature : ")]
    h.check("our signature is one", sealed(h, body) == said)
    token = body.split(b'      tokens = "')[1].split(b'"')[0]
    first = token.split(b" ")
    third = b" ".join([*first[:2], str((int(first[2]) + 1) % 300).encode(), *first[3:]])
    logits = body.split(b'logits = "')[1].split(b'"')[0]
    for what, text, word in (("a token", body.replace(token, third, 1), "token 2"), ("logits", body.replace(logits, b"bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku", 1), "logits"),
                             ("an end", body.replace(b'"length"', b'"end"', 1), "ended by"), ("a prompt", body.replace(b'prompt = "84 ', b'prompt = "85 ', 1), "token")):
        status, _, err = h.run("generate", *ask, "--replay", h.write("lie.cfg", sealed(h, text)))
        if h.check(f"a lie about {what}", status == 6 and "PC6292" in err and word in err, f"{status}: {err}"):
            h.planted(f"a signed statement with another {what.split()[-1]}", "pipectl generate --receipt", "generate --replay: PC6292", err.strip().split("\n")[-1][:160])
    for what, text in (("a number", body.replace(b'top_p = "1"', b'top_p = "one"', 1)), ("a prompt", body.replace(b'prompt = "84 ', b'prompt = "84  ', 1)), ("a prompt in other digits", body.replace(b'prompt = "84 ', b'prompt = "0x54 ', 1)),
                       ("a number in other digits", body.replace(b'top_p = "1"', b'top_p = "1.0"', 1)), ("a key", body.replace(b"seed", b"sead", 1)),
                       ("a name that a terminal obeys", body.replace(b'device_name = "', b'device_name = "\\x1b[2J', 1))):
        status, _, err = h.run("generate", *ask, "--replay", h.write("form.cfg", sealed(h, text)))
        h.check(f"no statement: {what}", status == 3 and "PC6291" in err, f"{status}: {err}")
    other = synth(h, "other.gguf", "qwen2.5-0.5b", 2)
    status, _, err = h.run("generate", "--model", other, "--context", "128", "--backend", device, "--replay", h.path("said.cfg"))
    h.check("another model", status == 6 and "PC6292" in err and "of model" in err, f"{status}: {err}")
    # The question is the statement's, and all of it.
    for more in (("--prompt", "x"), ("--chat",), ("--system", "x"), ("--family", "chatml"), ("--tokens", "5"), ("--batch", "2"), ("--ignore-end",), ("--seed", "9"), ("--temperature", "0.7"), ("--top-k", "40"),
                 ("--top-p", "1"), ("--min-p", "0"), ("--repetition-penalty", "1"), ("--presence-penalty", "0"), ("--frequency-penalty", "0")):
        status, _, err = h.run("generate", *ask, *more, "--replay", h.path("said.cfg"))
        h.check(f"{more[0]} beside a statement", status == 2 and f"so {more[0]} has no place" in err, f"{status}: {err}")


def text_of(tokens):
    """Of a synth model's tokens, by the Unicode standard alone: a token a byte, none for those behind, U+FFFD for each maximal part that is no character."""
    return bytes(t for t in tokens if t < 256).decode("utf-8", "replace")


def texts(h, model, device):
    """The text is the same in a document and as it streams, with a zero in it, bytes that are no character, and tokens that its tokenizer has not; and what is
    made does not depend on how it is told."""
    bare = synth(h, "bare", "qwen2.5-0.5b")  # a folder, whose tokenizer ends where synth's bytes do
    drawn = ["--context", "128", "--temperature", "100", "--ignore-end", "--tokens", "40", "--backend", device, "--prompt", "hi"]
    for what, path, seed, more in (("a GGUF file", model, "2", ()), ("a folder", bare, "2", ()), ("two sequences", bare, "3", ("--batch", "2"))):
        status, out, err = h.run("generate", "--model", path, *drawn, "--seed", seed, "--json", "--receipt", h.path("told.cfg"), *more)
        if not h.check(f"a document of {what}", status == 0, err):
            continue
        said = json.loads(out)
        h.check(f"{what}: a zero is among them", any(0 in s["tokens"][:-1] for s in said["sequences"]), str(said["sequences"]))
        h.check(f"{what}: the document says of no error", said["diagnostics"] == [], str(said["diagnostics"]))
        for s in said["sequences"]:
            h.check(f"{what}: text of the document", s["text"] == text_of(s["tokens"]) and len(s["tokens"]) == 40 and max(s["tokens"]) >= 258, str(s))
        status, out, err = h.run("generate", "--model", path, *drawn, "--seed", seed, "--receipt", h.path("streamed.cfg"), *more)
        want = "".join(text_of(s["tokens"]) + "\n" for s in said["sequences"]).encode()
        h.check(f"{what}: text as it streams", status == 0 and out == want and "error" not in err, f"{status}: {out} {want} {err}")
        h.check_bytes(f"{what}: the same statement", h.read("streamed.cfg"), h.read("told.cfg"), 1)
    for what, args, want in (("a prompt with a zero in it", ("--prompt", "-"), "byte 3 of the prompt is zero"), ("too long a prompt", ("--prompt", "x" * 200, "--context", "128"), "PC6290")):
        status, out, err = h.run("generate", "--model", model, "--tokens", "1", "--backend", device, *args, stdin=b"abc\0def")
        h.check(f"{what}: nothing is an answer", status == (2 if "zero" in what else 3) and out == b"" and want in err, f"{status}: {out} {err}")


CHATML = "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"


def chats(h, model, device):
    """A folder's chat template, wherever it lies; what a message says becomes no special token."""
    folder, marks = h.path("chat"), ("<|im_start|>", "<|im_end|>")
    shutil.copytree(h.path("bare"), folder)
    place = os.path.join(folder, "tokenizer.json")
    with open(place) as f:
        words = json.load(f)
    words["added_tokens"] += [dict(words["added_tokens"][0], id=258 + i, content=mark) for i, mark in enumerate(marks)]
    with open(place, "w") as f:
        json.dump(words, f)

    def told(name, text):
        h.write("chat/" + name, text)

    def asked(*args):
        h.write("asked.cfg", b"")
        status, _, err = h.run("generate", "--model", folder, "--tokens", "1", "--context", "128", "--backend", device, "--receipt", h.path("asked.cfg"), *args)
        return status, err, [int(t) for t in h.read("asked.cfg").decode().partition('prompt = "')[2].partition('"')[0].split()]

    def want(*turns):
        return [t for role, words in turns for t in (258, *role.encode(), 10, *words.encode(), 259, 10)] + [258, *b"assistant", 10]

    listed = [{"name": "tools", "template": "x"}, {"name": "default", "template": CHATML}]
    for what, files in (("a text", {"tokenizer_config.json": {"chat_template": CHATML}}), ("a list", {"tokenizer_config.json": {"chat_template": listed}}), ("a file of its own", {"chat_template.jinja": CHATML}),
                        ("a file before a text", {"tokenizer_config.json": {"chat_template": "nobody's"}, "chat_template.jinja": CHATML})):
        for name in ("tokenizer_config.json", "chat_template.jinja"):
            if os.path.exists(os.path.join(folder, name)):
                os.unlink(os.path.join(folder, name))
        for name, said in files.items():
            told(name, (said if isinstance(said, str) else json.dumps(said)).encode())
        for args, turns in ((("--chat", "--prompt", "<|im_end|>"), [("user", "<|im_end|>")]), (("--system", "Be", "--prompt", "hi"), [("system", "Be"), ("user", "hi")])):
            status, err, got = asked(*args)
            h.check(f"a template in {what}", status == 0 and got == want(*turns), f"{status}: {got} {err}")
    os.unlink(os.path.join(folder, "chat_template.jinja"))
    for what, text, status_, code in (("a number", b'{"chat_template": 5}', 3, "PC6288"), ("two of them", b'{"chat_template": "a", "chat_template": "b"}', 3, "PC7001"), ("nobody's", b'{"chat_template": "x"}', 5, "PC7021"),
                                      ("two tokens that begin", b'{"bos_token": "<|im_end|>", "bos_token": "<|im_start|>"}', 3, "PC7001")):
        told("tokenizer_config.json", text)
        status, err, _ = asked("--prompt", "hi")
        h.check(f"refused: a template that is {what}", status == status_ and code in err, f"{status}: {err}")


def small(h, device):
    model = synth(h, "qwen2.gguf", "qwen2.5-0.5b")
    texts(h, model, device)
    chats(h, model, device)
    document, whole = generate(h, "all at once", model, "--backend", device)
    h.check("not all tokens are one", len(set(tokens_of(document)[0])) > 1, str(tokens_of(document)))
    greatest = [[int(np.argmax(row.view(np.float32))) for row in rows] for rows in whole]
    h.check("a greedy token is the greatest logit's", greatest == tokens_of(document), f"{greatest} {tokens_of(document)}")
    for chunk in (1, 7):
        _, got = generate(h, f"chunks of {chunk}", model, "--backend", device, "--chunk", str(chunk))
        same(h, f"chunks of {chunk} change nothing", got, whole)
    # A short prompt goes token by token while nothing is built for chunks, where nobody asks for them; else, and a longer one, it is one step.
    for what, prompt, more, singly in (("16 tokens", PROMPT[:16], (), True), ("17 tokens", PROMPT[:17], (), False), ("a chunk that is asked for", PROMPT[:16], ("--chunk", "64"), False)):
        told, got = generate(h, what, model, "--backend", device, *more, prompt=prompt, tokens=2)
        h.check(f"{what}: steps", told is not None and told["submissions"] == str(len(prompt) + 1 if singly else 2) and told["prefill"]["tokens"] == str(len(prompt)) and told["decode"]["tokens"] == "1", str(told)[:900])
        if singly:
            by_tokens = got
    same(h, "16 tokens in one chunk", got, by_tokens)
    for chunk in (5, 64):
        _, got = generate(h, f"three sequences, chunks of {chunk}", model, "--backend", device, "--batch", "3", "--chunk", str(chunk))
        for i in range(3):
            same(h, f"greedy, sequence {i} of three", None if got is None else got[i:i + 1], whole)
    # The bytes of the text are its tokens; synth's tokenizer puts none in front.
    status, text, err = h.run("generate", "--model", model, "--prompt", PROMPT, "--tokens", "1", "--context", "128", "--json", "--backend", device)
    n_prompt = json.loads(text)["prompt_tokens"]
    h.check("a token a byte", status == 0 and n_prompt == len(PROMPT), f"{n_prompt} {err}")
    first = plain(h, model, list(PROMPT.encode()), 300)
    same(h, "a plain run gives the first token's logits", first, whole[0, 0])
    drawn = ["--temperature", "0.9", "--top-k", "50", "--top-p", "0.95", "--seed", "7", "--backend", device]
    one, _ = generate(h, "drawn", model, *drawn)
    again, _ = generate(h, "drawn again", model, *drawn, "--chunk", "3")
    three, _ = generate(h, "drawn, three", model, *drawn, "--batch", "3")
    h.check("the same seed gives the same tokens", tokens_of(one) == tokens_of(again))
    h.check("a sequence draws as it does alone", tokens_of(three)[0] == tokens_of(one)[0])
    h.check("streams differ", len({str(t) for t in tokens_of(three)}) == 3, str(tokens_of(three)))
    other, _ = generate(h, "another seed", model, *drawn[:-3], "8", "--backend", device)
    h.check("seeds differ", tokens_of(other) != tokens_of(one))
    plainly, _ = generate(h, "plain", model, "--backend", device, tokens=12)
    fresh, _ = generate(h, "penalised", model, "--backend", device, "--repetition-penalty", "100", "--presence-penalty", "10", "--frequency-penalty", "100", tokens=12)
    h.check("what was there does not come again", len(set(tokens_of(fresh)[0])) == 12 and not set(tokens_of(fresh)[0]) & set(PROMPT.encode()), str(tokens_of(fresh)))
    h.check("without a penalty it does", len(set(tokens_of(plainly)[0])) < 12, str(tokens_of(plainly)))
    status, _, err = h.run("generate", "--model", model, "--prompt", "x" * 20, "--tokens", "500", "--context", "64", "--ignore-end", "--backend", device)
    h.check("a context that is full is told", status == 0 and "the context of 64 tokens is full: sequence 0 ends after " in err and " of 500\n" in err, err)
    status, _, err = h.run("generate", "hello", "--model", model, "--prompt", "x")
    h.check("an argument too many is named", status == 2 and 'PC0010' in err and '"hello" is one argument too many' in err, err)
    status, text, err = h.run("generate", "--model", model, "--prompt", "-", "--tokens", "3", "--context", "128", "--backend", device, stdin=PROMPT.encode())
    h.check("the prompt from standard input", status == 0 and "tokens/s" in err, err)
    for shape, more in (("qwen3-0.6b", ()), ("llama3.2-1b", ("--type", "bf16")), ("gemma-2b", ()), ("mixtral-8x7b", ("--set", "n_experts=4")), ("qwen1.5-moe-a2.7b", ("--set", "n_experts=4", "--set", "n_ff_shared=96")), ("mistral-7b", ("--type", "q8_0")), ("phi3-mini-4k", ("--set", "window=7")), ("phi4-mini-4k", ("--set", "rope_dims=12")),
                        ("deepseek-moe-16b", ("--set", "n_layers=3", "--set", "window=7", "--set", "n_experts=4", "--set", "n_used=2", "--set", "n_ff_shared=192", "--set", "n_ff_dense=80"))):
        path, prompt = synth(h, f"{shape}.gguf", shape, 3, more=more), PROMPT[:len(share(range(len(PROMPT))))]
        _, got = generate(h, shape, path, "--backend", device, tokens=3, prompt=prompt)
        _, cut = generate(h, f"{shape} in chunks", path, "--backend", device, "--chunk", "4", "--batch", "2", tokens=3, prompt=prompt)
        for i in range(2):
            same(h, f"{shape}: chunks and batch change nothing", None if cut is None else cut[i:i + 1], got)
    statements(h, model, device)
    bad = [(("--context", "100000"), 3, "context"), (("--chunk", "0"), 3, "chunk"), (("--batch", "0"), 3, "sequences"), (("--temperature", "-1"), 2, "--temperature"),
           (("--top-p", "2"), 2, "--top-p"), (("--family", "nobody"), 5, "nobody"), (("--prompt", ""), 3, "prompt"), (("--prompt", "x" * 200, "--context", "128"), 3, "context"),
           (("--tokenizer", h.path("none")), 70, "none"), (("--chat",), 2, "template")]
    for args, want, word in bad:
        status, _, err = h.run("generate", "--model", model, "--backend", "cpu", *(() if "--prompt" in args else ("--prompt", "x")), *args)
        h.check(f"refused: {' '.join(args)[:60]}", status != 0 and word in err and (want == 70 or status == want), f"{status}: {err[:600]}")
    status, _, err = h.run("generate", "--model", h.path("none.gguf"), "--prompt", "x")
    h.check("no model", status == 3 and "PC6280" in err, f"{status}: {err}")


def devices(h, names):
    model = synth(h, "qwen3.gguf", "qwen3-0.6b")
    _, want = generate(h, "cpu", model, "--backend", "cpu", prompt="ab", tokens=3)
    for device in names:
        _, got = generate(h, device, model, "--backend", device, "--chunk", "2", prompt="ab", tokens=3)
        same(h, f"{device}: cpu's logits", got, want)


def main():
    h = Harness()
    if sys.argv[1] == "small":
        small(h, sys.argv[2])
    else:
        devices(h, present(h, sys.argv[2:]))
    h.finish()


if __name__ == "__main__":
    main()
