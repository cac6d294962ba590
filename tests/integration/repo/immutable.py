"""`check --immutable REV`: what was released may not change, found for a planted change of each kind; new things are fine.
And certs/ops.lock says what the libraries built here say."""
import glob
import os
import re
import shutil

from gitrepo import Repo, checker
from harness import Harness

h = Harness()
refused, allowed = checker(h)
SOURCES = os.path.dirname(os.path.realpath(os.environ["PIPELINES"]))
out, _ = allowed("op list --lock", ["op", "list", "--lock"])
with open(os.path.join(SOURCES, "certs/ops.lock"), "rb") as f:
    released = f.read()
h.check("certs/ops.lock is what the libraries say", out == released,
        "make it anew: pipectl op list --lock > certs/ops.lock (a line that is there may not change)\n" +
        "\n".join(sorted(set(out.decode().splitlines()) ^ set(released.decode().splitlines()))))

r = Repo(h, "r")
refused("nothing is frozen", 10, "PC6022", ["check", "--immutable", "HEAD", "--repo", r.dir])
for pattern in ("conf/gas/*", "core/include/pipectl/*", "core/include/pipectl/codes/*", "certs/ops.lock"):
    for path in glob.glob(os.path.join(SOURCES, pattern)):
        if os.path.isfile(path):
            with open(path, "rb") as f:
                r.write(os.path.relpath(path, SOURCES), f.read())
r.commit("released")
r.git("tag", "v1")
CHECK = ["check", "--immutable", "v1", "--repo", r.dir]
out, _ = allowed("unchanged", CHECK)
counts = [int(n) for n in re.findall(r"(\d+) (?:schedules|codes|instructions|numbers|ops)", out.decode())]
h.check("all kinds were compared", len(counts) == 5 and all(n > 0 for n in counts), out.decode())
h.check("every code is compared", counts[1] == sum(
    len(re.findall(r"PCTL_CODE\(\s*\d+,", open(p).read())) for p in glob.glob(os.path.join(SOURCES, "core/include/pipectl/codes/*.def"))))
h.check("every instruction", counts[2] == len(re.findall(r"PCTL_OPCODE\(0x", open(
    os.path.join(SOURCES, "core/include/pipectl/ops.def")).read())), counts)
h.check("every op", counts[4] == len([line for line in released.splitlines() if not line.startswith(b"#")]))

GAS, CODES, OPS, HEADER, LOCK = ("conf/gas/cybergraph-0.1.cfg", "core/include/pipectl/codes/conf.def", "core/include/pipectl/ops.def",
                                 "core/include/pipectl/status.h", "certs/ops.lock")


def planted(name, path, change, *words):
    with open(r.path(path), "rb") as f:
        was = f.read()
    new = change(was.decode())
    h.check(f"{name} is a change", new is None or new.encode() != was)
    if new is None:
        os.remove(r.path(path))
    else:
        r.write(path, new)
    refused(name, 6, "PC6020", CHECK, *words)
    r.write(path, was)


def line_with(text, part):
    return text[:text.index(part)].count("\n") + 1


gas = open(r.path(GAS)).read()
at = gas.index("=", len(gas) // 2)
planted("a schedule", GAS, lambda t: t[:at] + " " + t[at:], f"{GAS}:{gas[:at].count(chr(10)) + 1}:")
planted("a schedule's comment", GAS, lambda t: t + "# more\n", GAS)
planted("a schedule is gone", GAS, lambda t: None, GAS, "gone")
slug = re.search(r'PCTL_CODE\((\d+), \w+, "([^"]+)"', open(r.path(CODES)).read())
planted("a slug", CODES, lambda t: t.replace(f'"{slug[2]}"', '"another"'), slug[1], slug[2], "another", CODES)
planted("a number of a code", CODES, lambda t: t.replace(f"PCTL_CODE({slug[1]},", "PCTL_CODE(1099,"), slug[1], "gone")
planted("a table of codes is gone", CODES, lambda t: None, slug[1], "gone")
planted("an instruction", OPS, lambda t: t.replace("PCTL_OPCODE(0x10, ADD, V,", "PCTL_OPCODE(0x10, PLUS, V,"), "0x10", "ADD", "PLUS")
planted("an instruction's operands", OPS, lambda t: t.replace('(0x1f, CLAMP, V, "vvv"', '(0x1f, CLAMP, V, "vv"'), "0x1f")
planted("a number of a header", HEADER, lambda t: t.replace("#define PCTL_E_USAGE 16", "#define PCTL_E_USAGE 25"),
        "PCTL_E_USAGE", "16", "25", f"{HEADER}:{line_with(open(r.path(HEADER)).read(), '#define PCTL_E_USAGE 16')}:")
planted("a number of an enum", "core/include/pipectl/oplib.h", lambda t: t.replace("PCTL_CLASS_STRICT = 2", "PCTL_CLASS_STRICT = 4"),
        "PCTL_CLASS_STRICT")
planted("a header is gone", HEADER, lambda t: None, "PCTL_E_USAGE", "gone")
first = [line for line in released.decode().splitlines() if not line.startswith("#")][0]
op, digest = first.split(" ")
other = digest[:-1] + ("a" if digest[-1] != "a" else "b")
planted("an op's spec", LOCK, lambda t: t.replace(first, f"{op} {other}"), op, LOCK)
planted("an op is gone", LOCK, lambda t: t.replace(first + "\n", ""), op, "gone")
refused("all at once", 6, "PC6020", CHECK, GAS, slug[1], op) if (
    os.remove(r.path(GAS)), r.write(CODES, ""), r.write(LOCK, "# nothing\n")) else None
r.git("checkout", "-q", "--", ".")
for name, text in [("no digest", f"{op}\n"), ("twice", f"{first}\n{first}\n"), ("no version", f"int.add {digest}\n"),
                   ("no end", first), ("no order", f"z@1 {digest}\na@1 {digest}\n")]:
    r.write(LOCK, text)
    refused(f"a lock with {name}", 3, "PC6021", CHECK, LOCK)
os.remove(r.path(LOCK))
refused("the lock is gone", 3, "PC6021", CHECK, "gone")
r.git("checkout", "-q", "--", ".")

# New things are welcome, and what moved within the table of codes too.
r.write("conf/gas/new-1.cfg", "name = 1;\n")
r.write(LOCK, released.decode() + f"zzz.new@1 {digest}\n")
text = open(r.path(CODES)).read()
r.write(CODES, "")
r.write("core/include/pipectl/codes/conf2.def", text + 'PCTL_CODE(9999, NEW, "new", PCTL_OK, "", "")\n')
r.write(HEADER, open(r.path(HEADER)).read().replace("#define PCTL_OK 0", "#define PCTL_OK 0\n#define PCTL_NEW 99"))
r.write("core/include/pipectl/abi.h", open(r.path("core/include/pipectl/abi.h")).read().replace("PCTL_ABI_MINOR 0", "PCTL_ABI_MINOR 1"))
allowed("new things", CHECK)

refused("no repository", 3, "PC6001", ["check", "--immutable", "v1", "--repo", os.path.dirname(h.dir)])
refused("no revision", 3, "PC6003", ["check", "--immutable", "v9", "--repo", r.dir])
r.git("clone", "-q", "--bare", r.dir, h.path("bare"))
refused("bare", 3, "PC6001", ["check", "--immutable", "v1", "--repo", h.path("bare")], "work tree")
refused("nothing to check", 2, "PC0010", ["check"])
h.finish()
