"""Every test with the label matrix repeats on a further device what a test without it (and without slow) shows on another: the same program
or script, the same expectation, the same words in its command but for devices, sizes, numbers and files; what it asks for by options is
asked for by the other, too. The same device does where the other test is --few: less of each. A test with the label larger has such a twin on
any device, of other sizes or numbers. So tools/check alone tries every property that tools/check all tries. A fixture of a test without these labels has none of them:
others wait for it. A test with the label contained, which tools/check all leaves out, has a test with the label larger that is larger than it: so
all tries what tools/check alone tries. Shown to fail by planted tests at the end of every run.
usage: matrix.py BUILD_DIR"""
import json
import os
import re
import subprocess
import sys

DEVICE = re.compile(r"(?i)^(?:cpu|mock|vulkan|opencl|lavapipe|pocl|swiftshader|rusticl|oclgrind|llvmpipe|portable)\b")
SIZE = re.compile(r"^(?:all|few|one|tiny|small|ops|right|registers|[\d,.]+|(?:(?:bf16|f16|f32|f64|[iu]\d+)(?:,|$))+)$")
# What other tests without these labels fail for, too: a test, and why it needs no twin.
COVERED = {
    r"elementary_constants_\w+": "a constant that changes a result fails elementary_FUNCTION and hard_cpu",
}
HOW = {"--apart", "--few"}  # a kernel a form, and less of all, for compilers that are slow: no other property
DRIVERS = ("VK_ICD_FILENAMES", "OCL_ICD_VENDORS", "PCTL_TEST_PLUGIN")


class Test:
    """The words of a test's command, sorted by what they say."""

    def __init__(self, name, command, labels, env, fixture, needs=()):
        self.name, self.labels, self.fixture, self.needs = name, set(labels), fixture, set(needs)
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

    def is_larger_than(self, twin):
        return (self.program, self.expects, self.words) == (twin.program, twin.expects, twin.words) and self.options - HOW <= twin.options

    def repeats(self, twin):
        return self.is_larger_than(twin) and (self.devices != twin.devices or "--few" in twin.options - self.options)


def faults_of(tests):
    daily = [t for t in tests if not t.labels & {"matrix", "larger", "slow"}]
    faults = []
    for t in tests:
        for label, has_twin, how in (("matrix", t.repeats, "on another device"), ("larger", t.is_larger_than, "in fewer cases")):
            if label not in t.labels:
                continue
            if not t.fixture and not any(re.fullmatch(name, t.name) for name in COVERED) and not any(has_twin(twin) for twin in daily):
                faults.append(f"{t.name} has the label {label}, and no test without it shows the same {how}")
            if t.fixture and any(t.fixture & other.needs for other in daily):
                faults.append(f"{t.name} has the label {label} and is a fixture of a test without it")
        if "contained" in t.labels and not any("larger" in other.labels and other.is_larger_than(t) for other in tests):
            faults.append(f"{t.name} has the label contained, and no test with the label larger shows the same in more cases")
    return faults


def read(build):
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/dev/test-list")
    listed = json.loads(subprocess.run([tool, build], check=True, stdout=subprocess.PIPE).stdout)
    for t in listed["tests"]:
        p = {x["name"]: x["value"] for x in t.get("properties", [])}
        yield Test(t["name"], t.get("command", []), p.get("LABELS", []), p.get("ENVIRONMENT", []), set(p.get("FIXTURES_SETUP", [])),
                   p.get("FIXTURES_REQUIRED", []))


def planted():
    """Names of the planted tests that are found fault with: all but the first four."""
    m = ["matrix"]
    cpu = [Test("cpu", ["/bin/t", "kv", "all", "cpu"], [], [], set()), Test("forms", ["f", "cpu", "--groups", "int,root"], [], [], set()),
           Test("lavapipe", ["/bin/v"], [], ["VK_ICD_FILENAMES=l"], set()), Test("night", ["/bin/n", "cpu"], ["slow"], [], set()),
           Test("less", ["/bin/l", "vulkan:0", "--few"], [], [], set()), Test("fails", ["/expect.py", "1", "wrong", "/bin/e", "cpu"], [], [], set(), ["made"])]
    more = [Test("further", ["/bin/t", "kv", "few", "vulkan:0"], m, [], set()), Test("root", ["f", "opencl:0", "--groups", "root"], m, [], set()),
            Test("more", ["/bin/l", "vulkan:0"], m, [], set()), Test("driver", ["/bin/v"], m, ["VK_ICD_FILENAMES=s"], set()),
            Test("mode", ["/bin/t", "rope", "few", "vulkan:0"], m, [], set()), Test("group", ["f", "opencl:0", "--groups", "f64"], m, [], set()),
            Test("same", ["/bin/v"], m, ["VK_ICD_FILENAMES=l"], set()), Test("by night", ["/bin/n", "vulkan:0"], m, [], set()),
            Test("alone", ["/bin/a", "vulkan:0"], m, [], set()), Test("expects", ["/bin/e", "vulkan:0"], m, [], set()),
            Test("setup", ["/bin/t", "kv", "vulkan:0"], m, [], {"made"}), Test("cases", ["/bin/t", "kv", "900", "cpu"], ["larger"], [], set()),
            Test("kinds", ["/bin/t", "rope", "900", "cpu"], ["larger"], [], set()), Test("inside", ["/bin/t", "kv", "9", "cpu"], ["contained"], [], set()),
            Test("outside", ["/bin/t", "norm", "9", "cpu"], ["contained"], [], set())]
    return [fault.split(" has the label")[0] for fault in faults_of(cpu + more)]


def main(build):
    tests = list(read(build))
    faults = faults_of(tests)
    assert planted() == ["mode", "group", "same", "by night", "alone", "expects", "setup", "kinds", "outside"], planted()
    n = sum("matrix" in t.labels for t in tests)
    if n == 0:
        faults.append("no test has the label matrix")
    larger = sum("larger" in t.labels for t in tests)
    print("\n".join(faults) or f"{n} tests of the label matrix and {larger} of larger, each with a twin without it")
    return 1 if faults else 0


sys.exit(main(sys.argv[1]))
