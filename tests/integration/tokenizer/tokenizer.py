"""`pipectl tokenizer`: tokenizers of every kind trained on Debian's licences, their ids against oracle.py, which works from the definitions; the
same of training; what comes back of ids; conversations; refusals."""
import json
import os
import random

from harness import Harness
from oracle import GPT2, Oracle, train_bpe, train_unigram

LICENCES = "/usr/share/common-licenses/"
REFUSED, UNSUPPORTED, USAGE = 3, 5, 2
ENCODE = ["tokenizer", "encode"]
SPECIAL = ["<|im_start|>", "<|im_end|>", "<think>", "</think>"]


def train(h, out, command, files):
    status, _, err = h.run(*command, "--out", h.path(out), *files)
    h.check(f"{out}: trained", status == 0, err)
    with open(h.path(out), encoding="utf-8") as f:
        return f.read()


def ids_of(h, command, path, text):
    status, out, err = h.run("--json", *command, path, "-", stdin=text)
    return json.loads(out)["ids"] if status == 0 else err


def texts(r, licence):
    pools = ["abcXYZ", " ", " \n\t\r", "0123456789\u0660\u00b2\u2167", "'sStTmM\u017fdDlLrRvVeE", "\u00e9\u0301\u0323\u212b\u1100\u1161\u11a8", "\u4e2d\u6587\u3042\uac00",
             "\U0001f468\u200d\U0001f469\u200d\U0001f467\ufe0f\U0001f3fd", "\u00a0\u1680\u180e\u2003\u2028\u202f\u3000\x85\x1c", "!?#/\\.,-_", "\u01c5\u02b0\u05d0\u0905\u0903",
             # Marks of many classes, some of which are taken apart.
             "a\u0345\u0334\u0316\u0301\u0344\u0f71\u0f73\u0f75\u0f81\u0323\u0308\u1ea5\u3099\u304b\u0591\u05b0"]
    for _ in range(120):
        at = r.randrange(len(licence))
        yield licence[at:at + r.randrange(1, 200)]
        yield "".join("".join(r.choice(p) for _ in range(r.randrange(1, 8))) for p in r.choices(pools, k=r.randrange(1, 9)))
    yield "<|im_start|>user\nx<|im_end|>"
    yield "<s>a</s><unk>"


def encoding(h, licence):
    """One run encodes many texts, joined by a special token that stands in none of them; every tenth and the last two have runs of their own besides, with
    special tokens and without."""
    files = [LICENCES + n for n in ("GPL-3", "Apache-2.0")]
    marks = [w for t in SPECIAL for w in ("--token", t)]
    for name in ("gpt2", "llama3", "qwen2", "tekken", "llama", "unigram"):
        command = ["tokenizer", "train", "--tokens", "900", "--kind", name] if name in ("llama", "unigram") else ["tokenizer", "train", "--tokens", "900", "--family", name]
        oracle = Oracle(train(h, f"{name}.json", command + marks, files))
        path, wrong, every = h.path(f"{name}.json"), [], list(texts(random.Random(5), licence))
        between, joined = oracle.added["<think>"]["id"], [text for text in every if not any(mark in text for mark in SPECIAL)]
        ids, parts = ids_of(h, ["tokenizer", "encode", "--special"], path, "<think>".join(joined).encode()), [[]]
        for i in ids:
            parts[-1].append(i)
            if i == between:
                parts[-1].pop()
                parts.append([])
        h.check(f"{name}: as many parts as texts", len(parts) == len(joined) > 200, f"{len(parts)} of {len(joined)}")
        got = [(text, True, part) for text, part in zip(joined, parts)]
        for at in [*range(0, len(every) - 2, 10), *range(1, len(every) - 2, 10), len(every) - 2, len(every) - 1]:
            special = at % 2 == 1
            got.append((every[at], special, ids_of(h, ["tokenizer", "encode", "--special"] if special else ENCODE, path, every[at].encode())))
        wrong = [(text, ids, oracle.encode(text, special)) for text, special, ids in got if ids != oracle.encode(text, special)]
        h.check(f"{name}: {len(got)} texts", not wrong, repr(wrong[:1]))


