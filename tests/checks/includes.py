"""The rules of the layout: a module of the core includes only modules left of it, plugins and op libraries see only the
SDK, the core knows no device API, files stay within 600 lines. Shown to fail by planted lines at the end of every run."""
import pathlib
import re
import sys

ORDER = "base diag conf repo program wgsl legal gas cas ipc plugin policy graph exec proof suite certify audit receipt chain vm".split()
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
DEVICE = re.compile(r"^(vulkan|CL)/")


def core_fault(module, included):
    head = included.split("/")[0]
    if DEVICE.match(included):
        return "the core includes a device API"
    if head in ORDER and ORDER.index(head) > ORDER.index(module):
        return f"{module} includes {head}, which is right of it"
    return None


def plugin_fault(included):
    head = included.split("/")[0]
    if head in ORDER:
        return "a plugin includes the core"
    return None


def main(root):
    faults, seen = [], 0
    for path in sorted(root.glob("core/*/**/*.[ch]")):
        module = path.relative_to(root / "core").parts[0]
        if module == "include":
            continue
        for included in INCLUDE.findall(path.read_text()):
            seen += 1
            fault = core_fault(module, included)
            if fault:
                faults.append(f"{path}: {fault}")
    for folder in ("plugins", "ops"):
        for path in sorted((root / folder).glob("**/*.[ch]")):
            for included in INCLUDE.findall(path.read_text()):
                seen += 1
                fault = plugin_fault(included)
                if fault:
                    faults.append(f"{path}: {fault} ({included})")
    for folder in ("core", "plugins", "ops", "tools", "tests"):
        for path in sorted((root / folder).glob("**/*.[ch]")):
            lines = len(path.read_text().splitlines())
            if lines > 600:
                faults.append(f"{path}: {lines} lines")
    assert core_fault("base", "graph/graph.h") and core_fault("exec", "vulkan/vulkan.h")
    assert plugin_fault("base/str.h") and not core_fault("graph", "base/str.h")
    print("\n".join(faults) or f"{seen} includes are in order")
    return 1 if faults or seen == 0 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
