"""The grammars of tools/editor: as the parser's tables make them, every key known and no other, every shipped file without a fault.
usage: editor.py GRAMMAR SOURCE"""
import glob
import json
import os
import subprocess
import sys

import textmate

GRAMMAR, SOURCE = sys.argv[1:3]
KEY, BAD = "keyword.other.key.pipectl", "invalid.illegal"
passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED {name}: {detail}", flush=True)


def made(what):
    return subprocess.run([GRAMMAR, what], check=True, stdout=subprocess.PIPE).stdout.decode()


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


def bad(tokens):
    return [t for t in tokens if any(s.startswith(BAD) for s in t[2])]


TEXTMATE, VIM = "tools/editor/vscode/syntaxes/pipectl.tmLanguage.json", "tools/editor/vim/syntax/pipectl.vim"
for path, what in ((TEXTMATE, "textmate"), (VIM, "vim")):
    check(f"{path} is what the tables make (tools/editor/README.md)", read(path) == made(what))
g = textmate.Grammar(json.loads(read(TEXTMATE)))

rows = [line.split("\t") for line in made("keys").splitlines()]
check("there are keys", len(rows) > 60, str(len(rows)))
for before, key, after, words in rows:
    def scopes_of(name, value="0"):
        return [t[2][-1] for t in g.tokens(f"{before}{name} = {value}; {after}") if t[1] == name]
    check(f"{before}{key}", scopes_of(key)[-1:] == [KEY], str(scopes_of(key)))
    check(f"{before}{key}x is none", scopes_of(key + "x")[-1:] == ["invalid.illegal.unknown-key.pipectl"], str(scopes_of(key + "x")))
    for word in words.split():
        text = f"{before}{key} = {word}; {after}"
        check(text, not bad(g.tokens(text)) and any(t[1] == word for t in g.tokens(text)), str(g.tokens(text)))
        text = f"{before}{key} = \"{word[1:-1]}x\"; {after}"
        check(text, len(bad(g.tokens(text))) == 1, str(g.tokens(text)))
for text, part, scope in (('inputs : { e : { type = "u32|f16[m,2]"; }; };', "u32|f16", "storage.type.pipectl"),
                          ('jobs = ( { op = "rank.step@1..2"; } );', "rank.step", "entity.name.function.pipectl"),
                          ('jobs = ( { in : { a = "$edges"; }; } );', "$edges", "variable.parameter.pipectl"),
                          ('jobs = ( { in : { a = "one.y"; }; } );', "one", "variable.other.job.pipectl"),
                          ('jobs = ( { in : { a = "one.y"; }; } );', "a", "entity.name.tag.pipectl"),
                          ('gas_limit = "2_000"; // most', "// most", "comment.line.pipectl"),
                          ('params : { a = 1 b = true /* no\nseparators */ c = "x\\"y" };', "true", "constant.language.boolean.pipectl"),
                          ('@include "x.cfg"\nname = "n";', "@include", "keyword.control.include.pipectl")):
    check(text, [t[2][-1] for t in g.tokens(text) if t[1] == part] == [scope], str(g.tokens(text)))
shipped = [p for d in ("pipelines/*.cfg", "pipelines/parts/*.cfg", "conf/policy/*.cfg") for p in glob.glob(os.path.join(SOURCE, d))]
check("files are shipped", len(shipped) > 12, str(shipped))
for path in sorted(shipped):
    tokens = g.tokens(read(path))
    keys = sum(t[2][-1] == KEY for t in tokens)
    check(path, not bad(tokens) and keys > 2, f"{keys} {bad(tokens)}")
package = json.loads(read("tools/editor/vscode/package.json"))
for part in (package["contributes"]["grammars"][0]["path"], package["contributes"]["languages"][0]["configuration"]):
    check(part, json.loads(read(os.path.join("tools/editor/vscode", part))))
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
