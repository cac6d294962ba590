"""Certificates bind files: in a copy of the installation each file is replaced by another one with the same behaviour, and
the level is gone until the file is back; what a certificate then says is a claim."""
import json
import os
import shutil
import subprocess

from harness import Harness

h = Harness()
BUILD = os.path.dirname(os.path.dirname(h.pipectl))
OP = "int.reverse@1"
DEVICE = "vulkan:llvmpipe"

# ---- an installation of its own, whose files may be replaced
for part in ("bin", "plugins", "plugins.d", "ops", "conf"):
    os.makedirs(h.path(f"tree/{part}"))
for name in ("pipectl", "pipectl-worker"):
    shutil.copy2(os.path.join(BUILD, "bin", name), h.path("tree/bin"))
for part, names in (("plugins", ("cpu.so", "vulkan.so")), ("ops", ("int.so", "rank.so")),
                    ("plugins.d", [f"{n}.plugin.cfg" for n in ("cpu", "vulkan", "int", "rank")])):
    for name in names:
        shutil.copy2(os.path.join(BUILD, part, name), h.path(f"tree/{part}"))
shutil.copytree(os.path.join(BUILD, "conf"), h.path("tree/conf"), dirs_exist_ok=True)
TOOL = h.path("tree/bin/pipectl")
DEFAULT = h.path("tree/conf/policy/default.cfg")
ASKS = h.write("asks.cfg", b'policy : { inherits = "%s"; certificate = ( { ops = "int.*"; level = "L1"; } ); };\n'
               % h.path("tree/conf/policy/default.cfg").encode())
h.write("x", bytes(range(64)))


def tool(*args):
    return h.run(*args, executable=TOOL)


def reverse(policy=ASKS):
    return tool("op", "run", OP, "--in", f"x={h.path('x')}:u32[16]", "--out", f"y={h.path('y')}", "--backend", DEVICE,
                "--policy", policy)


def held(name):
    status, out, err = reverse()
    h.check(f"{name}: the level is held", status == 0, f"{status} {err}")
    status, _, err = reverse(DEFAULT)
    h.check(f"{name}: and said where nobody asks for it", status == 0 and "(certified L" in err, err)


def claimed(name, word):
    status, _, err = reverse()
    h.check(f"{name}: no level", status == 5 and "PC4316" in err, f"{status} {err}")
    h.check(f"{name}: said to be a claim", word in err and "certify confirm" in err, err)
    status, _, err = reverse(DEFAULT)
    h.check(f"{name}: and nothing where nobody asks for it", status == 0 and "not verified" in err and "(certified" not in err, f"{status} {err}")


class Replaced:
    """A file under another content for a while."""

    def __init__(self, path, how):
        self.path, self.how = h.path(path), how

    def __enter__(self):
        shutil.copy2(self.path, self.path + ".kept")
        self.how(self.path)

    def __exit__(self, *_):
        os.replace(self.path + ".kept", self.path)


def comment(path):
    """Another compiler's name in .comment: not a byte of code or data differs."""
    subprocess.run(["objcopy", "--dump-section", f".comment={path}.c", path], check=True)
    with open(path + ".c", "rb") as f:
        text = f.read()
    with open(path + ".c", "wb") as f:
        f.write(bytes([text[0] ^ 1]) + text[1:])
    subprocess.run(["objcopy", "--update-section", f".comment={path}.c", path], check=True)
    os.unlink(path + ".c")


def strip(path):
    subprocess.run(["strip", "--strip-debug", path], check=True)


status, _, err = reverse()
h.check("nothing is held before", status == 5 and "PC4316" in err and "confirm" not in err, f"{status} {err}")
status, out, err = tool("certify", "--backend", DEVICE, "--level", "L1", "--ops", OP, "--json")
made = json.loads(out) if status == 0 else {}
h.check("a proof of lavapipe", status == 0, err)
h.check("names the backend's file", made.get("backend") == "vulkan" and len(made.get("backend_sha256", "")) == 64, out[:300])
h.check("names the op libraries and the host", set(made.get("libraries", {})) == {"int", "rank"} and
        len(made.get("host", "")) == 64, out[:600])
held("the files of the proof")
for path, how, word in (("tree/plugins/vulkan.so", comment, 'another file of backend "vulkan"'),
                        ("tree/plugins/vulkan.so", strip, 'another file of backend "vulkan"'),
                        ("tree/ops/int.so", comment, 'another file of op library "int"'),
                        ("tree/ops/rank.so", strip, 'another file of op library "rank"'),
                        ("tree/bin/pipectl-worker", comment, "another pipectl or worker"),
                        ("tree/bin/pipectl", comment, "another pipectl or worker")):
    name = f"{os.path.basename(path)}, {how.__name__}"
    with Replaced(path, how):
        claimed(name, word)
        status, out, err = tool("certs", "list", "--json")
        listed = json.loads(out)
        h.check(f"{name}: listed as a claim", word in listed["certificates"][0]["claim"] and
                [(o["levels"], o["claims"]) for o in listed["operations"]] == [("", "L1")], out[:400])
    held(f"{name}, put back")

# ---- a claim is tried here, and signed for the files that are here
status, _, err = tool("certify", "confirm")
h.check("nothing to confirm", status == 3 and "PC5542" in err, f"{status} {err}")
with Replaced("tree/plugins/vulkan.so", strip):
    status, out, err = tool("certify", "confirm", "--json")
    made = json.loads(out)["confirmed"] if status == 0 else []
    h.check("the claim is confirmed", status == 0 and len(made) == 1 and int(made[0]["confirmed"]["strips"]) >= 2 and
            int(made[0]["confirmed"]["cases"]) > 1000, f"{status} {err} {out[:300]}")
    status, _, err = reverse()
    h.check("and the level is held by the files that are here", status == 0, f"{status} {err}")
    status, out, err = tool("certs", "list")
    h.check("claims and certificates are listed apart", b"confirmed by a sample" in out and b"claims, which count" in out, out)
    status, _, err = tool("certify", "verify", made[0]["certificate"] if made else "")
    h.check("what was signed is valid", status == 0, err)
    status, _, err = tool("certify", "confirm", "--backend", "opencl:portable")
    h.check("of another device there is nothing to confirm", status != 0, err)
held("the first files hold what they held")
claim = made[0]["certificate"] if made else ""
status, _, err = tool("certify", "confirm", claim, "--backend", "cpu")
h.check("nobody else's device confirms it", status == 5 and "PC5541" in err, f"{status} {err}")
# A digest that no device gives: the sample finds it, and nothing is signed.
status, _, err = h.run("--home", h.path("home2"), "certify", "confirm", claim, executable=TOOL)
h.check("a stranger's claim is not tried", status == 5 and "PC5543" in err, f"{status} {err}")
h.finish()
