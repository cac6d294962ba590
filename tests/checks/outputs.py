"""Files get their bytes through foundation/base/output.c: nothing else in the core or the tools opens a path for writing by its
name, or renames onto one, but for the few places that are listed with their reason. Shown to fail by planted lines."""
import pathlib
import re
import sys

WRITES = re.compile(r'\b(?:fopen|freopen)\s*\([^;]*?"[wa][be+]*"|\bO_(?:CREAT|TRUNC|TMPFILE)\b|'
                    r'\brename(?:at2?)?\s*\(|\bmko?s?temps?\s*\(|\bcreat\s*\(')
# What is no file that a user names, and why it is written otherwise.
ALLOWED = {
    "core/runtime/cas/made.c": "a lock",
    "core/chain/executor/executing.c": "a file under a lock that names the jobs being run, emptied when they end",
    "core/foundation/base/output.c": "the one place",
    "core/foundation/base/folder.c": "a directory of files that it wrote through output.h, put under its name",
    "core/evidence/audit/run.c": "a scratch file without a name",
    "core/runtime/cas/dir.c": "blobs: content addressed, relative to the store's descriptor",
    "core/runtime/cas/dir_write.c": "the same",
    "core/runtime/cas/sign.c": "the key: made once, for its owner alone",
    "core/chain/home/keys.c": "keys of accounts: made once, for their owner alone, never replaced",
    "core/foundation/diag/log.c": "the log: added to line by line",
    "core/evidence/certify/journal.c": "appended to line by line",
    "core/evidence/certify/regressions.c": "appended to line by line",
    "core/chain/home/adopt.c": "a chain that is whole put in the place of another, which a mark makes go on after a crash",
    "core/chain/engine/abci/join.c": "parts of files that peers send, below a folder that is no chain before all of it is right",
    "core/chain/engine/abci/snapshots.c": "a folder of files that were written through output.h, put under the name of its height",
    "core/chain/history/gitlog.c": "objects of the history, relative to its descriptor",
    "core/chain/history/gitlog_write.c": "the same",
    "core/runtime/plugin/quarantine.c": "a lock",
    "core/runtime/plugin/folder.c": "folders of a worker moved up to be removed, relative to descriptors",
    "core/runtime/plugin/instance.c": "a lock",
}


def fault(name, text):
    found = WRITES.search(text)
    return f"{name}: {found.group(0)} does not go through foundation/base/output.h, and is not listed in tests/checks/outputs.py" if found and name not in ALLOWED else None


def main(root):
    faults, seen, used = [], 0, set()
    for folder in ("core", "tools"):
        for path in sorted((root / folder).glob("**/*.c")):
            name, text = path.relative_to(root).as_posix(), path.read_text()
            seen += 1
            if WRITES.search(text):
                used.add(name)
            one = fault(name, text)
            if one:
                faults.append(one)
    for name in sorted(set(ALLOWED) - used):
        print(f"{name} is listed and writes nothing")
    assert fault("tools/x.c", 'f = fopen(path, "wb");') and fault("core/x.c", "rename(temp, path)")
    assert not fault("core/x.c", 'f = fopen(path, "rbe");') and not fault("core/foundation/base/output.c", "rename(a, b)")
    print("\n".join(faults) or f"{seen} files write through foundation/base/output.h")
    return 1 if faults or seen == 0 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
