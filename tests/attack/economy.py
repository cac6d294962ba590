"""Bonds, votes, verdicts, the queue, names, links and the rank of an epoch: what somebody with little or nothing does to others."""
import struct

from attack import Outcome, attack, cid

SHADER = """//# max dispatch = 64, 1, 1
@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) g : vec3<u32>) { b[g.x] = a[g.x] * 3u + 1u; }
"""
HEAVY = SHADER.replace("a[g.x] * 3u + 1u;", "x;").replace("{ b", """{
  var x = a[g.x];
  for (var i = 0u; i < 500u; i++) { x = x * 3u + 1u; }
  b""")
WORDS = struct.pack("<64I", *range(64))
BIG = 10 ** 9
FLOOR = dict(stake_floor=1000, dispute_deposit=500_000, fee_ppm=0)


def say(w, kind, **values):
    return w.tell(w.nodes[0], kind, values)


def done(w, kind, **values):
    answer = say(w, kind, **values)
    assert not answer.code, f"{kind} {values}: {answer}"
    return answer


def ends(w, n=1):
    for _ in range(n):
        answer = w.end()[0]
        assert not answer.code, answer
    return answer


def bond(w, sender, amount):
    done(w, "ledger", sender=sender, op=3, amount=amount)


def unbond(w, sender, amount):
    return say(w, "ledger", sender=sender, op=4, amount=amount)


def held(w, account):
    """Balance, bond."""
    import json
    _, out, err = w.nodes[0].run("--json", "ledger", "show", account)
    assert out, err
    shown = json.loads(out)
    return int(shown["balance"]), int(shown["bond"])


def job(w, sender="mallory", groups=64, text=SHADER, **more):
    """One that a queue has room for; its answer."""
    w.upload(text, "ada")
    return say(w, "execute", **w.job(cid(text.encode()), w.bring(WORDS, "ada"), (groups, 1, 1), 4 * groups, sender, **more))


def where(w, answer):
    """In which block a job ended; 0: in none yet."""
    _, out, err = w.nodes[0].run("--json", "job", "show", answer["job_id"])
    assert out, err
    import json
    return int(json.loads(out).get("ended", 0))


def large(w, sender="mallory"):
    """A job of most of a block of 370,000 gas under either version's prices."""
    return job(w, sender, groups=16 if w.rules == 1 else 64, text=HEAVY)


def price(w):
    """What the large job costs."""
    answer = large(w, "ada")
    assert not answer.code, answer
    _, out, _ = w.nodes[0].run("--json", "job", "show", answer["job_id"])
    import json
    return int(json.loads(out)["gas"])


# ---- verdicts ------------------------------------------------------------------------------------

def accuse(w, sender, accused, evidence, against=None):
    """Evidence as each version has it: a report that nobody ever saw, or a job with an output that it should have had."""
    if w.rules == 1:
        return say(w, "verdict", sender=sender, accused=accused, evidence=cid(evidence))
    return say(w, "verdict", sender=sender, job_id=against["job_id"], output=cid(evidence))


