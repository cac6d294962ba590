"""`corpus` itself: each class on a file made here, counts and share on all of them, and our own golden shaders, whose good
twins it must call good and whose bad ones it must not."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden", "wgsl")
ENTRY = "@compute @workgroup_size(1) fn main() { }\n"
SAMPLE = "@group(0) @binding(0) var image: texture_2d<f32>;\n"
FILES = {
    "one/plain/a.wgsl": (ENTRY, "accepted", []),
    "one/plain/unset.wgsl": ("override n: u32; override m: f32;\n@compute @workgroup_size(n) fn main() { _ = m; }\n", "accepted", []),
    "one/plain/drawing.wgsl": (SAMPLE + "@fragment fn fs() { _ = image; }\n" + ENTRY, "accepted", []),
    "one/image/b.wgsl": (SAMPLE + "@compute @workgroup_size(1) fn main() { _ = image; }\n", "outside", ["PC2201 texture"]),
    "two/names/c.wgsl": (ENTRY.replace("{ }", "{ _ = nothing; let x = 1u + 1i; }"), "refused", ["PC2400 unknown-name", "PC2405 operator"]),
    "two/names/d.wgsl": (ENTRY.replace("{ }", "{ _ = nothing; }"), "refused", ["PC2400 unknown-name"]),
    "two/names/e.wgsl": (ENTRY.replace("{ }", "{ _ = nothing; }"), "invalid", ["PC2400 unknown-name"]),
    "two/names/taken.wgsl": (ENTRY, "accepted", []),
    "three/made/f.wgsl": ("#import bevy::x\n" + ENTRY, "template", []),
    "three/made/g.wgsl": (ENTRY.replace("1)", "{{ size }})"), "template", []),
    "three/made/h.wgsl": ("fn f() { } // @compute\n", "empty", []),
}
INVALID = "# what another compiler says\ntwo/names/e.wgsl\tno definition in scope\ntwo/names/taken.wgsl\tnot so\n"
failures = []


def expect(name, ok, *found):
    print("ok  " if ok else "FAIL", name, *([] if ok else found))
    if not ok:
        failures.append(name)


def corpus(*arguments):
    done = subprocess.run([sys.executable, "-B", os.path.join(HERE, "corpus"), "--pipectl", os.environ["PIPECTL"], *arguments],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder, invalid = os.path.join(scratch, "files"), os.path.join(scratch, "invalid")
        for name, (text, _, _) in FILES.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        with open(invalid, "w", encoding="utf-8") as f:
            f.write(INVALID)
        status, out = corpus("--json", "--invalid", invalid, folder)
        found = json.loads(out) if status == 0 else {"list": []}
        expect("it runs", status == 0, out)
        for f in found["list"]:
            _, kind, codes = FILES[f["file"]]
            expect(f["file"], f["class"] == kind and f["codes"] == codes, f)
        expect("every file once", sorted(f["file"] for f in found["list"]) == sorted(FILES))
        expect("counts", found.get("counts") == {"accepted": 4, "refused": 2, "outside": 1, "invalid": 1, "template": 2, "empty": 1}, found)
        expect("share", found.get("share") == round(4 / 6, 4))
        expect("reasons", found.get("reasons") == [{"reason": "PC2400 unknown-name", "files": 2, "alone": 1},
                                                    {"reason": "PC2405 operator", "files": 1, "alone": 0}], found)
        status, out = corpus("--invalid", invalid, "--verbose", folder)
        expect("text", "accepted of those that are valid compute: 66.7 %" in out and "2  PC2400 unknown-name, alone in 1" in out and
               "outside   one/image/b.wgsl PC2201 texture" in out, out)
        lanes = os.path.join(scratch, "lanes")
        os.mkdir(lanes)
        with open(os.path.join(lanes, "sum.wgsl"), "w", encoding="utf-8") as f:
            f.write("enable subgroups;\n" + ENTRY.replace("{ }", "{ _ = subgroupAdd(1u); }"))
        for size, counted in (([], "0 accepted, 1 refused"), (["--subgroup", "32"], "1 accepted, 0 refused")):
            status, out = corpus(*size, lanes)
            expect(f"subgroups of a size that is {'given' if size else 'missing'}", counted in out, out)
        os.mkdir(os.path.join(scratch, "nothing"))
        status, out = corpus(os.path.join(scratch, "nothing"))
        expect("nothing looked at is a failure", status != 0, out)
    for twin, wanted in (("good", True), ("bad", False)):
        status, out = corpus("--json", os.path.join(GOLDEN, twin))
        found = json.loads(out)
        judged = [f for f in found["list"] if f["class"] in ("accepted", "refused", "outside")]
        expect(f"{twin} twins: enough are judged", len(judged) > 50, len(judged))
        for f in judged:
            with open(os.path.join(GOLDEN, twin, f["file"]), encoding="utf-8", errors="replace") as file:
                text = file.read()
            elsewhere = "// flags:" in text or "//# use " in text  # other rules there; no op libraries there
            # What the proofs behind the front end refuse (PC20xx) is good for the front end.
            taken = f["class"] == "accepted" or all(code.startswith("PC20") for code in f["codes"])
            if not elsewhere and taken != wanted:
                expect(f"{twin}/{f['file']}", False, f)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
