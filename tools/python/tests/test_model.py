"""Models: a seeded one of the tool is described, spoken and run; what comes of it is the tool's, to the bit, however it is asked for."""
import gc
import os
import signal
import subprocess
import threading
import time

import numpy
import pytest
from conftest import TOOL, processes, wait_until

import pipectl
from harness import patient

SIZES = ("n_embd=64", "n_heads=2", "n_kv_heads=1", "head_dim=32", "n_ff=64", "n_vocab=258", "n_context=256")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "m.gguf"
    subprocess.run([TOOL, "model", "synth", "--shape", "qwen3-0.6b", "--layers", "1", "--seed", "7", "--out", out, "-q",
                    *(w for s in SIZES for w in ("--set", s))], check=True)
    return out


@pytest.fixture
def model(home, path):
    with pipectl.Model(path, backend="cpu", slots=3, chunk=4) as opened:
        yield opened


def test_weights_that_stream(home, path):
    """Bytes that stay, that come for a token, and the most there were; no bit of an answer knows of them."""
    with pipectl.Model(path, backend="cpu", context=64, chunk=4) as whole:
        want = whole.logits("Hello")
        all_ = whole.facts
    assert all_["peak_bytes"] == all_["total_bytes"] and all_["uploaded_bytes"] == all_["token_uploaded_bytes"] == 0 and all_["token_submits"] == 1
    budget = all_["total_bytes"] - all_["constant_bytes"] // 4
    with pipectl.Model(path, backend="cpu", context=64, chunk=4, memory_budget=budget) as cut:
        assert cut.logits("Hello").tobytes() == want.tobytes()
        facts = cut.facts
    assert facts["total_bytes"] <= facts["peak_bytes"] <= budget and facts["constant_bytes"] < all_["constant_bytes"]
    assert facts["token_uploaded_bytes"] >= all_["constant_bytes"] - facts["constant_bytes"] > 0 and facts["token_submits"] > 1
    assert facts["uploaded_bytes"] >= facts["token_uploaded_bytes"] and all_["peak_bytes"] > facts["peak_bytes"]
    with pipectl.Model(path, backend="cpu", context=64, memory_budget=1) as none:
        refused(lambda: none.logits("Hello"), 5204)


def refused(call, code):
    with pytest.raises(pipectl.Error) as e:
        call()
    assert e.value.code == code, e.value
    return e.value


def test_what_it_is(model, tool, path):
    status, document = tool("model", "show", path)
    said, shown = model.describe(), document["model"]
    assert status == 0
    for name in ("family", "n_layers", "n_embd", "n_heads", "n_kv_heads", "head_dim", "n_ff", "n_vocab", "n_context", "n_experts", "window",
                 "rope_dims", "rope_pairing", "rope_scaling", "parameters"):
        assert str(said[name]) == str(shown[name]), name
    assert said["tied"] and said["qk_norm"] and not said["qkv_bias"] and said["layout"] == "gguf" and said["path"] == str(path)
    listed = model.tensors(cids=True)
    assert [t["name"] for t in listed] == [t["name"] for t in document["tensors"]] and sum(t["n_bytes"] for t in listed) == said["n_bytes"]
    assert listed[0]["shape"] == (258, 64) and listed[0]["role"] == "tok_embd" and listed[0]["cid"].startswith("bafkrei")
    assert model.check() is None


def test_its_pipeline_runs(model, home, tmp_path, path):
    text = model.pipeline(context=64, chunk=5)
    done = subprocess.run([TOOL, "model", "pipeline", path, "--context", "64", "--chunk", "5"], stdout=subprocess.PIPE, check=True)
    assert text.encode() == done.stdout
    (tmp_path / "m.pipe.cfg").write_text(text, encoding="utf-8")
    ids = numpy.array([[72, 101, 108, 108, 111]], dtype=numpy.uint32)
    result = pipectl.run(tmp_path / "m.pipe.cfg", tokens=ids, start=numpy.zeros(1, numpy.uint32), count=numpy.array([5], numpy.uint32), backends="cpu")
    assert (result.outputs["logits"][0].view(numpy.uint32) == model.logits(ids[0]).view(numpy.uint32)).all()
    refused(lambda: model.pipeline(context=257), 6290)


def test_words(model):
    t = model.tokenizer
    assert t.encode("Hello") == list(b"Hello") and t.decode(b"Hello") == "Hello"
    assert t.encode("é<|end|>") == list("é<|end|>".encode()) and t.encode("<|end|>", special=True) == [257]
    assert t.encode(b"\xff\x00z") == [255, 0, 122] and t.decode_bytes([255, 0, 122]) == b"\xff\x00z" and t.decode([255]) == "\ufffd"
    assert t.decode([257]) == "" and t.decode([257], special=True) == "<|end|>" and t.encode("") == []
    assert t.describe()["n_tokens"] == 258 and t.describe()["eos"] == 257 and t.describe()["pad"] is None
    refused(lambda: t.decode([258]), 7005)
    refused(lambda: t.decode([-1]), 11)
    refused(lambda: t.chat([{"role": "user", "content": "hi"}]), 7021)
    refused(lambda: model.chat([("user", "hi")]), 7021)


