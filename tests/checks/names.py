"""The core and the tools know no plugin by its name: no string literal of theirs holds the id of a shipped backend, or is the name of
an op of a shipped op library. What a name would decide is decided by roles (core/runtime/plugin/registry.h), kinds of devices
and op libraries' own slots. Words that only look like an id stand below with the reason. Shown to fail by planted lines at the
end of every run."""
import pathlib
import re
import sys

# (file, literal) -> why that is no plugin.
ALLOWED = {
    ("core/runtime/policy/ask.c", "cpu"): "a kind of device",
    ("core/runtime/policy/keys.c", "cpu"): "a kind of device",
    ("core/runtime/policy/keys.c", "(discrete, integrated, cpu, "): "kinds of devices",
    ("core/evidence/audit/html.c", "cpu"): "a kind of device",
    ("tools/pipectl/verb_device_list.c", "cpu"): "a kind of device",
    ("core/runtime/plugin/manifest.c", "vulkan"): "the drivers of a loader",
    ("core/runtime/plugin/manifest.c", "opencl"): "the drivers of a loader",
    ("core/foundation/base/json.c", "null"): "a value of JSON",
    ("core/foundation/base/json_read.c", "null"): "a value of JSON",
}
# Where a pipeline is written, ops are its words.
WRITES_OPS = {
    "core/model/pipeline/ops.h": "models as pipelines",
}
# Paths of the system: /dev/null, /etc/vulkan.
PATH = re.compile(r"/[\w.]+(/[\w.*-]+)*")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"/\*.*?\*/|^\s*#\s*include.*?$", re.S | re.M)


def names(root, kind):
    """Ids of the shipped plugins of a kind, from their manifests."""
    found = []
    for path in sorted((root / "conf/plugins.d").glob("*.plugin.cfg")):
        text = path.read_text()
        if f'kind = "{kind}"' in text:
            found.append(re.search(r'\bid = "([^"]+)"', text)[1])
    return found


def literals(text):
    return LITERAL.findall(COMMENT.sub(lambda m: "\n" * m[0].count("\n"), text))


def fault(literal, backends, libraries):
    plain = PATH.sub("", literal)
    for name in backends:
        if re.search(rf"(?<![\w.-]){name}(?![\w.-])", plain):
            return f'names the backend "{name}"'
    for name in libraries: # prose may give one as an example
        if re.fullmatch(rf"{name}\.[\w.%]+(@\d+)?", plain):
            return f'names an op of "{name}"'
    return None


def main(root):
    backends, libraries = names(root, "backend"), names(root, "oplib")
    faults, seen, met = [], 0, set()
    for folder, held in (("core", libraries), ("tools/pipectl", []), ("tools/pipectl-worker", [])):
        for path in sorted((root / folder).glob("**/*.[ch]")):
            where = str(path.relative_to(root))
            for literal in literals(path.read_text()):
                seen += 1
                example = where == "tools/pipectl/verbs.c" and literal.startswith("pipectl ") # a command line that help shows
                found = None if example else fault(literal, backends, held)
                if (where, literal) in ALLOWED:
                    met.add((where, literal))
                elif found and where in WRITES_OPS:
                    met.add(where)
                elif found and not where.startswith("core/chain/epoch/"):
                    faults.append(f'{where}: "{literal}" {found}')
    faults += [f"{where}: \"{literal}\" is allowed and not there" for where, literal in ALLOWED if (where, literal) not in met]
    faults += [f"{where} writes no op" for where in WRITES_OPS if where not in met]
    if len(backends) < 2 or len(libraries) < 2:
        faults.append("no manifests to take the names from")
    planted = 'if (strcmp(e->backend, "mock") == 0) /* "cpu" */\n#include "null.h"\nx = "cpu:0"; y = "rank.step"; z = "/dev/null";'
    assert [fault(x, ["mock", "cpu", "null"], ["rank"]) is not None for x in literals(planted)] == [True, True, True, False]
    assert not fault("frank.step of a cpux", ["cpu"], ["rank"])
    print("\n".join(faults) or f"{seen} literals name no plugin")
    return 1 if faults or seen == 0 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
