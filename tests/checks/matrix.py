"""Every test with the label matrix repeats on a further device what a test without it (and without slow) shows on another: the same program
or script, the same expectation, the same words in its command but for devices, sizes, numbers and files; what it asks for by options is
asked for by the other, too. The same device does where the other test is --few: less of each. So tools/check alone tries every property that tools/check all tries. A fixture is never so labelled: others
wait for it. Shown to fail by planted tests at the end of every run.
usage: matrix.py BUILD_DIR"""
import json
import re
import subprocess
import sys

DEVICE = re.compile(r"(?i)^(?:cpu|vulkan|opencl|lavapipe|pocl|swiftshader|rusticl|oclgrind|llvmpipe|portable)\b")
SIZE = re.compile(r"^(?:all|few|one|tiny|small|ops|[\d,.]+|(?:(?:bf16|f16|f32|f64|[iu]\d+)(?:,|$))+)$")
HOW = {"--apart", "--few"}  # a kernel a form, and less of all, for compilers that are slow: no other property
DRIVERS = ("VK_ICD_FILENAMES", "OCL_ICD_VENDORS", "PCTL_TEST_PLUGIN")


class Test:
    """The words of a test's command, sorted by what they say."""

    def __init__(self, name, command, labels, env, fixture):
        self.name, self.labels, self.fixture = name, set(labels), fixture
        self.devices = {f"{key}={value}" for key, _, value in (e.partition("=") for e in env) if key in DRIVERS}
        self.expects, self.program, self.words, self.options = (), None, [], set()
        words = list(command)
        if any(word.endswith("/expect.py") for word in words):
            at = next(i for i, word in enumerate(words) if word.endswith("/expect.py"))
            self.expects, words = tuple(words[at + 1:at + 3]), words[at + 3:]
        option, before = False, ""
        for word in words:
            before, last = word, before
            if self.program is None:
                if not re.search(r"/python[\d.]*$|^-B$", word):
                    self.program = word
            elif word.startswith("--"):
                option = True
                self.options.add(word)
            elif last in ("--device", "--devices") or any(DEVICE.match(part) for part in word.split(",")):
                self.devices.add(word)
            elif re.search(r"/plugins/\w+\.so$", word):
                self.devices.add(word)
            elif "/" in word:
                pass
            elif option:
                self.options.update(part for part in word.split(",") if not part.isdigit())
            elif not SIZE.match(word):
                self.words.append(word)

    def repeats(self, twin):
        return ((self.program, self.expects, self.words) == (twin.program, twin.expects, twin.words) and self.options - HOW <= twin.options
                and (self.devices != twin.devices or "--few" in twin.options - self.options))


def faults_of(tests):
    daily = [t for t in tests if not t.labels & {"matrix", "slow"}]
    faults = []
    for t in tests:
        if "matrix" not in t.labels:
            continue
        if not any(t.repeats(twin) for twin in daily):
            faults.append(f"{t.name} has the label matrix, and no test without it shows the same on another device")
        if t.fixture:
            faults.append(f"{t.name} has the label matrix and is a fixture")
    return faults


def read(build):
    listed = json.loads(subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, stdout=subprocess.PIPE).stdout)
    for t in listed["tests"]:
        p = {x["name"]: x["value"] for x in t.get("properties", [])}
        yield Test(t["name"], t.get("command", []), p.get("LABELS", []), p.get("ENVIRONMENT", []), "FIXTURES_SETUP" in p)


def planted():
    """Names of the planted tests that are found fault with: all but the first four."""
    m = ["matrix"]
    cpu = [Test("cpu", ["/bin/t", "kv", "all", "cpu"], [], [], False), Test("forms", ["f", "cpu", "--groups", "int,root"], [], [], False),
           Test("lavapipe", ["/bin/v"], [], ["VK_ICD_FILENAMES=l"], False), Test("night", ["/bin/n", "cpu"], ["slow"], [], False),
           Test("less", ["/bin/l", "vulkan:0", "--few"], [], [], False), Test("fails", ["/expect.py", "1", "wrong", "/bin/e", "cpu"], [], [], False)]
    more = [Test("further", ["/bin/t", "kv", "few", "vulkan:0"], m, [], False), Test("root", ["f", "opencl:0", "--groups", "root"], m, [], False),
            Test("more", ["/bin/l", "vulkan:0"], m, [], False), Test("driver", ["/bin/v"], m, ["VK_ICD_FILENAMES=s"], False),
            Test("mode", ["/bin/t", "rope", "few", "vulkan:0"], m, [], False), Test("group", ["f", "opencl:0", "--groups", "f64"], m, [], False),
            Test("same", ["/bin/v"], m, ["VK_ICD_FILENAMES=l"], False), Test("by night", ["/bin/n", "vulkan:0"], m, [], False),
            Test("alone", ["/bin/a", "vulkan:0"], m, [], False), Test("expects", ["/bin/e", "vulkan:0"], m, [], False),
            Test("setup", ["/bin/t", "kv", "vulkan:0"], m, [], True)]
    return [fault.split(" has the label")[0] for fault in faults_of(cpu + more)]


def main(build):
    tests = list(read(build))
    faults = faults_of(tests)
    assert planted() == ["mode", "group", "same", "by night", "alone", "expects", "setup"], planted()
    n = sum("matrix" in t.labels for t in tests)
    if n == 0:
        faults.append("no test has the label matrix")
    print("\n".join(faults) or f"{n} tests of the label matrix, each with a twin without it")
    return 1 if faults else 0


sys.exit(main(sys.argv[1]))