def test_a_conversation(home, path):
    """llama2's turns are plain words, which any vocabulary has."""
    with pipectl.Model(path, backend="cpu", family="llama2") as chatty:
        e = None
        try:
            ids = chatty.tokenizer.chat([("user", "hi")])
        except pipectl.Error as error:  # it wants <s> and </s>
            e = error
        assert e is None or e.code == 7023
        if e is None:
            assert "".join(chatty.chat([("user", "hi")], tokens=3)) == "".join(chatty.generate(ids, tokens=3))


def test_logits_and_embeddings(model):
    ids = model.tokenizer.encode("Hello world")
    every = model.logits(ids, all=True)
    assert every.shape == (11, 258) and every.dtype == numpy.float32
    assert (model.logits(ids) == every[-1]).all() and (model.logits("Hello") == every[4]).all() and (every[0] != every[1]).any()
    assert model.embed("Hello").shape == (64,) and numpy.isfinite(model.embed(ids)).all() and (model.embed("Hello") != model.embed(ids)).any()
    refused(lambda: model.logits([]), 6290)
    refused(lambda: model.logits([300]), 6290)
    refused(lambda: model.embed(range(257)), 6290)
    facts = model.facts
    assert facts["device"] == "cpu:0" and facts["n_free_slots"] == 3 and facts["total_bytes"] > facts["constant_bytes"] > 0


def test_text_comes_as_the_tool_has_it(model, tool, path):
    asked = {"tokens": 12, "seed": 5, "temperature": 0.9, "top_k": 50, "repetition_penalty": 1.2}
    status, document = tool("generate", "--model", path, "--prompt", "Once", "--backend", "cpu", "--tokens", 12, "--seed", 5, "--temperature", 0.9, "--top-k", 50,
                            "--repetition-penalty", 1.2, "--batch", 2)
    assert status == 0
    g = model.generate("Once", sequences=2, **asked)
    pieces = list(g)
    for i, want in enumerate(document["sequences"]):
        mine = [p for p in pieces if p.sequence == i]
        assert [p.token for p in mine if p.token is not None] == want["tokens"] == g.tokens[i]
        assert "".join(mine) == g.texts[i] and g.ended_by[i] == want["ended_by"]
        assert bytes(t for t in want["tokens"] if t < 256).decode("utf-8", "replace") == g.texts[i]
    alone = model.generate(model.tokenizer.encode("Once"), **asked).finish()
    assert alone.tokens[0] == document["sequences"][0]["tokens"] and list(alone) == [p for p in pieces if p.sequence == 0]
    assert model.generate("Once", **{**asked, "seed": 6}).finish().tokens != alone.tokens


def test_logits_of_tokens(model):
    first = next(model.generate("Once", logits=True))
    assert (first.logits == model.logits("Once")).all() and first.token == int(first.logits.argmax())
    assert next(model.generate("Once")).logits is None


def test_how_it_ends(model, path):
    g = model.generate("a", tokens=0)
    assert list(g) == [] and g.ended_by == ["length"] and g.tokens == [[]]
    refused(lambda: model.generate(""), 6290)
    refused(lambda: model.generate("x", temperature=-1), 6290)
    refused(lambda: model.generate("x", sequences=4), 6290)
    with pipectl.Model(path, backend="cpu", context=64, chunk=64) as short:
        long = short.generate("x" * 58, tokens=1000, ignore_end=True).finish()
        assert long.ended_by == ["context"] and len(long.tokens[0]) == 6


def test_statements(model, tool, path, tmp_path):
    g = model.generate("Once", tokens=4, seed=3, temperature=1, receipt=True)
    refused(lambda: g.receipt, 11)
    text = g.finish().receipt
    g.close()
    assert model.replay(text) is None
    (tmp_path / "said").write_bytes(text)
    status, document = tool("generate", "--model", path, "--replay", tmp_path / "said", "--backend", "cpu")
    assert status == 0 and document["agrees"]
    model.replay(tmp_path / "said", signer=document["signer"])
    refused(lambda: model.replay(text, signer="00"), 5906)
    refused(lambda: model.replay(text.replace(b"Once", b"once") + b" "), 5012)
    refused(lambda: model.replay(text.replace(b'seed = "3"', b'seed = "4"')), 5012)


