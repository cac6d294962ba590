"""What the tree cites is in the tree: a rule of the semantics (`semantics 2.4`, `semantics section 5`) is a rule or section of
core/SEMANTICS.md, and a path that begins with a top folder is a file or folder. What a merge marks as two versions of one text is no text. Shown
to fail by planted lines at the end."""
import pathlib
import re
import subprocess
import sys

TOP = "core plugins ops pipelines conf certs tests tools".split()
SUFFIXES = {".c", ".h", ".def", ".inc", ".md", ".py", ".txt", ".cmake", ".proto", ".sh", ""}
RULE = re.compile(r"semantics(?:\.md`?)?,? (?:sections? )?(\d+(?:\.\d+)?)((?:,? (?:and )?\d+(?:\.\d+)?)*)")
PATH = re.compile(r"(?<![\w/.$}{<-])((?:" + "|".join(TOP) + r")/[\w.*/-]*[\w*])(?![\w<{$%])")
# Made by a test or named as an example of what a user has.
NOT_HERE = re.compile(r"^(tests|core|tools)/x\b|\.so$|/(FAMILY|ID|LIBRARY|NAME)\b")


MERGE = re.compile(r"^(<{7}|>{7}) ", re.M)


def rules(text):
    sections = set(re.findall(r"^## (\d+)\.", text, re.M))
    return sections | set(re.findall(r"^(\d+\.\d+) ", text, re.M))


def cited_rules(text):
    for first, more in RULE.findall(text):
        yield first
        yield from re.findall(r"\d+(?:\.\d+)?", more)


def path_fault(root, path):
    if NOT_HERE.search(path):
        return None
    found = (root / path).exists() or any(root.glob(path if "*" in path else path + "*"))
    return None if found else f"{path} is not in the tree"


def main(root):
    known = rules((root / "core/SEMANTICS.md").read_text())
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=False)
    names = listed.stdout.splitlines() if listed.returncode == 0 else [str(p.relative_to(root)) for top in TOP for p in (root / top).rglob("*") if p.is_file()]
    faults, seen = [], 0
    for name in sorted(set(names)):
        path = root / name
        if path.suffix not in SUFFIXES or not path.is_file() or path.is_symlink() or name.startswith(("tests/fuzz/corpus", "certs/")):
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        if MERGE.search(text):
            faults.append(f"{name}: the marks of a merge")
        for rule in cited_rules(text):
            seen += 1
            if rule not in known:
                faults.append(f"{name}: semantics {rule} is no rule")
        prose = path.suffix == ".md"
        body = text if prose else "\n".join(re.findall(r"/\*.*?\*/|//[^\n]*|^\s*#(?!\s*include)[^\n]*|\"\"\".*?\"\"\"", text, re.S | re.M))
        for cited in PATH.findall(body):
            seen += 1
            fault = path_fault(root, cited)
            if fault:
                faults.append(f"{name}: {fault}")
    assert MERGE.search("a\n" + "<" * 7 + " HEAD\n") and not MERGE.search("cat <<EOF\n")
    assert "99.1" not in known and list(cited_rules("semantics " + "sections 1, 5 and 99.1")) == ["1", "5", "99.1"]
    assert path_fault(root, "core/nowhere/at.all") and not path_fault(root, "core/SEMANTICS.md")
    print("\n".join(faults) or f"{seen} citations resolve")
    return 1 if faults or seen == 0 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
