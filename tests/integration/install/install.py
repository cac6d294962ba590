"""An installation works from a prefix of its own, moved or not, and is enough to build plugins with: once by cc and
pkg-config, once through find_package. Nothing of the source tree is used but what was installed."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys

from harness import Harness

CMAKE, SOURCE, BUILD, CC, LIBDIR = sys.argv[1:6]

FILES = """bin/pipectl libexec/pipectl/pipectl-worker LIB/libpctl_sdk.a LIB/pkgconfig/pipectl.pc LIB/pkgconfig/pipectl-sdk.pc
LIB/libpipectl.so LIB/libpipectl.so.0 include/pipectl/pipectl.h include/pipectl/chain.h include/pipectl/resident.h include/pipectl/vm.h include/pipectl/llm.h include/pipectl/model.h
LIB/cmake/pipectl/pipectl-config.cmake LIB/cmake/pipectl/pipectl-config-version.cmake
LIB/pipectl/plugins/cpu.so LIB/pipectl/plugins.d/cpu.plugin.cfg LIB/pipectl/ops/rank.so
include/pipectl/backend.h include/pipectl/oplib.h include/pipectl/codes.def include/pipectl/codes/plugin.def
share/pipectl/conf/pipectl.cfg share/pipectl/conf/policy/default.cfg share/pipectl/sdk/new-backend
share/man/man1/pipectl.1 share/man/man1/pipectl-run.1 share/man/man5/pipectl-pipeline.5 share/man/man5/pipectl-plugin.5 share/man/man5/pipectl-policy.5 share/man/man5/pipectl-vm.5
share/bash-completion/completions/pipectl share/zsh/site-functions/_pipectl
share/fish/vendor_completions.d/pipectl.fish""".replace("LIB", LIBDIR).split()

OPS = r"""
#include <string.h>
#include "kernels.h"
#include "pipectl/oplib.h"
static const void *interface(pctl_instance *inst, const char *name) { (void)inst; (void)name; return 0; }
static pctl_status open_(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	(void)host;
	*out = 0;
	return strstr(KERNEL_TWICE, "twice") ? pctl_refuse(call, PC2_NOMEM, "no ops here") : PCTL_OK;
}
static void close_(pctl_instance *inst) { (void)inst; }
PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {
	PCTL_HEAD(pctl_plugin), "hollow", "1", PCTL_BUILD_FLAGS, 0, open_, close_, interface};
