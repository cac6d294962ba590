"""No test is left out in silence: CMake lists in a file what it left out and why (pctl_left_out in tests/CMakeLists.txt), and here each line is a
fault but what no package of the system has ("optional: "). Shown to fail by a planted line at the end of every run. usage: left_out.py LIST"""
import pathlib
import sys


def faults(text):
    return [f"left out: {line}" for line in text.splitlines() if line.strip() and not line.startswith("optional: ")]


def main(path):
    text = path.read_text()
    found = faults(text)
    assert faults("PoCL: /etc/OpenCL/vendors/pocl.icd is not there\n") and not faults("\noptional: what is fetched\n")
    print("\n".join(found) or text.strip() or "no test is left out")
    return 1 if found else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
