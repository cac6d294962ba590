"""No data of core, plugins and ops can be written that outlives a call and belongs to nobody: two threads would write it. What must be so
stands in statics.txt with the reason. Shown to fail by planted texts at the end of every run."""
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M)
# What stands before a name and decides nothing.
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)|_Alignas\s*\([^()]*\)|\b_Thread_local\b")
TYPE_BODY = re.compile(r"^(?:static\s+|const\s+|typedef\s+|extern\s+)*(?:struct|union|enum)\b[^()=;]*$")
OF_FUNCTION = re.compile(r"[^(]*\(\s*\*\s*(const\b)?")  # a pointer to one


def plain(text):
    """Without comments, directives and what strings say; lines stay lines."""
    lines = lambda m: re.sub(r"[^\n]", "", m.group())
    return DIRECTIVE.sub(lines, STRING.sub('""', COMMENT.sub(lines, text)))


def statements(text):
    """(line, nesting in functions, what stands before the first `=`, `{` or `;`) of each statement; bodies of types are skipped."""
    depth, line, head, head_line, skip, opened, in_value = 0, 1, "", 1, None, [], 0
    for c in text:
        if c == "\n":
            line += 1
        if skip is not None:  # a body of a type: what follows it may declare a variable
            skip += (c == "{") - (c == "}")
            if skip == 0:
                skip = None
                head = "".join(f"{w} " for w in ("typedef", "extern", "static", "const") if w in head.split()) + "body "
            continue
        if in_value:  # an initialiser, to its `;`
            opened.append(c) if c in "{(" else opened.pop() if c in "})" and opened else None
            if c == ";" and not opened:
                in_value, head = 0, ""
            continue
        if c == "{":
            if TYPE_BODY.match(head.strip()):
                skip = 1
                continue
            if head.strip():
                yield head_line, depth, head.strip(), c
            depth, head = depth + 1, ""
        elif c == "}":
            depth, head = depth - 1, ""
        elif c in ";=":
            if head.strip():
                yield head_line, depth, head.strip(), c
            head, in_value = "", c == "="
        else:
            if not head.strip():
                head_line = line
            head += c


def is_writable(head):
    """A declaration of data that is not const itself: `static const char *x` is not, `static const char *const x` is."""
    head = ATTRIBUTE.sub(" ", head)
    declarator = head.split("[")[0]
    pointer = OF_FUNCTION.match(declarator)
    if pointer:  # of a function
        return pointer.group(1) is None
    last = declarator.rfind("*")
    return not re.search(r"\bconst\b", declarator[last + 1:] if last >= 0 else declarator)


def writable(text):
    for line, depth, head, end in statements(plain(text)):
        words = re.findall(r"\w+", head)
        if depth > 0 and words[:1] != ["static"]:
            continue
        if words[0] in ("extern", "_Static_assert") or "typedef" in words or len(words) < 2:
            continue
        if end == "{" or (end == ";" and "(" in ATTRIBUTE.sub(" ", head) and not OF_FUNCTION.match(head)):
            continue  # a function, a prototype, a macro
        if end == ";" and re.match(r"(?:static\s+)?(?:body|(?:struct|union|enum) \w+)$", head):
            continue  # a type alone
        if is_writable(head):
            yield line, re.findall(r"\w+", ATTRIBUTE.sub(" ", head).split("[")[0].split(")")[0])[-1]


def main(root):
    allowed = dict(row.split(" ", 1) for row in (root / "tests/checks/statics.txt").read_text().splitlines()[1:])
    found, faults, files = {}, [], 0
    for part in ("core", "plugins", "ops"):
        for path in sorted((root / part).glob("**/*.[ch]")):
            files += 1
            for line, name in writable(path.read_text()):
                key = f"{path.relative_to(root)}:{name}"
                found[key] = line
                if key not in allowed:
                    faults.append(f"{path.relative_to(root)}:{line}: {name} can be written and belongs to no one")
    faults += [f"statics.txt: there is no {key}" for key in allowed if key not in found]
    faults += [f"statics.txt: {key} has no reason" for key, why in allowed.items() if not why.strip()]
    for text, names in (
            ("static int n;\n", ["n"]), ("struct s {\n\tint a;\n} shared;\n", ["shared"]), ("int count = 3;\n", ["count"]),
            ("void f(void)\n{\n\tstatic pctl_region nowhere;\n\tint n;\n}\n", ["nowhere"]), ("static const char *last[3];\n", ["last"]),
            ("static void (*hook)(int);\n", ["hook"]), ("static struct {\n\tint a;\n} one = {0};\n", ["one"]),
            ("static _Thread_local uint32_t depth;\n", ["depth"]), ("static uint8_t table[2] __attribute__((aligned(8))) = {1};\n", ["table"]),
            ("static const int a[] = {1, 2};\nstatic const char *const b = \"x = {\";\nint f(int n);\nextern int e;\n", []),
            ("static const struct {\n\tint a;\n} rows[] = {{1}};\ntypedef struct t {\n\tint n;\n} t;\nstruct t;\n", []),
            ("static int (*const f[])(void) = {g};\nstatic inline int h(void)\n{\n\tfor (int i = 0; i < 3; i++)\n\t\tn = i;\n}\n", [])):
        assert [name for _, name in writable(text)] == names, (text, list(writable(text)))
    print("\n".join(faults) or f"{files} files, {len(allowed)} that may be written, each with its reason")
    return 1 if faults or not files else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