"""


def command(h, name, *args, env=None, cwd=None):
    done = subprocess.run(args, env=env or h.env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    h.check(name, done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:])
    return done.stdout.decode("utf-8", "replace")


def works(h, prefix):
    """pipectl from the prefix, with a home that is not there yet."""
    h.pipectl = os.path.join(prefix, "bin/pipectl")
    h.env["PIPECTL_HOME"] = h.path("home-" + os.path.basename(prefix))
    status, out, err = h.run("doctor")
    h.check("doctor", status == 0, err)
    paths = re.findall(r"/\S*", out.decode())
    h.check("doctor reads its configuration in the prefix",
            "share/pipectl/conf/pipectl.cfg (read)" in out.decode(), out.decode())
    h.check("doctor sees nothing of the build", not [p for p in paths if p.startswith(BUILD + "/")], str(paths))
    status, out, err = h.run("--json", "plugin", "list")
    plugins = {p["id"]: p for p in json.loads(out)["plugins"]}
    for name in ("cpu", "null", "mock", "vulkan", "opencl", "int", "tensor", "rank", "transformer"):
        h.check(f"plugin {name}", plugins.get(name, {}).get("state") == "usable", str(plugins.get(name)))
    examples = os.path.join(prefix, "share/pipectl/pipelines")
    pipelines = sorted(f for f in os.listdir(examples) if f.endswith(".pipe.cfg"))
    h.check("examples are installed", len(pipelines) > 2, str(pipelines))
    for pipeline in pipelines:
        status, out, err = h.run("check", os.path.join(examples, pipeline))
        h.check("check " + pipeline, status == 0, err)
    values = [3, 1 << 63, 5, 1 << 63, 7]
    data = h.write("values.bin", struct.pack("<5Q", *values))
    status, out, err = h.run("run", os.path.join(examples, "scan.pipe.cfg"), "--backend", "cpu", "--in", "values=" + data,
                             "--out", "sums=" + h.path("sums.bin"))
    if h.check("run on cpu", status == 0, err):
        sums = [sum(values[:i]) % (1 << 64) for i in range(5)]
        h.check_bytes("its sums", h.read("sums.bin"), struct.pack("<5Q", *sums), 8)


def usable(h, name, manifests):
    """The plugin is found, runs in a worker, and has the limits of the skeleton."""
    status, out, err = h.run("--json", "--plugin-dir", manifests, "plugin", "list")
    found = {p["id"]: p for p in json.loads(out)["plugins"]} if status == 0 else {}
    h.check(f"{name} is usable", found.get(name, {}).get("state") == "usable", err + str(found.get(name)))
    status, out, err = h.run("--plugin-dir", manifests, "device", "list")
    h.check(f"{name} has its device", status == 0 and f"{name}:0" in out.decode(), out.decode() + err)
    data = h.write("one.bin", struct.pack("<Q", 1))
    status, out, err = h.run("--plugin-dir", manifests, "run", scan(h), "--backend", name, "--in", "values=" + data)
    h.check(f"{name} is asked, and can run no program", status == 5 and f"{name}:0 " in err, f"{status} {err}")


def scan(h):
    return os.path.join(os.path.dirname(h.pipectl), "../share/pipectl/pipelines/scan.pipe.cfg")


def stranger(h, prefix):
    new_backend = os.path.join(prefix, "share/pipectl/sdk/new-backend")
    by_cc, by_cmake = h.path("by-cc"), h.path("by-cmake")
    command(h, "skeleton for cc", new_backend, "by-cc", by_cc)
    command(h, "skeleton for cmake", new_backend, "by-cmake", by_cmake)
    h.check("an existing directory is left alone",
            subprocess.run([new_backend, "by-cc", by_cc], stderr=subprocess.DEVNULL).returncode != 0)

    env = dict(h.env, PKG_CONFIG_PATH=os.path.join(prefix, LIBDIR, "pkgconfig"))
    flags = command(h, "pkg-config", "pkg-config", "--cflags", "--libs", "pipectl-sdk", env=env).split()
    h.check("pkg-config names nothing outside the prefix",
            all(os.path.realpath(f[2:]).startswith(prefix + "/") for f in flags if f[:2] in ("-I", "-L")), str(flags))
    os.makedirs(h.path("cc/plugins"))
    os.makedirs(h.path("cc/plugins.d"))
    sources = sorted(os.path.join(by_cc, f) for f in os.listdir(by_cc) if f.endswith(".c"))
    command(h, "cc", CC, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden",
            "-ffp-contract=off", "-o", h.path("cc/plugins/by-cc.so"), *sources, *flags, "-Wl,--exclude-libs,ALL")
    shutil.copy(os.path.join(by_cc, "by-cc.plugin.cfg"), h.path("cc/plugins.d"))
    usable(h, "by-cc", h.path("cc/plugins.d"))

    with open(os.path.join(by_cmake, "CMakeLists.txt"), "a") as f:
        f.write("pipectl_add_oplib(hollow SOURCES ops/ops.c KERNELS ops/twice.wgsl)\n")
    os.makedirs(os.path.join(by_cmake, "ops"))
    for name, text in (("ops/ops.c", OPS), ("ops/twice.wgsl", "fn twice(x: u32) -> u32 {\n\treturn x + x;\n}\n"),
                       ("hollow.plugin.cfg", 'plugin : { id = "hollow"; kind = "oplib"; library = "../ops/hollow.so"; '
                        'abi : { min = "1.0"; }; interfaces = [ "pctl.oplib/1" ]; ops = [ "hollow.twice@1" ]; };\n')):
        with open(os.path.join(by_cmake, name), "w") as f:
            f.write(text)
    build, home = h.path("cmake-build"), h.path("stranger")
    command(h, "find_package", CMAKE, "-G", "Ninja", "-S", by_cmake, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_C_COMPILER={CC}", f"-DCMAKE_INSTALL_PREFIX={home}")
    command(h, "cmake --build", CMAKE, "--build", build)
    usable(h, "by-cmake", os.path.join(build, "plugins.d"))
    status, out, err = h.run("--plugin-dir", os.path.join(build, "plugins.d"), "plugin", "list")
    h.check("an op library that refuses to open says so", re.search(r"hollow +oplib +refused", out.decode()), out.decode())
    command(h, "the stranger's install", CMAKE, "--install", build)
    usable(h, "by-cmake", os.path.join(home, LIBDIR, "pipectl/plugins.d"))
    h.check("one symbol is exported", exported(os.path.join(build, "plugins/by-cmake.so")) == ["pctl_plugin_v1"],
            str(exported(os.path.join(build, "plugins/by-cmake.so"))))


def stranger_op(h, prefix):
    """An op library from the skeleton runs on a device and agrees with its own reference."""
    source, build = h.path("addition"), h.path("addition-build")
    command(h, "skeleton of an op", os.path.join(prefix, "share/pipectl/sdk/new-op"), "addition", "shift", source)
    command(h, "find_package for an op", CMAKE, "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_C_COMPILER={CC}", "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
    command(h, "cmake --build of an op", CMAKE, "--build", build)
    values = [i * 0x01234567 & 0xFFFFFFFF for i in range(1001)]
    pipeline = h.write("shift.pipe.cfg", b'pipeline : { name = "s"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };\n'
                       b'  jobs = ( { id = "s"; op = "addition.shift@1"; in : { x = "$x"; }; attr : { amount = 41; }; } );\n'
                       b'  outputs : { y = "s.y"; }; };\n')
    data = h.write("x.bin", struct.pack("<1001I", *values))
    status, _, err = h.run("--plugin-dir", os.path.join(build, "plugins.d"), "run", pipeline, "--backend", "cpu", "--verify",
                           "all", "--in", "x=" + data, "--out", "y=" + h.path("y.bin"))
    if h.check("a stranger's op runs", status == 0, err):
        h.check_bytes("its bytes", h.read("y.bin"), struct.pack("<1001I", *((v + 41) & 0xFFFFFFFF for v in values)), 4)


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", library], stdout=subprocess.PIPE).stdout.decode()
    return [line.split()[0] for line in out.splitlines()]


def lint(path):
    """What groff would complain of first, for machines without it: an unknown request, a page without head."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    known = {"TH", "SH", "SS", "TP", "PP", "B", "I", "BR", "IR", "RB", "BI", "IB", "RI", "nf", "fi", "br", "RS", "RE", '\\"'}
    bad = [line for line in lines if line.startswith((".", "'")) and line[1:].split(" ")[0] not in known]
    sections = [line for line in lines if line.startswith(".SH")]
    if not any(line.startswith(".TH ") for line in lines[:2]) or not sections or sections[0] != ".SH NAME":
        bad.append("no .TH, or the first section is not NAME")
    return bad


