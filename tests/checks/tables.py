"""Every diagnostic code is in ascending order, unique, explained, and raised somewhere in the sources."""
import pathlib
import re
import sys

CODE = re.compile(r'PCTL_CODE\(\s*(\d+),\s*(\w+),\s*"([^"]+)",\s*(\w+),\s*((?:"[^"]*"\s*)+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)')


def main(root):
    table = root / "core/include/pipectl"
    faults, codes = [], []
    for section in re.findall(r'#include "pipectl/(codes/\w+\.def)"', (table / "codes.def").read_text()):
        codes += CODE.findall((table / section).read_text())
    text = "".join(p.read_text() for f in ("core", "plugins", "ops", "tools") for p in (root / f).glob("**/*.[ch]"))
    for before, (number, *_rest) in zip(codes, codes[1:]):
        if int(number) <= int(before[0]):
            faults.append(f"PC{number} stands after PC{before[0]}")
    raised = set(re.findall(r"\bPC\d+_\w+", text))
    slugs = set()
    for number, name, slug, _status, summary, explanation in codes:
        if slug in slugs:
            faults.append(f"slug {slug} twice")
        slugs.add(slug)
        if len(explanation) < 60 or len(summary) < 8:
            faults.append(f"PC{number} is not explained")
        if f"PC{number}_{name}" not in raised:
            faults.append(f"PC{number}_{name} is never raised")
    print("\n".join(faults) or f"{len(codes)} codes")
    return 1 if faults or not codes else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
