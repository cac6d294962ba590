"""tools/dev/second-look on small ctest folders: a test of a wait that passes alone is unsteady and said, and what needed it runs after it; other bytes,
a crash, a lasting failure, too many of them, a failure of what waited: each stays one. usage: second_look.py SOURCE_DIR"""
import os
import subprocess
import sys
import tempfile

TOOL = os.path.join(sys.argv[1], "tools/dev/second-look")
ONCE = "test -e once || { touch once; echo 'no answer in time'; exit 1; }"
failures = []


def look(name, tests, status, word, needs=()):
    """One folder with `tests` (name: shell words), of which `needs` need the one named once."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as f:
            for test, command in {"good": "true", **tests}.items():
                f.write(f'add_test({test} "sh" "-c" "{command}")\n')
            f.write('set_tests_properties(once PROPERTIES FIXTURES_SETUP "f")\n' if needs else "")
            for test in needs:
                f.write(f'set_tests_properties({test} PROPERTIES FIXTURES_REQUIRED "f")\n')
        log = os.path.join(folder, "log")
        with open(log, "wb") as f:
            subprocess.run(["ctest", "--test-dir", folder, "--output-on-failure"], stdout=f, stderr=f, check=False)
        done = subprocess.run([TOOL, folder, log], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if (done.returncode == 0) != (status == 0) or word not in done.stdout:
            failures.append(f"{name}: status {done.returncode}, {done.stdout}")


look("a wait", {"once": ONCE}, 0, "unsteady: once: failed among others, passed twice alone; it said:\n  | no answer in time")
look("what needs it", {"once": ONCE, "after": "test -e once"}, 0, "unsteady: once", ["after"])
look("what needs it fails", {"once": ONCE, "after": "false"}, 1, "what waited for these failed", ["after"])
look("it always fails", {"never": "false"}, 1, "never fails alone, too")
look("it fails every second time", {"second": "test -e a && rm a || { touch a; exit 1; }"}, 1, "second fails alone, too")
look("a crash", {"once": ONCE.replace("exit 1", "kill -SEGV $$")}, 1, "once ended by itself")
for words in ("8 bytes, 8 wanted; element 0: 00000000, wanted 01000000", "difference at offset 3 0x01 0x02", "PC5208 [not-held]", "heights differ",
              "ERROR: AddressSanitizer: heap-use-after-free", "x.c:3:4: runtime error: shift", "FAILED calls on cpu, the bytes of the reference: 0",
              "FAILED block 7, one commit id: 3"):
    look(words, {"once": ONCE.replace("no answer in time", words)}, 1, "no second look at once: one failure is proof")
look("many", {f"t{i}": ONCE.replace("once", f"o{i}") for i in range(4)}, 1, "no second look: 4 failed")
look("nothing failed", {}, 1, "no second look: 0 failed")
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
