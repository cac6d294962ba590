"""What users read, over the whole list of codes and every sentence in the sources: each explanation says what is the matter in whole sentences and what to do,
and what a text names is there: files of the repository, codes, verbs, options. None has a word of our own. Shown to fail by planted texts at the end of
every run. usage: texts.py SOURCE"""
import pathlib
import re
import sys

TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\s+|.", re.S)
CODE = re.compile(r'PCTL_CODE\((\d+),\s*\w+,\s*"([^"]*)",\s*\w+,\s*((?:"(?:\\.|[^"\\])*"\s*)+),\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)')
# A way out: something to do, in words of command; or what must hold, so that there is nothing to guess.
DO = re.compile(
    r"(?:^|[.;:,] |`, | and | or |then )(use|give|write|remove|correct|choose|put|run|raise|make|name|split|cut|lower|fetch|check|move|close|open|repeat|report|please|declare|install|"
    r"reinstall|set|add|ask|try|keep|save|free|restore|wait|update|build|rebuild|see|look|convert|reshape|pass|send|start|restart|load|take|leave|bind|rename|point|change|replace|"
    r"shorten|spread|compare|sign|register|upload|store|read|delete|do not|stop|call|let|drop|submit|order|allow|copy|initialise|join|quote|tell|begin|reduce|probe|find|fill|prove|"
    r"follow|post|listen|mend|have|round|compute|break|represent|generate|link|compile|define|propose|collect|fix|execute|get|end)\b", re.I)
RULE = re.compile(r"`|\b(must|needs?|needed|wants?|only|at most|at least|can|cannot|may|allowed|takes?|shows|lists|prints|defect|warning|again|nothing (?:was|is)|"
                  r"says (?:which|what|where|how|why)|names|gives)\b")
# Words of our own for what the field has a term for: none of them has another meaning in a text for users.
OWN = re.compile(r"(?<![a-z])(granul(?:e|es|arity)|tamed?|speculat(?:e|es|ed|ion)|weav(?:e|es|er|ing)|spoil(?:s|t|ed|ing)?|troubles?|efforts?|lockstep strip|"
                 r"nothing that is written has the name|no version \d+\.\.\d+)(?![a-z])", re.I)
PATH = re.compile(r"(?<![\w/.-])((?:core|plugins|ops|tools|certs|pipelines|tests)/[\w./-]*\w)")


def texts_of(text):
    """String literals, adjacent ones joined: (line, text)."""
    line, open_line, parts = 1, 0, []
    for m in TOKEN.finditer(text):
        t = m.group(0)
        if t[0] == '"':
            open_line = open_line if parts else line
            parts.append(t[1:-1])
        elif t.startswith("PRI") and parts:
            parts.append("N")
        elif not (t.isspace() or t.startswith(("/*", "//"))):
            if parts:
                yield open_line, "".join(parts)
            parts = []
        line += t.count("\n")
    if parts:
        yield open_line, "".join(parts)


def joined(literals):
    return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', literals)).replace('\\"', '"')


class Texts:
    def __init__(self, root):
        self.root, self.faults = root, []
        self.codes = [(int(n), slug, joined(a), joined(b)) for f in sorted((root / "core/include/pipectl/codes").glob("*.def")) for n, slug, a, b in CODE.findall(f.read_text())]
        self.declared = sum(f.read_text().count("PCTL_CODE(") for f in (root / "core/include/pipectl/codes").glob("*.def"))
        self.numbers = {n for n, *_ in self.codes}
        tools = [p.read_text() for p in sorted((root / "tools/pipectl").glob("verb*.[ch]"))]
        self.verbs = {}
        for verb, sub in re.findall(r'\{\s*"([a-z-]+)",\s*(?:"([a-z-]+)"|NULL),', (root / "tools/pipectl/verbs.c").read_text()):
            self.verbs.setdefault(verb, set()).add(sub)
        self.options = set(re.findall(r'"(--?[a-z][a-z-]*)"', "".join(tools) + (root / "core/model/serve/limits.def").read_text()))

    def names(self, text):
        """What is wrong with what a text names."""
        for path in PATH.findall(text):
            if not (self.root / path).exists():
                yield f"there is no {path}"
        for number in re.findall(r"(?<![A-Z])PC(\d{4})(?!\d)", text):
            if int(number) not in self.numbers:
                yield f"there is no PC{number}"
        for command in re.findall(r"`pipectl ([^`]+)`", text):
            words = command.split()
            subs = self.verbs.get(words[0])
            if words[0] != words[0].lower() or words[0].startswith(("-", "%")):
                continue
            if subs is None:
                yield f"there is no verb {words[0]}"
            elif "" not in subs and (len(words) < 2 or re.fullmatch(r"[a-z-]+", words[1]) and words[1] not in subs):
                yield f"there is no verb {' '.join(words[:2])}"
            for option in re.findall(r"(?<!\S)(--[a-z][a-z-]+)", command):
                if option not in self.options:
                    yield f"there is no option {option}"
        for word in OWN.findall(text):
            yield f"\"{word}\" is a word of our own"

    def code(self, summary, explanation):
        """What is wrong with the two texts of a code."""
        yield from self.names(summary + " " + explanation)
        if summary != summary.strip() or summary.endswith(".") or len(summary) < 12 or len(summary) > 130:
            yield "its summary is no short line without a full stop"
        if not explanation.endswith(".") or explanation != explanation.strip() or "  " in explanation or not re.match(r"[A-Z0-9`$@/&#.-]|[a-z]*[A-Z0-9_/'.,-]|integer <", explanation):
            yield "its explanation is not whole sentences"
        if explanation.lower().startswith(summary.lower()):
            yield "its explanation begins with its summary"
        if not DO.search(explanation) and not RULE.search(explanation):
            yield "its explanation does not say what to do or what must hold"


def main(root):
    t, seen = Texts(root), 0
    faults = [] if t.declared == len(t.codes) else [f"{t.declared} codes are declared, {len(t.codes)} are read here"]
    for number, slug, summary, explanation in t.codes:
        faults += [f"PC{number:04} [{slug}]: {fault}" for fault in t.code(summary, explanation)]
    for folder in ("core", "plugins", "ops", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".c", ".h", ".def") or "codes" in path.parts:
                continue
            for line, text in texts_of(path.read_text(errors="replace")):
                if text.count(" ") < 2:
                    continue
                seen += 1
                faults += [f"{path.relative_to(root)}:{line}: {fault}" for fault in t.names(text)]
    planted = ["a text that is long enough", "See core" + "/nowhere/README.md and PC9998."], ["a text that is long enough", "Run `pipectl cas putt --nothing FILE`."], \
        ["a text that is long enough", "All of it was tamed."], ["a text that is long enough", "It is so"], ["a text that is long enough", "A thing is as it is."]
    found = [list(t.code(*p)) for p in planted]
    assert [len(f) for f in found] == [2, 2, 2, 2, 1], found
    assert list(texts_of('f("a b" /* c */\n "c %" PRIu32 " d", x)'))[0] == (1, "a bc %N d")
    print("\n".join(faults) or f"{len(t.codes)} codes and {seen} sentences")
    return 1 if faults or seen < 1000 or len(t.codes) < 700 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
