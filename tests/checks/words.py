"""The field's terms, not words of our own that they replaced: nothing in core, plugins, ops and tools, and no document of the repository, has one of
those in its name or in its text. Where a word has a plain meaning besides, or is not through yet, the folder is listed with the reason. Shown to fail
by planted lines at the end of every run. usage: words.py SOURCE"""
import pathlib
import re
import subprocess
import sys

# A word in its forms, alone or as a part of a name, and what it is called.
REPLACED = {
    r"granul(?:e|es|arity)": "the exponent range",
    r"grains?": "the resolution, the exponent range",
    r"tamed?": "normal, subnormal-free",
    r"speculat(?:e|es|ed|ion)": "versioning of a loop",
    r"weav(?:e|es|er|ing)": "fusing",
    r"spoil(?:s|t|ed|er|ing)?": "corrupting",
    r"efforts?": "the number of instructions",
    r"troubles?": "an internal failure",
}
EXCUSED = {
    ("effort", "core/model/serve/"): "a parameter of OpenAI's calls",
    ("trouble", "core/chain/"): "names and comments of files that others are changing; they follow",
    ("trouble", "plugins/opencl/"): "the same",
}
FOLDERS = ("core/", "plugins/", "ops/", "tools/")
SUFFIXES = {".c", ".h", ".def", ".wgsl", ".md", ".py", ".cfg", ".txt", ".cmake", ".inc", ".proto", ""}
# Rows of what tests said.
NOT_HERE = ("tests/planted/PLANTED.md",)
ANY = re.compile("|".join(rf"(?<![a-z]){word}(?![a-z])" for word in REPLACED), re.I)
RETIRED = {re.compile(rf"(?<![a-z]){word}(?![a-z])", re.I): term for word, term in REPLACED.items()}


def excuse_of(word, name):
    return next((e for e in EXCUSED if word.lower().startswith(e[0]) and name.startswith(e[1])), None)


def found_in(name, text):
    """Each of those words in a file's name and lines: (where, word, term)."""
    if not ANY.search(name) and not ANY.search(text):
        return
    for at, line in enumerate([name, *text.splitlines()]):
        for pattern, term in RETIRED.items():
            for word in pattern.findall(line):
                yield f"{name}:{at}" if at else name, word, term


def main(root):
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=False)
    names = listed.stdout.splitlines() if listed.returncode == 0 else [str(p.relative_to(root)) for top in FOLDERS for p in (root / top).rglob("*") if p.is_file()]
    faults, seen, met = [], 0, set()
    for name in sorted(set(names)):
        path = root / name
        if not name.startswith(FOLDERS) and not name.endswith(".md") or name in NOT_HERE or path.suffix not in SUFFIXES or not path.is_file():
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        seen += 1
        for where, word, term in found_in(name, text):
            excuse = excuse_of(word, name)
            met.add(excuse)
            if excuse is None:
                faults.append(f"{where}: \"{word}\" is said for {term}")
    faults += [f"\"{word}\" is excused in {folder}, where it is not" for word, folder in EXCUSED if (word, folder) not in met]
    assert [w for _, w, _ in found_in("core/grain.c", "int f32_add_tame; /* Trouble, in spite of\n * all efforts. */\n")] == ["grain", "tame", "Trouble", "efforts"]
    assert not list(found_in("core/x.c", "stamen, ingrained, effortless"))
    print("\n".join(faults) or f"{seen} files use the field's terms")
    return 1 if faults or seen == 0 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
