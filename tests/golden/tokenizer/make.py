"""Makes the files beside this one, by hand, with what others wrote: tokenizers 0.23.3, sentencepiece 0.2.3 (PyPI). Tokenizers are trained on
licence texts; texts are drawn from a seed. usage: make.py DIR COUNT. A line of NAME.tsv is the text in hexadecimal, flags (1: special
tokens are found), ids. NAME.json is a tokenizer.json; NAME.scores lists pieces, scores and types as GGUF has them.
Only characters that Unicode 14 assigns are drawn: PCRE2 of Debian 12 knows no later ones."""
import json
import pathlib
import random
import sys
import unicodedata

import sentencepiece as spm
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LICENCES = [pathlib.Path("/usr/share/common-licenses") / n for n in ("GPL-3", "Apache-2.0", "MPL-2.0")]
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")
TEKKEN = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
          r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = {"gpt2": ["<|endoftext|>"], "llama3": ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"],
           "qwen2": ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], "tekken": ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"]}
PHI3 = ["<|endoftext|>", "<|assistant|>", "<|system|>", "<|end|>", "<|user|>"]
SIZE = 700


def byte_level(name):
    t = Tokenizer(models.BPE(ignore_merges=name in ("llama3", "tekken")))
    if name == "gpt2":
        t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        split = {"llama3": LLAMA3, "qwen2": QWEN2, "tekken": TEKKEN}[name]
        t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(split), "isolated", False),
                                                   pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    if name == "qwen2":
        t.normalizer = normalizers.NFC()
    t.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=SIZE, special_tokens=SPECIAL[name], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  show_progress=False)
    t.train([str(p) for p in LICENCES], trainer)
    if name == "llama3":
        t.post_processor = processors.TemplateProcessing(single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", 0)])
    if name == "qwen2":
        t.add_tokens([AddedToken("<think>", special=False, normalized=False), AddedToken("</think>", special=False, normalized=False),
                      AddedToken("Caf\u00e9", special=False, normalized=True)])
    return t


def pieces(model):
    p = spm.SentencePieceProcessor(model_file=model)
    kind = lambda i: 2 if p.is_unknown(i) else 3 if p.is_control(i) else 6 if p.is_byte(i) else 5 if p.is_unused(i) else 1
    return p, [(p.id_to_piece(i), p.get_score(i), kind(i)) for i in range(p.get_piece_size())]


def train_sp(folder, kind, **more):
    text = folder / "train.txt"
    text.write_text("\n".join(p.read_text() for p in LICENCES))
    spm.SentencePieceTrainer.train(input=str(text), model_prefix=str(folder / kind), model_type=kind, vocab_size=SIZE, minloglevel=2, character_coverage=1.0,
                                   normalization_rule_name="identity", remove_extra_whitespaces=False, num_threads=1, **more)
    return pieces(str(folder / f"{kind}.model"))


def merges_of(vocab):
    """As Hugging Face converts: every way to cut a piece into two pieces, the highest score first."""
    ids = {piece: i for i, (piece, _, _) in enumerate(vocab)}
    found = []
    for piece, score, kind in vocab:
        if kind != 1:
            continue
        local = [(piece[:k], piece[k:], score) for k in range(1, len(piece)) if piece[:k] in ids and piece[k:] in ids]
        found += sorted(local, key=lambda m: (ids[m[0]], ids[m[1]]))
    found.sort(key=lambda m: m[2], reverse=True)
    return [(a, b) for a, b, _ in found]


def llama(vocab, name):
    ids = {piece: i for i, (piece, _, _) in enumerate(vocab)}
    t = Tokenizer(models.BPE(vocab=ids, merges=merges_of(vocab), unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    special = [AddedToken(p, special=True, normalized=False) for p in ("<unk>", "<s>", "</s>")]
    strip = [decoders.Strip(" ", 1, 0)]
    if name in ("llama", "phi3"):
        t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
        t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    elif name == "mistral":
        t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
        special += [AddedToken("[INST]", special=True, normalized=False), AddedToken("[/INST]", special=True, normalized=False)]
    else:
        t.normalizer = normalizers.Replace(" ", "\u2581")
        t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
        strip = []
    if name == "phi3":
        special[2] = AddedToken("</s>", special=True, normalized=False, rstrip=True)
        special += [AddedToken(p, special=True, normalized=False, rstrip=p != PHI3[0]) for p in PHI3]
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()] + strip)
    t.add_special_tokens(special)
    if name == "gemma":
        t.add_tokens([AddedToken(p, special=False, normalized=False) for p in ("\n\n", "\n\n\n", "<h1>", "\t\t")])
    return t


def unigram(vocab):
    t = Tokenizer(models.Unigram([(p, s) for p, s, _ in vocab], unk_id=0, byte_fallback=False))
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    t.add_special_tokens([AddedToken(p, special=True, normalized=False) for p in ("<unk>", "<s>", "</s>")])
    return t


# ---- texts ----

def agreed(c):
    """Hugging Face's normal forms are of an older Unicode: combining marks that it does not know stay out."""
    return all(unicodedata.normalize("NFC", t) == normalizers.NFC().normalize_str(t) for t in (chr(c), "a\u0315" + chr(c) + "\u0316\u0327"))


def assigned(low, high):
    return [c for c in range(low, high) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co") and agreed(c)]


POOLS = [list(range(0x20, 0x7F)), list(range(0x20, 0x7F)), list(range(1, 0x20)), assigned(0x80, 0x250), assigned(0x300, 0x370), assigned(0x370, 0x600),
         assigned(0x600, 0x1200), assigned(0x1E00, 0x2100), assigned(0x2000, 0x2070), assigned(0x3000, 0x3100), assigned(0x4E00, 0x4E80), assigned(0xAC00, 0xAC80),
         assigned(0xF900, 0xFB50), assigned(0xFF00, 0xFFF0), assigned(0x1D400, 0x1D500), assigned(0x1F300, 0x1F700), assigned(0x20000, 0x20040),
         [0x200D, 0xFE0F, 0x1F468, 0x1F469, 0x1F3FB], list(range(0x30, 0x3A)), [0x660, 0xB2, 0x2167, 0x96F, 0x1D7CE], [0x20], [0x0A, 0x0D, 0x20, 0x09],
         [0x85, 0xA0, 0x1680, 0x180E, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0x1C, 0x1F]]
FIXED = ["'s 'S 'll 'LL 'Re 'vE 'm 'd 't'tt", "don't I'LL we\u2019ve it'\u017f", " ", "  ", "\n", "\r\n\r\n", "a  b   c    ", "\t\tx", "12345678901", "x\u0301\u0301y", "e\u0301 \u00e9 \u1e9b\u0323 \u212b",
         "\u1100\u1161\u11a8", "\ud55c\uad6d\uc5b4", "\u2581\u2581x \u2581", "<s>x</s>", "<|im_start|>user\nhi<|im_end|>", "<|begin_of_text|>a<|eot_id|>", "<think>x</think>", "Caf\u00e9 Cafe\u0301",
         "[INST] a [/INST] b", "<0x41>\u4e2d", "\n\n\n\n\n", "<h1>x</h1>", "a\n\n b \n\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "HTTPServer iPhone ABCdefGHI", "  GNU  ", "http://a/b//c"]


STRIPPED = ["<|user|>\n hi<|end|>\n<|assistant|>\n", "<|system|>\u3000\n x <|end|>", "<|end|>\x1c\n", "<|endoftext|> a", "</s>\u2028\u00a0b", "<s> c", "<|user|>", "<|user|> <|user|>  "]


def texts(count, seed, fixed=FIXED):
    r = random.Random(seed)
    words = " ".join(p.read_text() for p in LICENCES)
    yield from fixed
    for i in range(count - len(fixed)):
        kind = r.randrange(5)
        if kind == 0:
            at = r.randrange(len(words))
            yield words[at:at + r.randrange(1, 120)]
        elif kind == 1:
            yield "".join(r.choice(fixed) for _ in range(r.randrange(1, 5)))
        else:
            out = ""
            for _ in range(r.randrange(1, 12)):
                pool = r.choice(POOLS)
                out += "".join(chr(r.choice(pool)) for _ in range(r.randrange(1, 7)))
            yield out


def lines(name, t, count, seed, special):
    """Ids with special tokens found, or with them as text."""
    for i, text in enumerate(texts(count, seed, STRIPPED * 2 + FIXED if name == "phi3" else FIXED)):
        flag = i % 2 if special else 0
        if name == "unigram" and not flag and any(s in text for s in ("<unk>", "<s>", "</s>")):
            continue  # Hugging Face finds these pieces in any text; here no text becomes a special token unasked
        t.encode_special_tokens = not flag
        ids = t.encode(text, add_special_tokens=False).ids
        yield f"{text.encode().hex()}\t{flag}\t{' '.join(map(str, ids))}\n"


def main(folder, count):
    folder.mkdir(parents=True, exist_ok=True)
    made = {name: byte_level(name) for name in SPECIAL}
    bpe, vocab = train_sp(folder, "bpe", byte_fallback=True)
    made.update({name: llama(vocab, name) for name in ("llama", "mistral", "gemma")})
    uni, uni_vocab = train_sp(folder, "unigram")
    made["unigram"] = unigram(uni_vocab)
    made["phi3"] = llama(vocab, "phi3")
    for seed, (name, t) in enumerate(made.items()):
        (folder / f"{name}.json").write_text(json.dumps(json.loads(t.to_str()), ensure_ascii=False, separators=(",", ":")) + "\n")
        with open(folder / f"{name}.tsv", "w") as f:
            f.writelines(lines(name, t, count, seed, True))
    # SentencePiece itself: BPE by score.
    with open(folder / "scores.scores", "w") as f:
        for piece, score, kind in vocab:
            f.write(f"{piece.encode().hex()}\t{score!r}\t{kind}\n")
    with open(folder / "scores.tsv", "w") as f:
        for text in texts(count, 99):
            if text and "\u2581" not in text:
                f.write(f"{text.encode().hex()}\t0\t{' '.join(map(str, bpe.encode(text)))}\n")
    for left in ("train.txt", "bpe.model", "bpe.vocab", "unigram.model", "unigram.vocab"):
        (folder / left).unlink()


main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