def pages(h, prefix):
    man = os.path.join(prefix, "share/man")
    found = sorted(os.path.join(d, f) for d, _, files in os.walk(man) for f in files)
    _, out, _ = h.run("man")
    verbs = set(re.findall(r"^\.B pipectl (\w+)", out.decode(), re.M))
    have = {os.path.basename(p) for p in found}
    h.check("every verb has a page", verbs and all(f"pipectl-{v}.1" in have for v in verbs), str(verbs))
    groff = shutil.which("groff")
    for page in found:
        bad = lint(page)
        h.check("lint of " + os.path.basename(page), not bad, str(bad[:3]))
        if groff:
            done = subprocess.run([groff, "-wall", "-man", "-Tutf8", "-z", page], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            h.check("groff on " + os.path.basename(page), done.returncode == 0 and not done.stdout, done.stdout.decode()[:500])
    offered = h.run("completion", "at", "--", "", executable=os.path.join(prefix, "bin/pipectl"))[1].decode()
    for verb in verbs:
        h.check("completion knows " + verb, verb in re.findall(r"^[a-z-]+", offered, re.M), offered)
    command(h, "bash takes the completion", "bash", "-n", os.path.join(prefix, "share/bash-completion/completions/pipectl"))


def documented(h, prefix):
    """The hand-written pages name every key that is read and no other: of pipelines as the reader lists them, of
    manifests as its tables do, since only the first fault of a manifest is kept."""
    probe = h.write("keys.pipe.cfg", b'pipeline : { zzz = 1; inputs : { x : { zzz = 1; }; }; state : { s : { zzz = 1; }; };\n'
                    b'  jobs = ( { zzz = 1; repeat : { zzz = 1; }; } ); };\n')
    _, _, err = h.run("check", probe)
    keys = {k.strip() for line in re.findall(r"hint: available: (.*)", err) for k in line.split(",")}
    agree(h, os.path.join(prefix, "share/man/man5/pipectl-pipeline.5"), keys, ["id", "count", "carry"])
    with open(os.path.join(SOURCE, "core/runtime/plugin/manifest.c")) as f:
        keys = set(re.findall(r'^\t\{\.key = "(\w+)"', f.read(), re.M)) - {"plugin"}
    agree(h, os.path.join(prefix, "share/man/man5/pipectl-plugin.5"), keys, ["min", "max", "driver", "set"])
    with open(os.path.join(SOURCE, "core/runtime/policy/keys.c")) as f:
        groups = dict(re.findall(r'conf_field (\w+)_fields\[\] = \{(.*?)^\};', f.read(), re.M | re.S))
    keys = {k for name, text in groups.items() if name != "cert" for k in re.findall(r'\.key = "(\w+)"', text)}
    with open(os.path.join(prefix, "share/man/man5/pipectl-policy.5")) as f:
        page = f.read()
    missing = {k for k in keys if not re.search(rf"^\.BR? .*\b{k}\b", page, re.M)}
    h.check("pipectl-policy.5 names every key", len(keys) > 20 and not missing - {"backends", "plugins", "limits"}, str(missing))
    with open(os.path.join(prefix, "share/man/man5/pipectl-pipeline.5")) as f:
        example = re.search(r"^\.SH EXAMPLE\n\.nf\n(.*?)^\.fi", f.read(), re.M | re.S).group(1)
    status, _, err = h.run("check", h.write("example.pipe.cfg", example.encode()))
    h.check("the example of pipectl-pipeline(5) is a pipeline", status == 0, err)


def agree(h, page, keys, inner):
    """inner: keys that the page explains within the text of another."""
    with open(page) as f:
        text = f.read()
    named = set(re.findall(r"^\.TP\n\.B ([a-z0-9_]+)$", text, re.M))
    named |= {k for k in inner if re.search(rf"^\.BR {k} ,$", text, re.M)}
    h.check(os.path.basename(page) + " names the keys that are read", keys and named == keys,
            f"only in the page: {sorted(named - keys)}; only in the reader: {sorted(keys - named)}")


def main():
    h = Harness()
    h.dir = os.path.realpath(h.dir)
    prefix = h.path("prefix")
    command(h, "cmake --install", CMAKE, "--install", BUILD, "--prefix", prefix)
    for name in FILES:
        h.check("installed: " + name, os.path.isfile(os.path.join(prefix, name)), name)
    works(h, prefix)
    moved = h.path("moved")
    os.rename(prefix, moved)
    works(h, moved)
    stranger(h, moved)
    stranger_op(h, moved)
    pages(h, moved)
    documented(h, moved)
    h.finish()


main()
