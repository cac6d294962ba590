"""Tokenizers from their definitions, plain and slow, off a tokenizer.json: pre-tokens by Python's re over classes made of unicodedata, merges one
by one over the whole word, unigram by trying every piece at every place; training by counting everything anew. Standard library only."""
import json
import math
import re
import sys
import unicodedata


def classes():
    """\\p{L} and its like as ranges for re."""
    wanted = {"L": ("Lu", "Ll", "Lt", "Lm", "Lo"), "N": ("Nd", "Nl", "No"), "M": ("Mn", "Mc", "Me"), "Lu": ("Lu",), "Ll": ("Ll",), "Lt": ("Lt",), "Lm": ("Lm",),
              "Lo": ("Lo",)}
    by_category = {}
    for c in range(sys.maxunicode + 1):
        spans = by_category.setdefault(unicodedata.category(chr(c)), [])
        if spans and spans[-1][1] == c - 1:
            spans[-1][1] = c
        else:
            spans.append([c, c])
    return {name: "".join(f"\\U{a:08x}-\\U{b:08x}" for k in kinds for a, b in by_category[k]) for name, kinds in wanted.items()}


CLASSES = classes()
WHITE = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def compiled(expression):
    """An expression of a tokenizer.json for re: classes spelled out, white space as Unicode has it."""
    out, inside, i = "", False, 0
    while i < len(expression):
        found = re.match(r"\\p\{(\w+)\}", expression[i:])
        two = expression[i:i + 2]
        if found:
            out += CLASSES[found[1]] if inside else f"[{CLASSES[found[1]]}]"
            i += len(found[0])
        elif two in (r"\s", r"\S"):
            out += WHITE if inside else f"[{'^' if two == chr(92) + 'S' else ''}{WHITE}]"
            i += 2
        else:
            inside = expression[i] == "[" or (inside and expression[i] != "]")
            out += two if expression[i] == "\\" else expression[i]
            i += 2 if expression[i] == "\\" else 1
    return re.compile(out)