def test_lives(home, path):
    """Whatever is closed, dropped or collected first."""
    model = pipectl.Model(path, backend="cpu", slots=2)
    g, other = model.generate("a", tokens=3), model.generate("b", tokens=3)
    assert model.facts["n_free_slots"] == 0
    refused(lambda: model.generate("c"), 6290)
    del g
    gc.collect()
    assert model.facts["n_free_slots"] == 1
    with model.generate("c", tokens=2) as third:
        assert len(list(third)) >= 2
    refused(lambda: third.texts, 11)
    model.close()
    model.close()
    refused(model.describe, 11)
    refused(lambda: list(other), 11)
    with pipectl.Installation() as opened:
        m = pipectl.Model(path, backend="cpu", installation=opened)
        assert len(list(m.generate("a", tokens=2))) >= 2
        m.close()
        assert opened.devices()
    refused(lambda: pipectl.Model("/nowhere"), 6280)
    assert not processes()


def test_other_threads_go_on(model):
    """The interpreter's lock is free while a step runs."""
    turns, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0.001)

    model.generate("a", tokens=1).finish()
    t = threading.Thread(target=count)
    t.start()
    model.generate("a" * 50, tokens=5, ignore_end=True).finish()
    stop.set()
    t.join()
    assert turns[0] > 20


@pytest.mark.parametrize("late", (0.05, 0.1, 0.2, 0.3))
def test_an_interrupt(home, path, late):
    """While it loads, builds what chunks take (which ends the worker of what was built before) or runs: the next question is answered."""
    with pipectl.Model(path, backend="cpu") as model:
        want = model.generate("a", tokens=5).finish().tokens

        def interrupt():
            wait_until(processes)
            time.sleep(late)
            os.kill(os.getpid(), signal.SIGINT)

        t = threading.Thread(target=interrupt)
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            t.start()
            while True:
                model.generate("a" * 200, tokens=5, ignore_end=True).finish()
        t.join()
        assert time.monotonic() - began < patient(60)
        gc.collect()
        assert model.generate("a", tokens=5).finish().tokens == want
    assert not processes()


@pytest.fixture(scope="module")
def loras(tmp_path_factory, path):
    out = tmp_path_factory.mktemp("adapters")
    for name, seed in (("one.gguf", 8), ("two", 9)):
        subprocess.run([TOOL, "model", "synth", "--shape", "qwen3-0.6b", "--layers", "1", "--seed", str(seed), "--lora", "2", "--out", out / name, "-q",
                        *(w for s in SIZES for w in ("--set", s))], check=True)
    return out / "one.gguf", out / "two"


def test_adapters(home, path, loras, tmp_path):
    """By name, several of one name, beside the model itself; what each gives is the tool's, and a statement names them."""
    one, two = loras
    with pipectl.Model(path, backend="cpu", slots=2, chunk=4, adapters={"one": one, "both": [one, (two, 0.5)]}) as model:
        plain, first, both = model.logits("Hello"), model.logits("Hello", adapter="one"), model.logits("Hello", adapter="both")
        assert len({a.tobytes() for a in (plain, first, both)}) == 3
        with pipectl.Model(path, backend="cpu") as alone:
            assert alone.logits("Hello").tobytes() == plain.tobytes()
        assert model.embed("Hello", adapter="one").tobytes() != model.embed("Hello").tobytes()
        g = model.generate("Hello", tokens=4, receipt=True, adapter="both")
        beside = model.generate("Hello", tokens=4)
        text = ""
        for piece in g:
            text += piece
            next(beside, None)
        said = g.finish().receipt
        done = subprocess.run([TOOL, "generate", "--model", path, "--lora", one, "--lora", f"{two}=0.5", "--prompt", "Hello", "--tokens", "4", "--backend", "cpu", "-q"],
                              stdout=subprocess.PIPE, check=True)
        assert done.stdout.decode() == text + "\n"
        model.replay(said, adapter="both")
        refused(lambda: model.replay(said, adapter="one"), 6292)
        refused(lambda: model.replay(said), 6292)
        refused(lambda: model.logits("Hello", adapter="three"), 6299)
        written = model.pipeline(context=64, loras=[one, (two, 0.5)])
        done = subprocess.run([TOOL, "model", "pipeline", path, "--context", "64", "--lora", one, "--lora", f"{two}=0.5"], stdout=subprocess.PIPE, check=True)
        assert written.encode() == done.stdout and "_lora1" in written
    with pytest.raises(pipectl.Error):
        pipectl.Model(path, backend="cpu", adapters={"one": (one, 0)})
    with pipectl.Model(path, backend="cpu", adapters={"one": path}) as wrong:
        refused(lambda: wrong.logits("Hello"), 6294)
