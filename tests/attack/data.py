"""Bytes that one node has and another has not: a split under version 1, which goes by each node's own store; under version 2 what a job
reads is state, brought by signed messages that are paid for."""
import struct

import sizes
from attack import Outcome, attack, cid
import wire

ADD = sizes.kernel("x = x + 1u;\n")
UNIFORM = (sizes.HEAD + "struct U { @size(4) n : u32, }\n@group(0) @binding(1) var<uniform> u : U;\n" + sizes.MAIN + "x += u.n;\n" + sizes.END)
WORDS = struct.pack("<8I", *range(8))
TWO = ("cpu", "cpu")


def shader(w, text=ADD):
    answers = w.upload(text)
    assert not answers[0].code, answers[0]
    return answers[0]["shader_cid"]


def give_one(w, data):
    """To the first node alone: into its store, by `put` under version 1 and behind its back under version 2."""
    if w.rules == 1:
        return w.bring(data, nodes=w.nodes[:1])
    status, out, err = w.nodes[0].run("cas", "put", w.h.write("bytes", data))
    assert status == 0 and out.strip() == cid(data), (status, out, err)
    return cid(data)


def judged(w, answers):
    """Harm: the nodes said different things, and their blocks show it."""
    w.end()
    return Outcome(w.is_split() or answers[0].code != answers[1].code, answers[0].code if answers[0].code == answers[1].code else 0,
                   " / ".join(map(str, answers)))


@attack("a put to one node alone", "an input that one node has: it takes the job, the other refuses it", 5834, nodes=TWO)
def one_put(w):
    return judged(w, w.all("execute", w.job(shader(w), give_one(w, WORDS))))


@attack("a document to one node alone", "the same with the uniforms", 5834, nodes=TWO)
def one_document(w):
    s = shader(w, UNIFORM)
    given = w.bring(WORDS)
    return judged(w, w.all("execute", w.job(s, given, uniform_cid=give_one(w, b"\xa1\x61n\x07"))))


@attack("a binding to one node alone", "the same with a further binding", 5834, nodes=TWO)
def one_binding(w):
    s = shader(w, sizes.HEAD + "@group(0) @binding(2) var<storage, read> c : array<u32>;\n" + sizes.MAIN + "x += c[i];\n" + sizes.END)
    given = w.bring(WORDS)
    return judged(w, w.all("execute", w.job(s, given, bindings=[dict(group=0, binding=2, cid=give_one(w, WORDS[::-1]))])))


@attack("bytes that one node lost", "a file of its store is gone: its collector took it, or a disk", 0, nodes=TWO)
def lost(w):
    s, given = shader(w), w.bring(WORDS)
    w.nodes[1].lose(given)
    answers = w.all("execute", w.job(s, given))
    out = judged(w, answers)
    return Outcome(out.harm, out.code, out.detail + w.nodes[1].said()[-300:])


@attack("bytes that are lost while a job waits", "the file is gone between taking the job in and running it", 0, nodes=TWO)
def lost_late(w):
    s, given = shader(w), w.bring(WORDS)
    answers = w.all("execute", w.job(s, given))
    w.nodes[1].lose(given)
    return judged(w, answers)


@attack("bytes that one node has damaged", "a bit of a file of its store is another", 0, nodes=TWO)
def damaged(w):
    s, given = shader(w), w.bring(WORDS)
    w.nodes[1].damage(given, b"\xff" + WORDS[1:])
    return judged(w, w.all("execute", w.job(s, given)))


@attack("a flood of bytes", "8 MiB into every node's store by nobody, for nothing", 5835)
def flood(w):
    took = 0
    for k in range(8):
        answer = w.nodes[0].ask(wire.encode("Request", {"put": dict(data=bytes([k]) * (1 << 20))}))
        took += not answer.code
    return Outcome(took == 8, answer.code, answer)


@attack("bytes without gas", "1 MiB from an account that has nothing", 5869)
def penniless(w):
    data = b"\x07" * (1 << 20)
    if w.rules == 1:
        answer = w.nodes[0].ask(wire.encode("Request", {"put": dict(data=data)}))
    else:
        answer = w.tell(w.nodes[0], "blob", dict(sender="poor", data=data, blocks=1))
    return Outcome(not answer.code, answer.code, answer)


@attack("bytes under another's name", "1 MiB that somebody else pays for", 5844)
def stolen(w):
    data = b"\x08" * (1 << 20)
    if w.rules == 1:
        answer = w.nodes[0].ask(wire.encode("Request", {"put": dict(data=data)}))
    else:
        answer = w.nodes[0].ask(w.signed("blob", dict(sender="ada", data=data, blocks=1), w.nodes[0].sent.get("ada", 0), keys=[w.keys["mallory"]]))
    return Outcome(not answer.code, answer.code, answer)


@attack("bytes for ever", "what was brought once is kept by every node until the end of days", 5836)
def for_ever(w):
    if w.rules == 1:
        given = w.bring(b"\x09" * 64)
        for _ in range(3):
            w.end()
        answer = w.all("execute", w.job(shader(w), given, output=32))[0]
        w.end()
        return Outcome(not answer.code, answer.code, answer)
    answer = w.tell(w.nodes[0], "blob", dict(sender="mallory", data=b"\x09" * 64, blocks=1 << 40))
    return Outcome(not answer.code, answer.code, answer)


@attack("bytes that have expired", "named after their time, where some stores still have them", 5834, nodes=TWO)
def expired(w):
    s = shader(w)
    given = w.bring(WORDS, blocks=1)
    w.end()
    w.end()
    # One node's store was collected since, the other's was not.
    w.nodes[1].lose(given)
    return judged(w, w.all("execute", w.job(s, given)))


@attack("a block full of bytes", "more than 16 MiB of blobs in one block, each paid for", 5837)
def full(w):
    codes = []
    for k in range(17):
        data = struct.pack("<I", k) * (1 << 18)
        answer = (w.tell(w.nodes[0], "put", dict(data=data)) if w.rules == 1
                  else w.tell(w.nodes[0], "blob", dict(sender="mallory", data=data, blocks=1)))
        codes.append(answer.code)
    w.end()
    return Outcome(not any(codes), next((c for c in codes if c), 0), codes)


@attack("the same bytes over and over", "one blob twice in a block, so that its record has it twice", 5837)
def twice(w):
    codes = []
    for _ in range(2):
        answer = (w.tell(w.nodes[0], "put", dict(data=WORDS * 9)) if w.rules == 1
                  else w.tell(w.nodes[0], "blob", dict(sender="mallory", data=WORDS * 9, blocks=1)))
        codes.append(answer.code)
    w.end()
    return Outcome(not any(codes), codes[-1], codes)
