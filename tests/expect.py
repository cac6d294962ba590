"""A command that must fail, or succeed, in one way: its exit status and what it says are both compared. ctest's own
PASS_REGULAR_EXPRESSION looks at the text alone, and WILL_FAIL takes a crash for a failure.
usage: expect.py STATUS REGEX COMMAND..."""
import re
import subprocess
import sys


def main():
    status, regex, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode("utf-8", "replace")
    print(said, flush=True)
    faults = []
    if done.returncode != status:
        faults.append(f"exit status {done.returncode}, not {status}")
    if not re.search(regex, said, re.S):
        faults.append(f"nothing said matches {regex}")
    for fault in faults:
        print(f"expect.py: {fault}")
    sys.exit(1 if faults else 0)


main()