def alphabet():
    plain = list(range(0x21, 0x7F)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    table, more = {}, 0x100
    for b in range(256):
        if b in plain:
            table[b] = chr(b)
        else:
            table[b], more = chr(more), more + 1
    return table


ALPHABET = alphabet()


class Oracle:
    def __init__(self, text):
        j = json.loads(text)
        self.model, self.added = j["model"], {t["content"]: t for t in j["added_tokens"]}
        self.normals = j["normalizer"] and j["normalizer"].get("normalizers", [j["normalizer"]]) or []
        pre = j["pre_tokenizer"]
        parts = pre and pre.get("pretokenizers", [pre]) or []
        self.bytes = any(p["type"] == "ByteLevel" for p in parts)
        self.metaspace = next((p for p in parts if p["type"] == "Metaspace"), None)
        split = next((p["pattern"]["Regex"] for p in parts if p["type"] == "Split" and "Regex" in p["pattern"]), GPT2 if self.bytes else None)
        self.split = compiled(split) if split else None
        if self.model["type"] == "BPE":
            self.ids = self.model["vocab"]
            self.ranks = {}
            for rank, pair in enumerate(self.model["merges"]):
                self.ranks.setdefault(tuple(pair), rank)
        else:
            self.ids = {piece: i for i, (piece, _) in enumerate(self.model["vocab"])}

    def encode(self, text, special):
        """special: the special tokens of the text are found, the longest of the leftmost."""
        names = sorted((t for t in self.added if special and self.added[t]["special"]), key=len, reverse=True)
        out = []
        for part in re.split("(" + "|".join(map(re.escape, names)) + ")", text) if names else [text]:
            if part in names:
                out.append(self.added[part]["id"])
            elif part:
                out += self.plain(part)
        return out

    def plain(self, text):
        for n in self.normals:
            kind = n["type"]
            text = {"NFC": lambda t: unicodedata.normalize("NFC", t), "Prepend": lambda t: "\u2581" + t, "Replace": lambda t: t.replace(" ", "\u2581")}[kind](text)
        if self.metaspace:
            text = text.replace(" ", "\u2581")
            text = text if text[0] == "\u2581" else "\u2581" + text
            words = re.findall("\u2581?[^\u2581]*", text)
        else:
            words = self.split.findall(text) if self.split else [text]
        return [i for w in words if w for i in (self.bpe(w) if self.model["type"] == "BPE" else self.unigram(w))]

    def bpe(self, word):
        parts = [ALPHABET[b] for b in word.encode()] if self.bytes else list(word)
        if self.model["ignore_merges"] and "".join(parts) in self.ids:
            return [self.ids["".join(parts)]]
        while True:
            found = [(self.ranks[p], i) for i, p in enumerate(zip(parts, parts[1:])) if p in self.ranks]
            if not found:
                break
            i = min(found)[1]
            parts[i:i + 2] = [parts[i] + parts[i + 1]]
        out = []
        for p in parts:
            out += [self.ids[p]] if p in self.ids else [self.ids[f"<0x{b:02X}>"] for b in p.encode()]
        return out

    def unigram(self, word):
        specials = set(self.added)
        least = min(score for _, score in self.model["vocab"])
        best = [(0.0, None, None)] + [None] * len(word)
        for end in range(1, len(word) + 1):
            for begin in range(end):
                piece = word[begin:end]
                i = self.ids.get(piece) if piece not in specials else None
                score = self.model["vocab"][i][1] if i is not None else least - 10.0 if end == begin + 1 else None
                if score is not None and (best[end] is None or best[begin][0] + score > best[end][0]):
                    best[end] = (best[begin][0] + score, begin, i)
        out, at = [], len(word)
        while at:
            _, begin, i = best[at]
            if not (i is None and out and out[-1] == self.model["unk_id"]):
                out.append(self.model["unk_id"] if i is None else i)
            at = begin
        return out[::-1]


def train_bpe(text, expression, special, size):
    """Vocabulary and merges: count all pairs, merge the most frequent one of the lowest ids, count again."""
    chars = sorted(ALPHABET.values(), key=ord)
    ids = {t: i for i, t in enumerate(special + chars)}
    words = {}
    for w in compiled(expression).findall(text):
        words[w] = words.get(w, 0) + 1
    words = [([ALPHABET[b] for b in w.encode()], n) for w, n in words.items()]
    merges = []
    while len(ids) < size:
        counts = {}
        for parts, n in words:
            for p in zip(parts, parts[1:]):
                counts[p] = counts.get(p, 0) + n
        if not counts:
            break
        a, b = min(counts, key=lambda p: (-counts[p], ids[p[0]], ids[p[1]]))
        ids.setdefault(a + b, len(ids))
        merges.append([a, b])
        for parts, _ in words:
            i = 0
            while i + 1 < len(parts):
                if (parts[i], parts[i + 1]) == (a, b):
                    parts[i:i + 2] = [a + b]
                i += 1
    return ids, merges


def digamma(x):
    below = 0.0
    while x < 30:
        below += 1 / x
        x += 1
    return math.log(x) - 1 / (2 * x) - 1 / (12 * x ** 2) + 1 / (120 * x ** 4) - 1 / (252 * x ** 6) - below


def train_unigram(text, wanted):
    """Pieces and scores by expectation maximisation as README.md of core/model/tokenizer has it, in lists and logarithms."""
    marked = text.replace(" ", "\u2581")
    words = {}
    for w in re.findall("\u2581[^\u2581]*", marked if marked[0] == "\u2581" else "\u2581" + marked):
        words[w] = words.get(w, 0) + 1
    seen = {}
    for w, n in words.items():
        for i in range(len(w)):
            for k in range(i + 1, min(len(w), i + 16) + 1):
                seen[w[i:k]] = seen.get(w[i:k], 0) + n
    counts = {p: n * len(p) for p, n in seen.items() if len(p) == 1 or n >= 2}

    def scores_of(counts, f):
        total = f(sum(counts.values()))
        return {p: f(n) - total for p, n in counts.items()}

    def expected(scores):
        weights, out = {p: math.exp(s) for p, s in scores.items()}, {p: 0.0 for p in scores}
        for w, n in words.items():
            to, back = [1.0] + [0.0] * len(w), [0.0] * len(w) + [1.0]
            spans = [(i, k) for i in range(len(w)) for k in range(i + 1, min(len(w), i + 16) + 1) if w[i:k] in weights]
            for i, k in sorted(spans, key=lambda s: s[1]):
                to[k] += to[i] * weights[w[i:k]]
            for i, k in sorted(spans, key=lambda s: -s[0]):
                back[i] += back[k] * weights[w[i:k]]
            for i, k in spans:
                out[w[i:k]] += n * to[i] * weights[w[i:k]] * back[k] / to[-1]
        return {p: max(n, 0.5) if len(p) == 1 else n for p, n in out.items() if len(p) == 1 or n >= 0.5}

    def best(w, scores, without=None):
        ways = [(0.0, [])] + [(-math.inf, [])] * len(w)
        for k in range(1, len(w) + 1):
            for i in range(max(0, k - 16), k):
                p = w[i:k]
                if p in scores and p != without and ways[i][0] + scores[p] > ways[k][0]:
                    ways[k] = (ways[i][0] + scores[p], ways[i][1] + [p])
        return ways[-1]

    scores, before = scores_of(counts, math.log), math.inf
    while True:
        for _ in range(2):
            scores = scores_of(expected(scores), digamma)
        if len(scores) <= int(1.1 * wanted) or len(scores) >= before:
            break
        before = len(scores)
        used = {p: 0 for p in scores}
        for w, n in words.items():
            for p in best(w, scores)[1]:
                used[p] += n
        total, n_words, losses = sum(used.values()), sum(words.values()), []
        for p, s in scores.items():
            if len(p) == 1:
                losses.append((0, 0.0, p))
                continue
            sum_alone, parts = best(p, scores, p)
            if used[p] == 0 or sum_alone >= s:
                continue
            log_sum = math.log(total + used[p] * (len(parts) - 1))
            other = sum(math.log(used[q] + used[p]) - log_sum for q in parts)
            losses.append((1, -used[p] / n_words * (math.log(used[p]) - math.log(total) - other), p))
        losses.sort(key=lambda x: (x[0], x[1], x[2].encode()))
        keep = max(int(0.75 * len(scores)), int(1.1 * wanted))
        scores = {p: scores[p] for _, _, p in losses[:keep]}
    order = sorted(scores, key=lambda p: (len(p) != 1, -scores[p], p.encode()))[:wanted]
    return {p: scores[p] for p in order}
