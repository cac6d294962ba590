"""What a policy says of where a pipeline comes from: `dirty` looks at the file, its includes and its shaders; `signed`
wants PATH.sig by one of the signers over these very bytes. Each refusal has a twin that is allowed."""
import json
import os

from gitrepo import CLASS, PIPELINE, SHADER, Repo, checker
from harness import Harness

h = Harness()
refused, allowed = checker(h)
r = Repo(h, "r")
FILE = r.path("pipes/a.pipe.cfg")
CLEAN = h.write("clean.cfg", b'policy : { dirty = "refuse"; };')


def run(*more):
    return ["run", FILE, "--backend", "cpu", *more]


def state():
    out, _ = allowed("run", run("--json"))
    return json.loads(out)["source"]["state"] if out else None


# ---- dirty
allowed("clean", run("--policy", CLEAN))
h.check("clean is said", state() == "clean")
for name, text in [("a.pipe.cfg", PIPELINE + "# more\n"), ("parts/class.cfg", CLASS + "# more\n"),
                   ("shaders/add.wgsl", SHADER % 9)]:
    r.write("pipes/" + name, text)
    h.check(f"{name} is dirty", state() == "dirty")
    refused(f"dirty {name}", 3, "PC6010", run("--policy", CLEAN), "clean.cfg:1", "differs from the commit")
    refused(f"plan of dirty {name}", 3, "PC6010", ["plan", FILE, "--policy", CLEAN])
    allowed(f"a revision is never dirty, {name}", ["run", f"{r.dir}@HEAD:pipes/a.pipe.cfg", "--backend", "cpu", "--policy", CLEAN])
    r.fill(1)
refused("audit of a dirty one", 3, "PC6010", ["audit", h.write("o.cfg", PIPELINE.replace("parts", r.path("pipes/parts")).replace(
    "shaders/", r.path("pipes/shaders/")).replace("data/", r.path("pipes/data/")).encode()), "--backends", "cpu", "--policy", CLEAN])
r.write("pipes/data/x.bin", b"\0" * 8)
allowed("data has a CID in the receipt, and may differ", run("--policy", CLEAN))
r.fill(1)
r.git("config", "core.autocrlf", "true")
r.write("pipes/parts/class.cfg", CLASS.replace("\n", "\r\n"))
h.check("no filter hides a difference", state() == "dirty")
r.fill(1)
r.write("pipes/new.pipe.cfg", PIPELINE)
FILE = r.path("pipes/new.pipe.cfg")
h.check("untracked", state() == "untracked")
refused("untracked", 3, "PC6010", run("--policy", CLEAN), "not in the commit")
r.git("add", "-A")
h.check("staged is not committed", state() == "untracked")
FILE = h.write("out.pipe.cfg", PIPELINE.replace('"parts', f'"{r.path("pipes/parts")}').replace(
    '"shaders', f'"{r.path("pipes/shaders")}').replace('"data', f'"{r.path("pipes/data")}').encode())
h.check("outside", state() == "outside")
refused("outside", 3, "PC6010", run("--policy", CLEAN), "no repository")
os.makedirs(h.path("odd/.git"))
FILE = h.write("odd/a.pipe.cfg", h.read("out.pipe.cfg"))
_, err = allowed("a repository that cannot be read", run())
h.check("it is a warning", "PC6002" in err and "warning" in err, err)
refused("and counts as outside", 3, "PC6010", run("--policy", CLEAN), "no repository")
refused("a child may not be weaker", 3, "PC4301", run("--policy", h.write("weak.cfg", b'policy : { inherits = "clean.cfg"; dirty = "allow"; };')))

# ---- signed
FILE = r.path("pipes/a.pipe.cfg")
out, _ = allowed("sign", ["sign", FILE])
KEY = out.decode().strip()
h.check("sign prints the key", len(KEY) == 64 and set(KEY) <= set("0123456789abcdef"), KEY)
h.env["PIPECTL_HOME"] = h.path("other")
SIGNED = h.write("signed.cfg", f'policy : {{ signed = "required"; signers = ( "{"0" * 64}", "{KEY}" ); }};'.encode())
NOBODY = h.write("nobody.cfg", b'policy : { signed = "required"; };')
allowed("signed", run("--policy", SIGNED))
r.commit("signed")
allowed("signed in the commit", ["run", f"{r.dir}@HEAD:pipes/a.pipe.cfg", "--backend", "cpu", "--policy", SIGNED])
refused("the commit before has none", 3, "PC6011", ["run", f"{r.dir}@HEAD~1:pipes/a.pipe.cfg", "--backend", "cpu", "--policy", SIGNED],
        "a.pipe.cfg.sig")
refused("nobody is a signer", 3, "PC6012", run("--policy", NOBODY), KEY)
for name, text in [("a.pipe.cfg", PIPELINE + "# more\n"), ("parts/class.cfg", CLASS + "# more\n"),
                   ("shaders/add.wgsl", SHADER % 9)]:
    r.write("pipes/" + name, text)
    refused(f"changed {name}", 3, "PC6012", run("--policy", SIGNED), "other bytes")
    allowed("any", run())
    r.fill(1)
SEAL = r.path("pipes/a.pipe.cfg.sig")
seal = open(SEAL, "rb").read()
for at in (3, len(seal) // 2, len(seal) - 10):
    r.write("pipes/a.pipe.cfg.sig", seal[:at] + bytes([seal[at] ^ 1]) + seal[at + 1:])
    got, _, err = h.run(*run("--policy", SIGNED))
    h.check(f"bit {at} of the signature", got != 0 and ("PC5012" in err or "PC6012" in err), err)
r.write("pipes/a.pipe.cfg.sig", seal)
allowed("moved together", ["run", (os.rename(r.path("pipes"), r.path("moved")), r.path("moved/a.pipe.cfg"))[1], "--backend",
                           "cpu", "--policy", SIGNED])
os.rename(r.path("moved"), r.path("pipes"))
allowed("here and now", run("--policy", SIGNED))
allowed("another key", ["sign", FILE])  # the other home's
refused("not a signer", 3, "PC6012", run("--policy", SIGNED), "not among the signers")
r.write("pipes/a.pipe.cfg.sig", seal)
os.remove(SEAL)
refused("unsigned", 3, "PC6011", run("--policy", SIGNED), "signed.cfg:1")
refused("no signature for what does not parse", 3, "PC1001", ["sign", h.write("bad.cfg", b"pipeline : {")])
refused("a name with a line break", 3, "PC6012", ["sign", h.write("a\nb.cfg", h.read("out.pipe.cfg"))])
refused("a child may not add a signer", 3, "PC4301", run("--policy", h.write(
    "more.cfg", f'policy : {{ inherits = "signed.cfg"; signers = ( "{"1" * 64}" ); }};'.encode())))
allowed("it may leave one out", ["plan", FILE, "--policy", h.write(
    "less.cfg", f'policy : {{ inherits = "signed.cfg"; signed = "required"; signers = ( "{KEY}" ); }};'.encode())]
    if (r.write("pipes/a.pipe.cfg.sig", seal) or True) else [])
out, _ = allowed("plan says where values came from", ["plan", FILE, "--policy", SIGNED])
h.check("origin", "policy signed = required (" in out.decode() and "signed.cfg:1" in out.decode(), out.decode())
h.finish()