def planted(h, licence):
    """A tokenizer that is nearly right is seen: merges in another order, another family's expression, a score that is another, Unicode's normal
    form left out."""
    order = json.loads(h.read("gpt2.json"))
    order["model"]["merges"][0:40] = order["model"]["merges"][39::-1]
    words = json.loads(h.read("llama3.json"))
    words["pre_tokenizer"] = json.loads(h.read("gpt2.json"))["pre_tokenizer"]
    score = json.loads(h.read("unigram.json"))
    score["model"]["vocab"][40][1] -= 9.0
    form = json.loads(h.read("qwen2.json"))
    form["normalizer"] = None
    more = "in at he in th er \u00e9 e\u0301 \u1100\u1161 12345678 FREEsoftware GNUlicense "
    for name, fault, j in (("gpt2", "merges in the wrong order", order), ("llama3", "another family's pre-tokens", words), ("unigram", "a wrong score", score),
                           ("qwen2", "no normal form", form)):
        path, want = h.write("planted.json", json.dumps(j).encode()), Oracle(h.read(f"{name}.json")).encode(licence + more, False)
        got = ids_of(h, ENCODE, path, (licence + more).encode())
        at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), None)
        if h.check(f"{fault}: caught", at is not None, "the ids are the same"):
            h.planted(fault, f"a tokenizer of {name}", "the ids of oracle.py", f"id {at}: got {got[at]}, wanted {want[at]}")


def training(h, licence):
    text = licence[:6000]
    h.write("small.txt", text.encode())
    made = json.loads(train(h, "small.json", ["tokenizer", "train", "--tokens", "420", "--token", "<s>"], [h.path("small.txt")]))
    ids, merges = train_bpe(text, GPT2, ["<s>"], 420)
    h.check("byte pairs as counted from the beginning each time", made["model"]["vocab"] == ids and made["model"]["merges"] == merges)
    h.write("smaller.txt", licence[:1500].encode())
    made = json.loads(train(h, "uni.json", ["tokenizer", "train", "--kind", "unigram", "--tokens", "100"], [h.path("smaller.txt")]))
    got, want = dict(made["model"]["vocab"][3:]), train_unigram(licence[:1500], 97)
    h.check("unigram: the same pieces", set(got) == set(want), str(sorted(set(got) ^ set(want))))
    h.check("unigram: the same scores", all(abs(got[p] - want[p]) < 1e-9 for p in want if p in got))
    # More than the texts give: refused, or filled up.
    status, _, err = h.run("tokenizer", "train", "--tokens", "5000", "--out", h.path("no.json"), h.path("small.txt"))
    h.check("too little text", status == REFUSED and "PC7004" in err and not os.path.exists(h.path("no.json")), err)
    filled = json.loads(train(h, "filled.json", ["tokenizer", "train", "--tokens", "5000", "--fill"], [h.path("small.txt")]))
    h.check("filled up", filled["added_tokens"][-1]["id"] == 4999 and filled["added_tokens"][-1]["content"].startswith("<|reserved_"))


def back(h):
    """Ids to bytes and to whole characters."""
    for name in ("gpt2", "llama3", "llama"):
        path = h.path(f"{name}.json")
        for text in (b"plain", "h\u00e9llo \U0001f468\u200d\U0001f469".encode(), b"\xff\x80 a\xe4\xb8 \xf0\x9f\x91x\xed\xa0\x80", b" lead", b""):
            ids = ids_of(h, ENCODE, path, text)
            words = " ".join(map(str, ids)).encode()
            h.check(f"{name}: bytes of {text}", h.run("tokenizer", "decode", path, "-", stdin=words)[1] == text)
            h.check(f"{name}: characters of {text}", h.run("tokenizer", "decode", "--stream", path, "-", stdin=words)[1] == text.decode(errors="replace").encode())
    status, out, _ = h.run("--json", "tokenizer", "decode", h.path("gpt2.json"), *map(str, ids_of(h, ENCODE, h.path("gpt2.json"), b"a\0\xff")))
    h.check("every byte in the document", json.loads(out)["bytes"] == "6100ff")
    path = h.path("qwen2.json")
    ids = [str(i) for i in ids_of(h, ["tokenizer", "encode", "--special"], path, b"a<|im_end|>")]
    h.check("special tokens are left out", h.run("tokenizer", "decode", path, *ids)[1] == b"a")
    h.check("or written", h.run("tokenizer", "decode", "--special", path, *ids)[1] == b"a<|im_end|>")
    for bad in ("900", "-1", "x", "4294967295"):
        status, _, err = h.run("tokenizer", "decode", path, "--", bad)
        h.check(f"{bad} is no token", status == REFUSED and "PC7005" in err, err)


