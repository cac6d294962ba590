"""The rules of the layout: core is tiers of modules, and a module includes only modules of lower tiers and earlier ones of its
own; plugins and op libraries see only the SDK and their own folder, the parts of a plugin keep an order in which the device
comes last, the core knows no device API, files stay within 600 lines. Every quoted include must be a file that is there
(generated ones are listed), so that a path that is merely spelled right proves nothing. Shown to fail by planted lines at the
end of every run."""
import pathlib
import re
import sys

# Lowest first. A module is a folder; what lies below it is its own affair.
TIERS = {
    "foundation": "base diag conf record git svg dtype tensorfile",
    "compiler": "ir eval analysis wgsl legalize",
    "runtime": "gas cas ipc plugin config policy device graph exec",
    "vm": ".",
    "evidence": "proof suite certify audit receipt",
    "host": ".",
    "chain": "tree state messages ledger accounts jobs graph history executor . registry data transition contracts epoch blocks provenance sync replay home node engine order",
    "model": "tokenizer template file synth pipeline machine convert serve generate",
    "api": ".",
}
ORDER = [tier if name == "." else f"{tier}/{name}" for tier, names in TIERS.items() for name in names.split()]
# Parts of a plugin that has folders, lowest first: whoever turns programs into code knows no device.
PARTS = {
    "cpu": "kernels code lanes runtime",
    "mock": "faults runtime",
    "opencl": "clc spmd runtime",
    "vulkan": "spirv runtime",
}
GENERATED = {"legal_softfloat.h", "legal_softfloat.def", "policy_default.h", "suite_programs.h", "suite_programs.def", "vm_kernels.h", "machine_kernels.h", "chain_shaders.h", "chain_schedule.h", "kernels.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)
DEVICE = re.compile(r"^(vulkan|CL)/")


def module(path):
    """The module a path below core/ belongs to, None when it is in none."""
    parts = path.split("/")
    for depth in (2, 1):
        if len(parts) > depth and "/".join(parts[:depth]) in ORDER:
            return "/".join(parts[:depth])
    return None


def core_fault(path, quote, included, exists):
    if DEVICE.match(included):
        return "the core includes a device API"
    if quote == "<" or included.startswith("pipectl/") or included in GENERATED:
        return None
    if not exists(included):
        return f"{included} is no file of core"
    here, there = module(path), module(included)
    if here is None or there is None:
        return f"{path if here is None else included} lies in no module"
    if ORDER.index(there) > ORDER.index(here):
        return f"{here} includes {there}, which is above it"
    return None


def plugin_fault(path, quote, included, exists):
    """Of a file below plugins/ or ops/; its first folder is the plugin's id."""
    if quote == "<" or included.startswith("pipectl/"):
        return None
    owner, *below = path.split("/")
    parts = PARTS.get(owner, "").split()
    if not exists(included):
        return "a plugin includes the core" if included.split("/")[0] in TIERS else f"{included} is no file of {owner}"
    if parts and (len(below) < 2 or below[0] not in parts or included.split("/")[0] not in parts):
        return f"{path} or {included} lies in no part of {owner}"
    if parts and parts.index(included.split("/")[0]) > parts.index(below[0]):
        return f"{below[0]} of {owner} includes {included}, which is above it"
    return None


def main(root):
    faults, seen = [], 0
    core = root / "core"
    for name in ORDER:
        if not any((core / name).glob("*.c")):
            faults.append(f"core/{name} has no source")
    for path in sorted(core.glob("**/*.[ch]")):
        below = str(path.relative_to(core))
        if below.startswith("include/"):
            continue
        for quote, included in INCLUDE.findall(path.read_text()):
            seen += 1
            fault = core_fault(below, quote, included, lambda name: (core / name).is_file())
            if fault:
                faults.append(f"{path}: {fault}")
    for folder in ("plugins", "ops"):
        for path in sorted(p for suffix in ("c", "h", "inc") for p in (root / folder).glob(f"**/*.{suffix}")):
            below = str(path.relative_to(root / folder))
            # Op libraries share ops/common; plugins share nothing.
            own = [root / folder / below.split("/")[0]] + ([root / folder, path.parent] if folder == "ops" else [])
            for quote, included in INCLUDE.findall(path.read_text()):
                seen += 1
                fault = plugin_fault(below, quote, included, lambda name: name in GENERATED or any((o / name).is_file() for o in own))
                if fault:
                    faults.append(f"{path}: {fault} ({included})")
    for folder in ("core", "plugins", "ops", "tools", "tests"):
        for path in sorted((root / folder).glob("**/*.[ch]")):
            lines = len(path.read_text().splitlines())
            if lines > 600:
                faults.append(f"{path}: {lines} lines")
    there = lambda name: name != "runtime/exec/gone.h"
    assert core_fault("foundation/base/x.c", '"', "runtime/graph/graph.h", there)
    assert core_fault("runtime/exec/x.c", "<", "vulkan/vulkan.h", there)
    assert core_fault("runtime/exec/x.c", '"', "runtime/exec/gone.h", there)
    assert core_fault("stray/x.c", '"', "foundation/base/str.h", there)
    assert core_fault("chain/chain.c", '"', "chain/blocks/block.h", there)
    assert not core_fault("chain/blocks/x.c", '"', "chain/chain.h", there)
    assert not core_fault("runtime/graph/x.c", '"', "foundation/base/str.h", there)
    there = lambda name: name in ("spirv/spirv.h", "runtime/vk.h", "null.h")
    assert plugin_fault("vulkan/runtime/x.c", '"', "foundation/base/str.h", there)
    assert plugin_fault("vulkan/runtime/x.c", '"', "vk.h", there)
    assert plugin_fault("vulkan/spirv/x.c", '"', "runtime/vk.h", there)
    assert plugin_fault("vulkan/x.c", '"', "spirv/spirv.h", there)
    assert not plugin_fault("vulkan/runtime/x.c", '"', "spirv/spirv.h", there)
    assert not plugin_fault("null/x.c", '"', "null.h", there)
    print("\n".join(faults) or f"{seen} includes are in order")
    return 1 if faults or seen == 0 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