@attack("a bond of 1 against one of 10^9", "votes on a hundred pieces of invented evidence", 5894, alone=True)
def invented(w):
    bond(w, "ada", BIG)
    bond(w, "mallory", 1)
    answers = [say(w, "verdict", sender="mallory", accused="ada", evidence=cid(bytes([i]))) for i in range(100)]
    return Outcome(held(w, "ada")[1] < BIG // 1000, answers[0].code, answers[0])


def executed(w):
    """A job that ada was paid for, as its executor."""
    bond(w, "ada", BIG)
    made = job(w, "ada")
    ends(w)
    return made


@attack("an accusation with nothing at stake", "a dispute, as version 2 has it, with a bond of 1", 5900, alone=True, **FLOOR)
def dust(w):
    made = executed(w)
    bond(w, "mallory", 1)
    answer = accuse(w, "mallory", "ada", b"nothing", made)
    return Outcome(held(w, "ada")[1] < BIG, answer.code, answer)


@attack("an accusation that is wrong", "a dispute with enough at stake, of an output that was right", 0, alone=True, **FLOOR)
def wrong(w):
    made = executed(w)
    bond(w, "mallory", 10 ** 6)
    ends(w)
    before = held(w, "mallory")[0]
    answer = accuse(w, "mallory", "ada", b"nothing", made)
    assert not answer.code, answer
    lost = before - held(w, "mallory")[0]
    assert w.rules == 1 or lost == 500_000, lost
    return Outcome(held(w, "ada")[1] < BIG, answer.code, f"the accuser lost {lost}")


@attack("the same accusation again and again", "one offence, evidence under other names", 5899, alone=True, **FLOOR)
def again(w):
    made = executed(w)
    bond(w, "mallory", 10 ** 6)
    ends(w)
    answers = [accuse(w, "mallory", "ada", bytes([i]), made) for i in range(5)]
    return Outcome(held(w, "ada")[1] < BIG * 6 // 10, answers[-1].code, answers[-1])


# ---- votes ---------------------------------------------------------------------------------------

def proposal(w, sender, height=90, value="999999"):
    return say(w, "params", sender=sender, op=1, height=height, changes=[dict(name="slash_ppm", value=value)])


def passes(w, sender, number):
    """Vote and apply: the first code in the way."""
    answers = [say(w, "params", sender=sender, op=2, proposal=number, yes=1), say(w, "params", sender=sender, op=3, proposal=number)]
    return next((a for a in answers if a.code), answers[-1])


@attack("a bond for as long as a vote takes", "bonds, proposes, votes, applies and takes the bond back in one block", 5900, alone=True, **FLOOR)
def flash(w):
    bond(w, "ada", BIG)
    ends(w)
    bond(w, "mallory", 9 * BIG)
    made = proposal(w, "mallory")
    came = made if made.code else passes(w, "mallory", made["proposal"])
    unbond(w, "mallory", 9 * BIG)
    return Outcome(not came.code, came.code, came)


@attack("a bond for a proposal that is there", "bonds after a proposal and outvotes who was there", 5900, alone=True, **FLOOR)
def late(w):
    bond(w, "ada", BIG)
    ends(w)
    made = proposal(w, "ada")
    bond(w, "mallory", 9 * BIG)
    ends(w)
    came = passes(w, "mallory", made["proposal"])
    return Outcome(not came.code, came.code, came)


@attack("a vote that waits until others have left", "yes with little, and applied when the others have taken their bonds back", 5727,
        alone=True, **FLOOR)
def stale(w):
    bond(w, "ada", BIG)
    bond(w, "mallory", 1000)
    ends(w)
    made = proposal(w, "mallory")
    done(w, "params", sender="mallory", op=2, proposal=made["proposal"], yes=1)
    unbond(w, "ada", BIG)
    answer = say(w, "params", sender="mallory", op=3, proposal=made["proposal"])
    return Outcome(not answer.code, answer.code, answer)


@attack("a chain governed by a bond of 1", "proposes and votes where nobody else has a bond", 5900, alone=True, **FLOOR)
def alone(w):
    bond(w, "mallory", 1)
    ends(w)
    made = proposal(w, "mallory")
    came = made if made.code else passes(w, "mallory", made["proposal"])
    return Outcome(not came.code, came.code, came)


@attack("proposals without end", "two hundred proposals of a bond of 1", 5900, alone=True, **FLOOR)
def proposals(w):
    bond(w, "mallory", 1)
    ends(w)
    answers = [proposal(w, "mallory", value=str(1 + i)) for i in range(200)]
    return Outcome(not any(a.code for a in answers), answers[0].code, answers[-1])


@attack("a bond that is gone before anybody looks", "takes the bond back in the block whose jobs it stood for", 0, alone=True)
def gone(w):
    before = held(w, "mallory")[0]
    bond(w, "mallory", BIG)
    job(w, "ada")
    answer = unbond(w, "mallory", BIG)
    ends(w)
    assert not answer.code, answer
    return Outcome(held(w, "mallory")[0] >= before, answer.code, held(w, "mallory"))


# ---- blocks --------------------------------------------------------------------------------------

@attack("a block ended by anybody", "ends the block and names itself as who is paid", 5840, alone=True)
def ended(w):
    job(w, "ada")
    before = held(w, "mallory")[0]
    answer = w.nodes[0].ask(__import__("wire").encode("Request", {"block_end": {"executor": "mallory"}}))
    return Outcome(held(w, "mallory")[0] > before, answer.code, answer)


@attack("a block ended by who may not", "the same, signed", 5847, alone=True)
def ended_signed(w):
    import wire
    job(w, "ada")
    before = held(w, "mallory")[0]
    values = {"executor": "mallory"}
    data = (wire.encode("Request", {"block_end": values}) if w.rules == 1
            else w.signed("block_end", values, 1, [w.keys["mallory"]]))
    answer = w.nodes[0].ask(data)
    return Outcome(held(w, "mallory")[0] > before, answer.code, answer)


# ---- the queue -----------------------------------------------------------------------------------

ONE = dict(block_time_ms=1, utilisation_ppm=1000000)


@attack("eight large jobs before a small one", "fills the queue with jobs of most of a block each", 0, alone=True, throughput=370_000, **ONE)
def line(w):
    gas = price(w)
    assert 370_000 // 2 < gas < 370_000, gas
    ends(w)
    for _ in range(8):
        assert not large(w).code
    small = job(w, "ada", groups=1)
    ends(w, 3)
    waited = where(w, small) == 0
    return Outcome(waited, 0, f"{gas} gas, ended in block {where(w, small)}")


@attack("a queue full of one account's jobs", "three hundred jobs", 5897, alone=True, queue_jobs=16)
def flood(w):
    answers = [job(w, groups=1) for _ in range(20 if w.rules == 2 else 300)]
    return Outcome(not any(a.code for a in answers), answers[-1].code, answers[-1])


EPOCH = dict(epoch_blocks=2, epoch_iterations=1)


def ranked(w):
    status, out, _ = w.nodes[0].run("--json", "rank", "show")
    return status == 0 and "ranks" in out


def fund(w, amount=10 ** 9):
    done(w, "ledger", sender="ada", op=2, to="rank", amount=amount)


def link(w, sender, a, b, **more):
    return say(w, "link", sender=sender, source=cid(a), target=cid(b), **more)


@attack("a rank that never has its turn", "large jobs in the queue before those of the rank", 0, alone=True, throughput=2000000, **ONE, **EPOCH)
def starve(w):
    fund(w)
    assert not link(w, "ada", b"x", b"y").code
    for _ in range(6):
        answer = job(w, text=HEAVY)
        assert not answer.code, answer
    ends(w, 4)
    return Outcome(not ranked(w), 0, "rank shown" if ranked(w) else "no rank")


@attack("the rank's own shader", "uploads it first, and deprecates it", 5895, alone=True, **EPOCH)
def engine(w):
    import os
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "core", "chain", "epoch", "shaders", "spread.wgsl")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    answer = w.upload(text)[0]
    if not answer.code:
        done(w, "name", sender="mallory", op=2, cid=answer["shader_cid"])
    fund(w)
    assert not link(w, "ada", b"x", b"y").code
    ends(w, 3)
    return Outcome(not ranked(w), answer.code, answer)


@attack("a rank that nobody pays", "draws links that make the rank dearer and pays nothing to it", 0, alone=True, link_cost=10000000, **EPOCH)
def unpaid(w):
    for i in range(20):
        assert not link(w, "mallory", bytes([i]), b"y").code
    ends(w, 3)
    return Outcome(not ranked(w), 0, "rank shown" if ranked(w) else "no rank")


# ---- names and links -----------------------------------------------------------------------------

@attack("links for nothing", "draws two hundred links without the gas for it", 5869)
def links(w):
    answers = [link(w, "poor", bytes([i]), b"target") for i in range(200)]
    return Outcome(not any(a.code for a in answers), answers[0].code, answers[0])


@attack("a link that nobody removes", "a link that its own account wants back counts for ever", 0)
def stays(w):
    assert not link(w, "ada", b"one", b"two").code
    answer = link(w, "ada", b"one", b"two", taken=1)
    return Outcome(answer.code, 0, answer)


@attack("somebody's shader", "uploads a copy of it first, and deprecates it", 0)
def copied(w):
    text = SHADER.replace("3u", "11u")
    w.upload(text)
    done(w, "name", sender="mallory", op=2, cid=cid(text.encode()))
    answer = job(w, "ada", text=text)
    return Outcome(answer.code == 5805, answer.code, answer)


@attack("names for nothing", "a hundred aliases without the gas for it", 5869)
def names(w):
    w.upload(SHADER, "ada")
    answers = [say(w, "name", sender="poor", op=1, name=f"name{i}", cid=cid(SHADER.encode())) for i in range(100)]
    return Outcome(not any(a.code for a in answers), answers[0].code, answers[0])


@attack("a name for ever", "takes a name that it never uses again", 0, alone=True, alias_blocks=2)
def forever(w):
    w.upload(SHADER, "ada")
    done(w, "name", sender="mallory", op=1, name="sum", cid=cid(SHADER.encode()))
    ends(w, 3)
    answer = say(w, "name", sender="ada", op=1, name="sum", cid=cid(SHADER.encode()))
    return Outcome(answer.code == 5821, 0, answer)
