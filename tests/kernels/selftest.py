"""`check` itself, on two kernels made here: right verdicts pass, and every planted fault in the table, the bytes or the
folder is found. Also that kernels.tsv is whole: its rows are distinct and its codes exist."""
import hashlib
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CHECK = os.path.join(HERE, "check")
HEAD = "repo\tcommit\tpath\tbytes\tsha256\tlicence\targuments\tcheck\tupload\n"
GOOD = b"""@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(1) @binding(0) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
	output[id.x] = input[id.x] + 1u;
}
"""
BAD = GOOD.replace(b"\toutput[id.x] =", b"\tloop { break; }\n\toutput[id.x] =")


def row(path, data, check, upload):
    return "\t".join(("some/one", "0" * 40, path, str(len(data)), hashlib.sha256(data).hexdigest(), "own",
                      "--dispatch 16", check, upload)) + "\n"


def run(folder, text, *options):
    table = os.path.join(folder, "table.tsv")
    with open(table, "w", encoding="utf-8") as f:
        f.write(HEAD + text)
    done = subprocess.run([sys.executable, "-B", CHECK, "--table", table, *options, os.path.join(folder, "files")],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def main():
    failures = []

    def expect(name, outcome, status, *words):
        code, text = outcome
        if code != status or not all(word in text for word in words):
            failures.append(f"{name}: status {code}, expected {status} and {words}:\n{text}")

    with tempfile.TemporaryDirectory(prefix="pipectl-kernels-test-") as folder:
        place = os.path.join(folder, "files", "some", "one")
        good = row("good.wgsl", GOOD, "accepted proven", "accepted")
        bad = row("bad.wgsl", BAD, "PC2208:5", "PC2208:5")
        os.makedirs(os.path.join(folder, "files"))
        expect("an empty folder", run(folder, good + bad), 1, "0 of 2 kernels looked at", "2 missing")
        expect("an empty folder, partial", run(folder, good + bad, "--partial"), 1, "0 of 2")
        expect("an empty table", run(folder, ""), 1, "0 of 0")
        os.makedirs(place)
        for name, data in (("good.wgsl", GOOD), ("bad.wgsl", BAD)):
            with open(os.path.join(place, name), "wb") as f:
                f.write(data)
        expect("right verdicts", run(folder, good + bad), 0, "2 of 2 kernels looked at, 0 wrong, 0 missing")
        expect("a refusal called accepted", run(folder, good + bad.replace("PC2208:5", "accepted proven", 1)), 1,
               "WRONG some/one/bad.wgsl: check: PC2208:5, expected accepted proven", "1 wrong")
        expect("another line", run(folder, good + bad.replace("PC2208:5\n", "PC2208:6\n")), 1, "upload: PC2208:5",
               "1 wrong")
        expect("another code", run(folder, good + bad.replace("PC2208", "PC2209", 1)), 1, "check: PC2208:5", "1 wrong")
        expect("an acceptance called refused", run(folder, good.replace("accepted proven", "PC2208:5", 1) + bad), 1,
               "WRONG some/one/good.wgsl: check: accepted proven", "1 wrong")
        expect("unproven for proven", run(folder, good.replace("proven", "unproven", 1)), 1, "check: accepted proven",
               "1 wrong")
        longer = row("good.wgsl", GOOD + b"\n", "accepted proven", "accepted")
        expect("other bytes", run(folder, longer), 1, "other bytes", "1 wrong")
        expect("one missing", run(folder, good + row("none.wgsl", GOOD, "accepted proven", "accepted")), 1, "1 missing")
        expect("one missing, partial",
               run(folder, good + row("none.wgsl", GOOD, "accepted proven", "accepted"), "--partial"), 0, "1 of 2")
        commit = clone(place)
        with open(os.path.join(place, "good.wgsl"), "wb") as f:
            f.write(BAD)
        expect("a clone, another file checked out", run(folder, good.replace("0" * 40, commit)), 0, "1 of 1", "0 wrong")
        expect("a clone without the commit", run(folder, good), 1, "0 of 1", "1 missing")
    failures += table()
    print("\n".join(failures) or "14 uses of check and the table, as expected")
    return 1 if failures else 0


def clone(place):
    """Makes a repository of the folder; its one commit."""
    def git(*arguments):
        return subprocess.run(["git", "-C", place, "-c", "user.name=t", "-c", "user.email=t@t.invalid",
                               "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false", *arguments], check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout.strip()
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "kernels")
    return git("rev-parse", "HEAD")


def table():
    with open(os.path.join(HERE, "kernels.tsv"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f][1:]
    faults = [] if len(rows) >= 24 else [f"kernels.tsv has {len(rows)} rows"]
    if len({r[4] for r in rows}) != len(rows) or len({(r[0], r[2]) for r in rows}) != len(rows):
        faults.append("kernels.tsv has a kernel twice")
    for r in rows:
        if len(r) != 9 or not re.fullmatch(r"[0-9a-f]{40}", r[1]) or not re.fullmatch(r"[0-9a-f]{64}", r[4]):
            faults.append(f"kernels.tsv: malformed: {r}")
    for code in sorted({c for r in rows for c in re.findall(r"PC\d{4}", r[7] + r[8])}):
        done = subprocess.run([os.environ["PIPECTL"], "explain", code], stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode != 0:
            faults.append(f"kernels.tsv names {code}, which is no code")
    return faults


if __name__ == "__main__":
    sys.exit(main())
