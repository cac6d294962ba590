"""What is declared is used: every enumerator and constant of the core's headers, every parameter, kind of message, state
of a job and column of the chain, every status; and every code and status is named by a test, or stands in untested.txt
with the reason."""
import pathlib
import re
import sys

FOLDERS = ("core", "plugins", "ops", "tools")
# Enumerators that tables spell in pieces, or that are numbers kept for good. A row that is not needed is a fault.
SPELT = {
    "PCTL_FORM_GUARDED": "forms.def pastes it", "PCTL_PARAM_KIND_U64": "params.def pastes it",
    "PCTL_PARAM_KIND_PPM": "params.def pastes it", "PCTL_WHEN_NEVER": "the third of three words",
    "PCTL_MEMO_VERIFIED": "the second of three words", "PCTL_LOOPS_STRUCTURED": "the second of three words",
    "PCTL_REL_NORMAL": "the law of forms by its number",
    "PCTL_SEVERITY_NOTE": "a plugin's to say; render.c has its word by number",
    "PCTL_CPU_REG_MASK": "a place in a table", "PCTL_SPV_TIED_NONE": "the caps that tie nothing",
}


def plain(text):
    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", " ", text, flags=re.S))


def declared_names(headers):
    names = set()
    for text in headers.values():
        for body in re.findall(r"enum[^{;]*\{([^}]*)\}", text):
            names |= set(re.findall(r"\bPCTL_\w+\b(?!##)", body))  # what a macro pastes to is no name
        names |= {n for n in re.findall(r"#define (PCTL_\w+)", text) if not n.endswith("_H")}
    return names


def unused(texts, headers):
    count = {}
    for text in texts.values():
        for name in re.findall(r"\bPCTL_\w+", text):
            count[name] = count.get(name, 0) + 1
    once = {n for n in declared_names(headers) if count.get(n, 0) <= 1}
    return [f"{n} is declared and nothing uses it" for n in sorted(once - set(SPELT))] + \
           [f"{n} is used: its row is not needed" for n in sorted(set(SPELT) - once)]


def chain(files, texts):
    """Parameters, columns, kinds of messages and states of jobs, each read somewhere but where it is declared."""
    faults = []
    code = "\n".join(t for n, t in texts.items() if n.endswith(".c") and n.startswith(("core/chain/", "tools/pipectl/")))
    params = re.findall(r"^CHAIN_PARAM\((\w+),", files["core/chain/ledger/params.def"], re.M)
    used = set(re.findall(r"\bPCTL_\w+", code))
    for name in params:
        if f"PCTL_PARAM_{name}" not in used:
            faults.append(f"parameter {name} is read by nothing")
    strings = "\n".join(re.findall(r'"((?:[^"\\]|\\.)*)"', code))
    words = set(re.findall(r"\w+", strings))
    tables = re.findall(r'CHAIN_(?:TABLE|APART|LATER|NUMBERED)\((\w+),((?:\s*"[^"]*")+)', files["core/chain/state/schema.def"])
    for table, columns in tables:
        if not re.search(rf"\b(?:FROM|JOIN)\s+{table}\b", strings):
            faults.append(f"table {table} is never read")
        for column in re.findall(r"(\w+) (?:INTEGER|TEXT|BLOB)", columns):
            if column not in words:
                faults.append(f"column {column} of {table} is in no statement")
    states = re.findall(r"(\w+) = \d+;", re.search(r"enum JobStatus \{(.*?)\}", files["core/chain/messages/messages.proto"], re.S)[1])
    kinds = re.findall(r"(\w+) = \d+;", re.search(r"oneof request \{(.*?)\}", files["core/chain/messages/messages.proto"], re.S)[1])
    for what, prefix, names in (("state", "PCTL_JOB_", states), ("message", "PCTL_MSG_", kinds)):
        for name in names:
            if prefix + name.upper() not in used:
                faults.append(f"{what} {name} occurs nowhere")
    return faults, min(len(params), len(tables), len(states), len(kinds))


