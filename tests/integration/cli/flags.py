"""Every flag of every verb is used by a test: the verbs' own table (`--json help`) against the command lines that stand
in the sources of tests. A command line is a list or a call with a verb in it; names in it are looked up where they are
assigned or returned. Flags that no test gives stand in flags.txt with the reason; a reason too many is an error."""
import ast
import json
import os
import pathlib
import re
import sys

from harness import Harness

TESTS = pathlib.Path(__file__).resolve().parents[2]
MOST = 600  # words of a command line


class Source:
    """The command lines of one file."""

    def __init__(self, text):
        self.tree = ast.parse(text)
        self.values, self.known = {}, {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self.note(target, node.value)
            elif isinstance(node, (ast.For, ast.comprehension)):
                self.note(node.target, node.iter)
            elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
                name = getattr(node, "name", None)
                for inner in ast.walk(node):
                    if name and isinstance(inner, ast.Return) and inner.value is not None:
                        self.values.setdefault(name, []).append(inner.value)

    def note(self, target, value):
        if isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self.note(part, value)
        name = self.name_of(target)
        if name:
            self.values.setdefault(name, []).append(value)

    @staticmethod
    def name_of(node):
        if isinstance(node, ast.Name):
            return node.id
        return node.attr if isinstance(node, ast.Attribute) else None

    def words(self, node):
        """The words of an expression in their order, as far as they are written down."""
        if id(node) not in self.known:
            self.known[id(node)] = []  # what a name that leads to itself gives
            self.known[id(node)] = self.found(node)[:MOST]
        return self.known[id(node)]

    def found(self, node):
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if isinstance(node, ast.JoinedStr):
            first = node.values[0] if node.values else None
            return [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else [""]
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return [w for e in node.elts for w in self.words(e)]
        if isinstance(node, ast.Starred):
            return self.words(node.value)
        if isinstance(node, ast.BinOp):
            both = self.words(node.left) + self.words(node.right)
            return both if isinstance(node.op, ast.Add) else self.words(node.left)
        if isinstance(node, ast.IfExp):
            return self.words(node.body) + self.words(node.orelse)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.words(node.elt)
        if isinstance(node, ast.Dict):
            return [w for e in node.values for w in self.words(e)]
        if isinstance(node, ast.Call):
            called = self.name_of(node.func)
            inner = [w for value in self.values.get(called, []) for w in self.words(value)]
            return inner + [w for e in node.args for w in self.words(e)]
        if isinstance(node, ast.Subscript):
            return self.words(node.value)
        name = self.name_of(node)
        return [w for value in self.values.get(name, [])[:8] for w in self.words(value)] if name else []

    def lines(self):
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.List, ast.Tuple, ast.Call, ast.BinOp)):
                words = self.words(node)
                if any(w.startswith("-") for w in words):
                    yield words


def given(words, verbs):
    """(verb and sub-verb, flag) of one command line: a flag counts for the verb before it, or, before any, for the first."""
    found, now, waiting = set(), None, []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        two = f"{word} {rest[-1]}" if rest else word
        if two in verbs or (word in verbs and " " not in word):
            now = two if two in verbs else word
            if two in verbs and two != word:
                rest.pop()
            found |= {(now, flag) for flag in waiting if flag in verbs[now]}
            waiting = []
        elif re.match(r"--?[a-z]", word):
            flag = word.split("=")[0]
            if now is None:
                waiting.append(flag)
            elif flag in verbs[now]:
                found.add((now, flag))
    return found


def used(texts, verbs):
    found = set()
    for name, text in texts.items():
        if name.endswith(".py"):
            for words in Source(text).lines():
                found |= given(words, verbs)
        else:
            text = text.replace("\\\n", " ")
            for line in text.splitlines():
                if "pipectl" in line or "PIPECTL" in line:
                    found |= given(re.findall(r"[^\s\"';()]+", line), verbs)
            # A command of CMake may go on.
            for command in re.findall(r"add_test\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text):
                found |= given(command.split(), verbs)
    return found


def main():
    h = Harness()
    status, out, err = h.run("--json", "help")
    h.check("the table of verbs", status == 0, err)
    document = json.loads(out)
    everywhere = {o["name"] for o in document["global_options"]}
    verbs = {f"{v['verb']} {v['sub'] or ''}".strip(): {o["name"] for o in v["options"]} | everywhere for v in document["verbs"]}
    h.check("there are verbs", len(verbs) > 60 and "--fresh" in verbs.get("device probe", ()), str(sorted(verbs)))
    texts = {str(p): p.read_text(errors="replace") for p in sorted(TESTS.rglob("*"))
             if p.suffix in (".py", ".sh", ".cmake") or p.name in ("CMakeLists.txt", "check")}
    found = used(texts, verbs)
    # It must be able to fail: a flag that nobody gives, and one that somebody gives.
    planted = {"x.py": 'A = ["device", "probe"]\nh.run(*A, "--planted", "V")\nh.run("run", "--other")\n'}
    seen = used(planted, {"device probe": {"--planted", "--other"}, "run": {"--planted"}})
    h.check("what is given is seen, of its verb alone", seen == {("device probe", "--planted")}, str(seen))
    wanted = {(verb, flag) for verb, flags in verbs.items() for flag in flags - everywhere}
    globally = {flag for _, flag in found} & everywhere
    missing = {f"{verb} {flag}" for verb, flag in wanted - found} | {f"* {flag}" for flag in everywhere - globally}
    with open(pathlib.Path(__file__).with_name("flags.txt"), encoding="utf-8") as f:
        listed = dict(line.rstrip("\n").split(": ", 1) for line in f if ": " in line and not line.startswith("#"))
    for name in sorted(missing - set(listed)):
        h.check("a test gives", False, name)
    for name in sorted(set(listed) - missing):
        h.check("stands in flags.txt and is given, or is no flag", False, name)
    h.check("flags were looked for", len(wanted) > 100, str(len(wanted)))
    print(f"{len(verbs)} verbs, {len(wanted)} flags of their own, {len(listed)} of them given by no test")
    h.finish()


if __name__ == "__main__":
    sys.exit(main())
