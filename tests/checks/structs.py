"""No two structures, unions or enumerations of core, that have a module's prefix, share a name: whoever reads one must not mean
the other. What a single file keeps to itself has no prefix and is its own affair. Shown to fail by a planted pair at the end of
every run."""
import collections
import pathlib
import re
import sys

DEFINED = re.compile(r"^(?:typedef\s+)?(?:struct|union|enum)\s+((?:pctl|pipectl|legal|suite)_\w+)\s*\{", re.M)


def defined(texts):
    places = collections.defaultdict(list)
    for name, text in texts:
        for found in DEFINED.findall(text):
            places[found].append(name)
    return places


def shared(places):
    return [f"{name} is defined in {' and in '.join(files)}" for name, files in sorted(places.items()) if len(files) > 1]


def main(root):
    places = defined((str(p), p.read_text()) for p in sorted((root / "core").glob("**/*.[ch]")))
    faults = shared(places)
    assert shared(defined([("a.h", "typedef struct pctl_one {\n"), ("b.c", "struct pctl_one {\n")]))
    print("\n".join(faults) or f"{len(places)} names, each defined once")
    return 1 if faults or not places else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
