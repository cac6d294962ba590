"""Work for a twentieth of its price. Each job offers a twentieth of what an honest kernel (the suite's "mul") pays for the same time on the device that
finds the job hardest; each message offers nothing. Times and what "mul" pays are of the table that tests/bench/gas/README.md keeps: nothing is
measured here, and no job that is taken in is run."""
import struct

from attack import Outcome, attack, cid

# Gas a ns of the kernel "mul", under version 1 and now.
MUL = {"cpu": (22.9, 1.63), "lavapipe": (21.8, 1.56), "PoCL": (33.8, 2.41)}


def kernel(body, size=64, before=""):
    return (before + "@group(0) @binding(0) var<storage, read> x : array<u32>;\n@group(1) @binding(0) var<storage, read_write> y : array<u32>;\n"
            f"@compute @workgroup_size({size}) fn main(@builtin(global_invocation_id) id : vec3<u32>, "
            "@builtin(local_invocation_index) l : u32) {\n" + body + "}\n")


def turns(step, n=8):
    """Steps in each of 32 turns, as in the suite."""
    return ("var a = x[id.x % arrayLength(&x)] + l;\nlet b = (x[0] + id.x * 2u) | 1u;\nfor (var i = 0u; i < 32u; i++) {\n" + step * n + "}\n"
            "y[id.x] = a;\n")


def offer(w, text, device, ns, groups=1, output=256, **more):
    """For a twentieth of the price of ns: taken in, and taken back."""
    answer = w.upload(text)[0]
    assert not answer.code, answer
    given = w.bring(bytes(256) + struct.pack("<I", groups))
    limit = int(ns * MUL[device][w.rules - 1] / 20)
    answer = w.all("execute", w.job(answer["shader_cid"], given, (groups, 1, 1), output, limit=limit, **more))[0]
    if not answer.code:
        w.all("cancel", dict(sender="mallory", job_id=answer["job_id"]))
    w.end()
    return Outcome(not answer.code, answer.code, f"for {limit}: {answer}")


@attack("zeroed workgroup memory", "16 KiB of it for one invocation, 64 times", 5818)
def zeroed_workgroup(w):
    return offer(w, kernel("y[id.x] = w[(x[0] + id.x * 61u) & 4095u];\n", 1, "var<workgroup> w : array<u32, 4096>;\n"), "lavapipe", 64 * 43985, 64)


@attack("zeroed private memory", "2 KiB of it for each invocation", 5818)
def zeroed_private(w):
    return offer(w, kernel("q[(x[0] + id.x) & 255u] = 1u;\nr[(x[1] + id.x) & 255u] = 1u;\ny[id.x] = q[(id.x * 7u) & 255u] + r[(id.x * 5u) & 255u];\n",
                           before="var<private> q : array<u32, 256>;\nvar<private> r : array<u32, 256>;\n"), "cpu", 64 * 6689, 64, 64 * 256)


@attack("memory of a function", "256 bytes that each of seven calls sets to zero, in 32 turns", 5818)
def zeroed_function(w):
    return offer(w, kernel(turns("a = fresh(a);\n", 7), before="fn fresh(c : u32) -> u32 {\n var q : array<u32, 64>;\n q[c & 63u] = c;\n"
                           " return q[(c >> 3u) & 63u] * 3u + c;\n}\n"), "lavapipe", 4 * 1284855 * 7 // 8, 4, 1024)


@attack("tiny workgroups", "one invocation each, that does next to nothing", 5818)
def tiny(w):
    return offer(w, kernel("y[id.x] = x[0] + 1u;\n", 1), "lavapipe", 32768 * 261, 32768, 131072)


@attack("every side", "eight cases, and an invocation for each: one is paid for, and all are run", 5818)
def sides(w):
    return offer(w, kernel(turns("switch (l & 7u) { case 0u: { a += b; } case 1u: { a ^= b; } case 2u: { a *= b; } case 3u: { a -= b; } "
                                 "case 4u: { a |= b; } case 5u: { a &= b; } case 6u: { a <<= 1u; } default: { a >>= 1u; } }\n")), "cpu", 8 * 192607, 8, 2048)


@attack("a large output", "16 MiB of which a word is written: read back, hashed and kept by everybody", 5818)
def large(w):
    return offer(w, kernel("y[id.x] = x[0] + 1u;\n"), "PoCL", 11844442, 1, 16 << 20)


@attack("small jobs", "jobs of one workgroup, so that their number is all that counts", 5818)
def small(w):
    return offer(w, kernel("y[id.x] = x[id.x] + 1u;\n"), "lavapipe", 14689)


@attack("a kernel for each job", "an override that no job had before: every device builds a kernel for it", 5818)
def own(w):
    return offer(w, kernel("y[id.x] = x[id.x] + number;\n", before="override number : u32 = 1u;\n"), "PoCL", 294203213, overrides=[dict(name="number", bits=4711)])


def free(w, kind, values, refused=False):
    """How much the balance falls by a message that moves nothing: harm is nothing."""
    before = w.balance("mallory")
    answer = w.tell(w.nodes[0], kind, dict(sender="mallory", **values))
    assert bool(answer.code) == refused, answer
    spent = before - w.balance("mallory")
    return Outcome(spent == 0, 0, f"{spent}: {answer}")


@attack("a shader for nothing", "an upload that every node checks, and every device builds", 0)
def upload(w):
    return free(w, "upload", dict(wgsl_source=kernel("y[id.x] = x[0] + 99u;\n").encode(), description="", tags=[], implements=""))


@attack("a bad shader for nothing", "an upload that every node checks, and refuses", 0)
def bad(w):
    return free(w, "upload", dict(wgsl_source=kernel("y[id.x] = 1u + ;\n").encode(), description="", tags=[], implements=""), refused=True)


@attack("an alias for nothing", "a name for a shader", 0)
def alias(w):
    text = kernel("y[id.x] = x[0] + 98u;\n")
    w.upload(text)
    return free(w, "name", dict(op=1, name="mine", cid=cid(text.encode())))


@attack("a link for nothing", "an edge of the graph for ever", 0)
def link(w):
    return free(w, "link", dict(source=cid(b"one"), target=cid(b"two")))


@attack("transfers to oneself", "a signature to check, a transaction to keep, nothing moved", 0)
def transfer(w):
    return free(w, "ledger", dict(op=2, to="mallory", amount=1))


@attack("a refused message", "a transfer of more than there is", 0)
def refused(w):
    return free(w, "ledger", dict(op=2, to="ada", amount=10 ** 18), refused=True)
