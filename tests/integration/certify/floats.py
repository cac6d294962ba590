"""L3f and L4f: what they list, a certificate of tensors granted on the reference, the same from two shards, replayed on another
device, refused by verify when a level is claimed that its units do not give, and none for a device that lies."""
import json
import re

from harness import Harness

h = Harness()
OP = "tensor.rms_norm"


def certify(out, *more, backend="cpu", level="L4f"):
    return h.run("certify", "--backend", backend, "--level", level, "--ops", OP, "--programs", "4", *(("--out", h.path(out)) if out else ()), *more)


def kinds(level):
    status, out, err = certify(None, "--list", level=level)
    h.check(f"a list of {level}", status == 0, err)
    return [line.split()[:2] for line in out.decode().splitlines() if line.startswith("L")]


second, third, fourth = kinds("L2f"), kinds("L3f"), kinds("L4f")
h.check("L3f adds the engine and nothing else", {tuple(k) for k in third} - {tuple(k) for k in second} == {("L3f", "invariant")}, str(third)[:300])
h.check("L4f adds compositions and throughput", {tuple(k) for k in fourth} - {tuple(k) for k in third} ==
        {("L4f", "composition"), ("L4f", "baseline")}, str(fourth)[:300])
h.check("of three types", sum(k == ["L4f", "composition"] for k in fourth) == 3 == sum(k == ["L4f", "baseline"] for k in fourth), "")

status, out, err = certify("whole")
h.check("L4f of a norm is granted on the reference", status == 0 and b"granted    L4f\n" in out, err)
WHOLE = h.path("whole/certificate.cfg")
shown = json.loads(h.run("certs", "show", WHOLE, "--json")[1])["certificates"][0]
h.check("programs with floats ran", any(u["name"] == "generated-programs" and "with floats" in u["domain"] for u in shown["proved"]), str(shown)[:300])
for i in (1, 2):
    status, _, err = certify("cut", "--shard", f"{i}/2")
    h.check(f"shard {i}", status == 0, err)
status, out, err = h.run("certify", "merge", h.path("cut"))
h.check("two shards make it too", status == 0 and b"granted    L4f\n" in out, err)
text, other = open(WHOLE).read(), open(h.path("cut/certificate.cfg")).read()
digest = re.compile(r'\n  digest = "([0-9a-f]{64})"')
h.check("with the same digest", digest.search(text).group(1) == digest.search(other).group(1), "")
status, out, err = h.run("certify", "verify", WHOLE)
h.check("it verifies", status == 0, err)
open(h.path("forged.cfg"), "w").write(text.replace('"L4f"', '"L3f"', 1))
status, out, err = h.run("certify", "verify", h.path("forged.cfg"))
h.check("another level than signed does not", status != 0, out)
status, out, err = h.run("certify", "replay", WHOLE, "--sample", "0.02", "--backend", "vulkan:llvmpipe", "--json")
h.check("another device gives the same digests", status == 0 and json.loads(out)["mismatches"] == "0", f"{status} {err}")
status, out, err = h.run("certify", "replay", WHOLE, "--sample", "0.2", "--backend", "mock:wrap=cpu+zero")
h.check("one that lies is found out by its probe before", status == 5 and "PC5214" in err, f"{status} {err}")
h.finish()
