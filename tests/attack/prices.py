"""Work that is worth more than it costs: jobs that offer a twentieth of the gas that their time is worth, at `throughput`, on the slowest
device that was measured; messages and refusals for nothing. `worth` is of the table that tests/bench/gas/README.md keeps: the time of the
kernel, in gas of 10 ns. Nothing here is measured again."""
import struct

from attack import Outcome, attack, cid

HEAD = ("@group(0) @binding(0) var<storage, read> x : array<u32>;\n@group(1) @binding(0) var<storage, read_write> y : array<u32>;\n")


def kernel(body, size=64, before=""):
    return (before + HEAD + f"@compute @workgroup_size({size}) fn main(@builtin(global_invocation_id) id : vec3<u32>, "
            "@builtin(local_invocation_index) l : u32) {\n" + body + "}\n")


def turns(step):
    """The steps of the suite: 32 turns of eight."""
    return "var a = x[id.x % arrayLength(&x)] + l;\nlet b = x[0] | 1u;\nfor (var i = 0u; i < 32u; i++) {\n" + step * 8 + "}\ny[id.x] = a;\n"


def offered(w, text, worth, groups=1, output=256, data=bytes(1024), **more):
    """A twentieth of what it is worth is taken for it: by nobody who knows what it costs. What was taken in is taken back."""
    answer = w.upload(text)[0]
    assert not answer.code, answer
    given = w.bring(data)
    answer = w.all("execute", w.job(answer["shader_cid"], given, (groups, 1, 1), output, limit=worth // 20, **more))[0]
    if not answer.code:
        w.all("cancel", dict(sender="mallory", job_id=answer["job_id"]))
    w.end()
    return Outcome(not answer.code, answer.code, f"for {worth // 20}: {answer}")
