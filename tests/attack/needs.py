"""Jobs that need more than they pay for or than a machine has, and refusals that cost nothing."""
import struct

import sizes
from attack import Outcome, attack
import wire

ADD = sizes.kernel("x = x + 1u;\n")
WORDS = struct.pack("<8I", *range(8))


def shader(w, text=ADD):
    answers = w.upload(text)
    assert not answers[0].code, answers[0]
    return answers[0]["shader_cid"]


def taken(w, *args, **how):
    """The job is taken in and the block ends with it."""
    answer = w.all("execute", w.job(*args, **how))[0]
    end = w.end()[0]
    return Outcome(not answer.code and not end.code, answer.code, f"{answer} {end}")


@attack("a job of no workgroups", "zero groups, and an output that every node keeps", 5866)
def nothing(w):
    return taken(w, shader(w), w.bring(WORDS), groups=(0, 1, 1), output=1 << 20)


@attack("a job of no workgroups along z", "zero groups in the last direction", 5866)
def nothing_deep(w):
    return taken(w, shader(w), w.bring(WORDS + WORDS), groups=(1, 1, 0), output=1 << 16)


WIDE = (sizes.HEAD + "".join(f"@group(0) @binding({k}) var<storage, read> c{k} : array<u32>;\n" for k in range(2, 5)) + sizes.MAIN
        + "".join(f"x += c{k}[i];\n" for k in range(2, 5)) + sizes.END)


@attack("more memory than a machine has", "five bindings of outputs of 64 MiB each, and an output of as much", 5867)
def memory(w):
    """The outputs are of jobs that wait, so that nobody has to make them."""
    s, wide, given = shader(w), shader(w, WIDE), w.bring(WORDS)
    first = w.all("execute", w.job(s, given, output=64 << 20))[0]
    assert not first.code, first
    made = "job:" + first["job_id"]
    answer = w.all("execute", w.job(wide, made, output=64 << 20, bindings=[dict(group=0, binding=k, cid=made) for k in range(2, 5)]))[0]
    for job in (answer, first):
        if not job.code:
            w.all("cancel", dict(sender="mallory", job_id=job["job_id"]))
    w.end()
    return Outcome(not answer.code, answer.code, answer)


@attack("invocations that fill memory", "256 invocations with 2 KiB of private memory each beside an output, where a job may have 1 MiB", 5867, job_memory_max=1 << 20)
def lanes(w):
    arrays = "".join(f"var<private> p{k} : array<u32, 256>;\n" for k in range(2))
    text = sizes.kernel("".join(f"p{k}[d & 255u] = d; x += p{k}[(d + 1u) & 255u];\n" for k in range(2)), arrays)
    return taken(w, shader(w, text.replace("size(8)", "size(256)")), w.bring(bytes(1024)), output=1 << 19)


@attack("refusals for nothing", "a job whose gas is just too low: every node compiles it, and nobody pays", 5818)
def free_refusals(w):
    s, given = shader(w), w.bring(WORDS * 3)
    before = w.balance("mallory")
    answers = [w.all("execute", w.job(s, given, limit=250))[0] for _ in range(4)]
    w.end()
    return Outcome(all(a.code for a in answers) and w.balance("mallory") == before, answers[0].code, answers[0])


@attack("cancels for nothing", "jobs that are taken in, looked at by every node, and taken back before the block", 0)
def free_cancels(w):
    s, given = shader(w), w.bring(WORDS * 3)
    before = w.balance("mallory")
    for _ in range(4):
        job = w.all("execute", w.job(s, given))[0]
        answer = w.all("cancel", dict(sender="mallory", job_id=job["job_id"]))[0]
    w.end()
    return Outcome(not answer.code and w.balance("mallory") == before, answer.code, answer)


@attack("another's gas", "a transfer under somebody else's name", 5844)
def robbed(w):
    values = dict(sender="ada", op=2, to="mallory", amount=1000)
    n = w.nodes[0]
    answer = n.ask(wire.encode("Request", {"ledger": values}) if w.rules == 1
                   else w.signed("ledger", values, n.sent.get("ada", 0), keys=[w.keys["mallory"]]))
    return Outcome(not answer.code, answer.code, answer)


@attack("a message sent again", "a transfer that was signed once, twice", 5842)
def again(w):
    values = dict(sender="ada", op=2, to="mallory", amount=1000)
    n = w.nodes[0]
    data = wire.encode("Request", {"ledger": values}) if w.rules == 1 else w.signed("ledger", values, n.sent.get("ada", 0))
    first, second = n.ask(data), n.ask(data)
    n.sent["ada"] = n.sent.get("ada", 0) + (not first.code)
    return Outcome(not first.code and not second.code, second.code, second)