def untested(files, texts, words, listed):
    """Statuses and codes that no test names."""
    faults = []
    used = {w for n, t in texts.items() if n.endswith((".c", ".def")) for w in re.findall(r"\bPCTL_E_\w+", t)}
    for status in re.findall(r"#define (PCTL_E_\w+)", files["core/include/pipectl/status.h"]):
        if status not in used:
            faults.append(f"{status} is returned by nothing")
        if status not in words:
            faults.append(f"{status} is named by no test")
    codes = [c for n, t in files.items() if "/codes/" in n for c in re.findall(r"PCTL_CODE\(\s*(\d+),\s*(\w+),", t)]
    names = {f"PC{int(n):04}" for n, name in codes
             if not {f"PC{n}_{name}", f"PC{int(n):04}", n, f"{int(n):04}"} & words}
    faults += [f"{n} is named by no test" for n in sorted(names - set(listed))]
    faults += [f"{n} stands in untested.txt, but a test names it or there is no such code" for n in sorted(set(listed) - names)]
    faults += [f"{n} stands in untested.txt without a reason" for n, why in listed.items() if len(why) < 12]
    return faults, len(codes)


def read(root, folders, suffixes):
    return {str(p.relative_to(root)): p.read_text(errors="replace") for f in folders for p in sorted((root / f).rglob("*"))
            if p.is_file() and p.name.endswith(suffixes)}


def planted(files, texts, headers, words, listed):
    """Each judge sees the fault that is planted for it."""
    more = dict(headers, planted="enum { PCTL_PLANTED_NOWHERE = 7 };")
    yield "an enumerator", any("PLANTED_NOWHERE" in f for f in unused(dict(texts, **more), more))
    params = dict(files)
    params["core/chain/ledger/params.def"] += '\nCHAIN_PARAM(PLANTED, "planted", U64, 1, 0, 1, "read by nothing")\n'
    params["core/chain/state/schema.def"] += '\nCHAIN_TABLE(planted, "nothing_of_it INTEGER NOT NULL", "nothing_of_it")\n'
    found = chain(params, texts)[0]
    yield "a parameter", "parameter PLANTED is read by nothing" in found
    yield "a table", "table planted is never read" in found and "column nothing_of_it of planted is in no statement" in found
    codes = dict(files)
    codes["core/include/pipectl/codes/planted.def"] = 'PCTL_CODE(9973, PLANTED, "planted", PCTL_E_INVALID, "", "")'
    yield "a code", "PC9973 is named by no test" in untested(codes, texts, words, listed)[0]
    yield "a row", any("PC0001 stands" in f for f in untested(files, texts, words | {"PC0001"}, dict(listed, PC0001="x"))[0])


def main(root):
    files = read(root, ("core",), (".def", ".proto", "status.h"))
    texts = {n: plain(t) for n, t in read(root, FOLDERS, (".c", ".h", ".def", ".inc", ".in")).items()}
    headers = {n: t for n, t in texts.items() if n.endswith(".h")}
    here = root / "tests/checks"
    skip = {str(p.relative_to(root)) for p in (here / "declared.py", here / "untested.txt")}
    words = {w for n, t in read(root, ("tests",), (".c", ".h", ".py", ".wgsl", ".txt", ".cfg", ".def", ".sh")).items()
             if n not in skip for w in re.findall(r"\w+", t)}
    listed = dict(line.split(" ", 1) for line in (here / "untested.txt").read_text().splitlines() if line.startswith("PC"))
    of_chain, n_chain = chain(files, texts)
    of_codes, n_codes = untested(files, texts, words, listed)
    faults = unused(texts, headers) + of_chain + of_codes
    faults += [f"{what} that is planted is not seen" for what, seen in planted(files, texts, headers, words, listed) if not seen]
    n_names = len(declared_names(headers))
    print("\n".join(faults) or f"{n_names} names, {n_codes} codes, {len(listed)} of them named by no test")
    return 1 if faults or not (n_names and n_codes and n_chain) else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