def roles(h):
    path, config = h.path("qwen2.json"), h.write("config.json", b'{"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "add_bos_token": true}')
    start, end = SPECIAL.index("<|im_start|>"), SPECIAL.index("<|im_end|>")
    begun = ids_of(h, ["tokenizer", "encode", "--roles", config, "--begin"], path, b"a")
    h.check("begun", begun == [start] + ids_of(h, ["tokenizer", "encode", "--roles", config], path, b"a"), str(begun))
    status, out, err = h.run("--json", "tokenizer", "show", "--roles", config, path)
    shown = json.loads(out)
    h.check("shown", status == 0 and (shown["bos"], shown["eos"], shown["ends"], shown["size"]) == (start, end, [end], 900) and shown["kind"] == "byte-level BPE", err)
    status, out, _ = h.run("tokenizer", "show", path, "0", "899")
    h.check("tokens are shown", status == 0 and b"<|im_start|>" in out and b"special" in out and b"normal" in out)
    added = json.loads(open(path, encoding="utf-8").read())
    added["added_tokens"][2]["special"] = False
    changed = h.write("added.json", json.dumps(added).encode())
    h.check("an added token is found", ids_of(h, ENCODE, changed, b"<think>") == [2])
    h.check("or is text", 2 not in ids_of(h, ["tokenizer", "encode", "--no-added"], changed, b"<think>"))


def chat(h):
    path = h.path("qwen2.json")
    line = ["tokenizer", "chat", "--family", "qwen3", "--message", "system=be brief", "--message", "user=<|im_end|>?", "--no-thinking"]
    want = "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\n<|im_end|>?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    h.check("rendered", h.run(*line, "--render", path)[1].decode() == want)
    status, out, err = h.run("--json", *line, path)
    ids = json.loads(out)["ids"]
    h.check("as many marks as messages have", status == 0 and [ids.count(i) for i in range(4)] == [3, 2, 1, 1], err)
    h.check("and the same text", h.run("tokenizer", "decode", "--special", path, *map(str, ids))[1].decode() == want)
    short = h.run("tokenizer", "chat", "--family", "qwen3", "--message", "user=a", "--no-prompt", "--render", path)[1]
    h.check("no turn is begun", short == b"<|im_start|>user\na<|im_end|>\n")
    known = h.write("known.jinja", b"<|im_start|> <|im_end|>")
    status, out, err = h.run("--json", "tokenizer", "chat", "--template", known, "--message", "user=a", path)
    h.check("recognised", status == 0 and json.loads(out)["family"] == "chatml", err)
    known = h.write("template.json", json.dumps({"chat_template": "<|im_start|> enable_thinking <think>\\n\\n</think>"}).encode())
    h.check("within a tokenizer_config.json", json.loads(h.run("--json", "tokenizer", "chat", "--template", known, "--message", "user=a", path)[1])["family"] == "qwen3")
    unknown = h.write("unknown.jinja", b"{{ messages }}")
    other = h.write("other.jinja", b"<|im_start|> <|im_sep|> <|im_end|>")
    for more, code, exit_status in ((["--template", other, "--message", "user=a"], "PC7021", UNSUPPORTED), (["--template", unknown, "--message", "user=a"], "PC7021", UNSUPPORTED),
                                    (["--family", "alpaca", "--message", "user=a"], "PC7021", UNSUPPORTED),
                                    (["--family", "qwen3", "--message", "robot=a"], "PC7022", REFUSED), (["--family", "gemma", "--message", "user=a"], "PC7023", REFUSED),
                                    (["--message", "user=a"], "PC0010", USAGE), (["--family", "qwen3", "--message", "a"], "PC0010", USAGE)):
        status, _, err = h.run("tokenizer", "chat", path, *more)
        h.check(f"{more}: {code}", status == exit_status and code in err, err)


def refusals(h):
    good = json.loads(open(h.path("gpt2.json"), encoding="utf-8").read())
    for change, code, exit_status in (({"padding": {}}, "PC7002", UNSUPPORTED), ({"normalizer": {"type": "BertNormalizer"}}, "PC7002", UNSUPPORTED),
                                      ({"decoder": None}, "PC7001", REFUSED), ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}, "PC7003", REFUSED)):
        path = h.write("bad.json", json.dumps({**good, **change}).encode())
        status, _, err = h.run("tokenizer", "show", path)
        h.check(f"{change}: {code}", status == exit_status and code in err and err.count("error:") == 1, err)


def main():
    h = Harness()
    with open(LICENCES + "GPL-3", encoding="utf-8") as f:
        licence = f.read()
    encoding(h, licence)
    planted(h, licence)
    training(h, licence)
    back(h)
    roles(h)
    chat(h)
    refusals(h)
    h.finish()


main()
