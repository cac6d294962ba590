"""What libpipectl promises to programs that were built with it: exported symbols with their version, and sizes and offsets of
every structure, against abi_0_1.txt. A symbol or a member that went, or moved, is a fault; new ones are written down with
--bless. Shown to fail on planted changes at the end of every run.
usage: abi.py LIBRARY INCLUDE CC [--bless]"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
LIBRARY, INCLUDE, CC = sys.argv[1:4]
SNAPSHOT = HERE / "abi_0_1.txt"
OTHERS = ("chain.h", "resident.h", "vm.h", "llm.h", "model.h")


def symbols(library):
    out = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], stdout=subprocess.PIPE,
                         check=True).stdout.decode()
    return sorted("symbol " + line.split()[-1] for line in out.splitlines())


def layout(header, include):
    """The lines that a program built with this header prints."""
    lines = []
    others = "".join(pathlib.Path(include, "pipectl", name).read_text() for name in OTHERS)
    text = re.sub(r"/\*.*?\*/", "", header + others, flags=re.S)
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\n\}", text, re.S):
        lines.append(f'\tprintf("struct {name} %zu\\n", sizeof({name}));')
        for member in body.split(";"):
            if "(" in member:
                names = re.findall(r"\(\*(\w+)\)", member)
            else:
                names = [re.findall(r"(\w+)\s*(?:\[|$)", part.strip())[-1] for part in member.split(",") if part.strip()]
            for m in names:
                lines.append(f'\tprintf("member {name}.{m} %zu %zu\\n", offsetof({name}, {m}), '
                             f'sizeof((({name} *)0)->{m}));')
    with tempfile.TemporaryDirectory() as d:
        d = pathlib.Path(d)
        (d / "pipectl").mkdir()
        (d / "pipectl/pipectl.h").write_text(header)
        (d / "layout.c").write_text((HERE / "layout.c.in").read_text().replace("@LINES@", "\n".join(lines)))
        subprocess.run([CC, "-std=c11", "-I", str(d), "-I", include, "-o", str(d / "layout"), str(d / "layout.c")], check=True)
        out = subprocess.run([str(d / "layout")], stdout=subprocess.PIPE, check=True).stdout.decode()
    constants = re.findall(r"^#define (PIPECTL_\w+) (\d+u)", text, re.M)
    return out.splitlines() + [f"constant {n} {v}" for n, v in constants]


def faults(now, then):
    """What programs of the snapshot would miss, and what is not in it."""
    return [f"is no more: {x}" for x in then if x not in now] + [f"is not in the snapshot: {x}" for x in now if x not in then]


header = pathlib.Path(INCLUDE, "pipectl/pipectl.h").read_text()
now = symbols(LIBRARY) + layout(header, INCLUDE)
if "--bless" in sys.argv:
    SNAPSHOT.write_text("\n".join(now) + "\n")
then = SNAPSHOT.read_text().splitlines()
bad = faults(now, then)
for line in bad:
    print(line)
planted = [(symbols(LIBRARY)[1:] + layout(header, INCLUDE), "symbol"),
           (symbols(LIBRARY) + layout(header.replace("\tconst char *name;\n\tconst char *source;\n\tconst void *data;",
                                                     "\tuint64_t planted;\n\tconst char *name;\n\tconst char *source;\n"
                                                     "\tconst void *data;"), INCLUDE), "struct pipectl_input"),
           (symbols(LIBRARY) + layout(header.replace("uint32_t verify_ppm, flags;", "uint32_t flags, verify_ppm;"), INCLUDE),
            "pipectl_run_options.verify_ppm"),
           (symbols(LIBRARY) + layout(re.sub(r"(PIPECTL_RUN_RECEIPT) 4u", r"\1 8u", header), INCLUDE), "PIPECTL_RUN_RECEIPT")]
missed = 0
for lines, what in planted:
    seen = [x for x in faults(lines, then) if x.startswith("is no more") and what in x]
    if not seen:
        missed += 1
        print(f"a planted change of {what} was not seen")
print(f"{len(now)} lines, {len(bad)} faults; {len(planted)} planted changes, {missed} not seen")
sys.exit(1 if bad or missed or len(now) < 100 or not planted else 0)
