"""Drivers that are swapped: the ICD file that a variable names, the library behind it, layers, and the settings that a user
may give a driver. Each is part of what a certificate is about, or does not reach the driver at all.
usage: drivers.py"""
import json
import os
import shutil
import subprocess

from harness import Harness

h = Harness()
BUILD = os.path.dirname(os.path.dirname(h.pipectl))
OP = "int.reverse@1"
for folder in ("driver", "icd", "layers"):
    os.makedirs(h.path(folder))
LVP = next(p for p in ("/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so", "/usr/lib/aarch64-linux-gnu/libvulkan_lvp.so") if os.path.exists(p))
DRIVER, ICD = h.path("driver/libvulkan_lvp.so"), h.path("icd/own_icd.json")
shutil.copy2(LVP, DRIVER)
HOST = h.write("host.cfg", b'workers : { readable = ( "%s", "%s" ); };\n' % (h.path("driver").encode(), h.path("layers").encode()))
ASKS = h.write("asks.cfg", b'policy : { inherits = "default.cfg"; certificate = ( { ops = "int.*"; level = "L1"; } ); };\n')
h.write("x", bytes(range(64)))
RIGHT = bytes(int(f"{b:08b}"[::-1], 2) for i in range(16) for b in reversed(range(4 * i, 4 * i + 4)))


def icd(library, path=ICD, more=""):
    h.write(os.path.relpath(path, h.dir), json.dumps({"ICD": {"api_version": "1.1.230", "library_path": library},
                                                      "file_format_version": "1.0.0"}).encode() + more.encode())
    return path


def tool(*args, **variables):
    """With these variables in the environment, and no others of drivers."""
    h.env.update(variables)
    try:
        return h.run("--config", HOST, *args)
    finally:
        for name in variables:
            del h.env[name]


def reverse(device, variables, policy=ASKS):
    if os.path.exists(h.path("y")):
        os.unlink(h.path("y"))
    return tool("op", "run", OP, "--in", f"x={h.path('x')}:u32[16]", "--out", f"y={h.path('y')}", "--backend", device,
                "--policy", policy, **variables)


def held(name, device="vulkan:llvmpipe", **variables):
    status, _, err = reverse(device, variables)
    h.check(f"{name}: the level is held", status == 0 and "PC5225" not in err, f"{status} {err}")
    h.check(f"{name}: and right", os.path.exists(h.path("y")) and h.read("y") == RIGHT)


def lost(name, fault, word, device="vulkan:llvmpipe", **variables):
    status, _, err = reverse(device, variables)
    if h.check(f"{name}: no level", status != 0 and "PC4316" in err and word in err, f"{status} {err}"):
        h.planted(fault, "a certificate of L1", "PC4316 certificate: level gone", err)
    h.check(f"{name}: no bytes", not os.path.exists(h.path("y")))


def prove(device, **variables):
    status, out, err = tool("certify", "--backend", device, "--level", "L1", "--ops", OP, "--json", **variables)
    h.check(f"a proof of {device}", status == 0, err)
    return json.loads(out) if status == 0 else {}


# ---- a driver of one's own, by the variable that names it: no mistake, and another device than the system's
icd(DRIVER)
prove("vulkan:llvmpipe", VK_DRIVER_FILES=ICD)
held("the driver that was proved", VK_DRIVER_FILES=ICD)
held("by the variable's older name", VK_ICD_FILENAMES=ICD)
held("from a folder of such files", VK_DRIVER_FILES=h.path("icd"))
lost("the system's driver", "the variable is gone, and the system's driver comes in", "made with another driver library")

# ---- the file that the variable names, and the library behind it
icd(DRIVER, more="\n")
lost("another driver file", "the ICD file is replaced between proof and run", "made with another driver library", VK_DRIVER_FILES=ICD)
icd(LVP)
lost("a driver file with another library", "the ICD file names another library after the proof", "made with another driver library",
     VK_DRIVER_FILES=ICD)
os.unlink(ICD)
os.symlink(icd(LVP, h.path("icd.json")), ICD)
lost("a link to another driver file", "the ICD file is a link, swapped after the proof", "made with another driver library",
     VK_DRIVER_FILES=ICD)
os.unlink(ICD)
icd(DRIVER)
held("put back", VK_DRIVER_FILES=ICD)
stat = os.stat(DRIVER)
subprocess.run(["objcopy", "--add-section", f".other={h.path('x')}", DRIVER, DRIVER + ".other"], check=True)
os.rename(DRIVER, DRIVER + ".kept")
shutil.copy2(DRIVER + ".other", DRIVER)
os.utime(DRIVER, ns=(stat.st_atime_ns, stat.st_mtime_ns))
lost("another library behind the same file", "the library behind an unchanged ICD file is replaced, its date put back",
     "made with another driver library", VK_DRIVER_FILES=ICD)
os.rename(DRIVER + ".kept", DRIVER)
held("the library put back", VK_DRIVER_FILES=ICD)
# Two files of one driver: the first is another device by its file.
held("a folder of theirs besides", VK_DRIVER_FILES=f"{ICD}:{h.path('layers')}")

# ---- layers and further drivers: what is not meant for everybody reaches nobody
layer = {"file_format_version": "1.0.0", "layer": {
    "name": "VK_LAYER_TEST_stranger", "type": "GLOBAL", "library_path": h.path("layers/layer.so"), "api_version": "1.1.230",
    "implementation_version": "1", "description": "a stranger", "disable_environment": {"TEST_STRANGER_OFF": "1"}}}
shutil.copy2(os.path.join(BUILD, "fakes/preload.so"), h.path("layers/layer.so"))
h.write("layers/stranger.json", json.dumps(layer).encode())
for home in (h.path("user/.local/share"), h.path("data"), h.path("home/cache/drivers/vulkan-own/home/.local/share")):
    os.makedirs(os.path.join(home, "vulkan/implicit_layer.d"))
    shutil.copy2(h.path("layers/stranger.json"), os.path.join(home, "vulkan/implicit_layer.d"))
held("an implicit layer in the worker's own home", VK_DRIVER_FILES=ICD)
held("in the user's", VK_DRIVER_FILES=ICD, HOME=h.path("user"), XDG_DATA_HOME=h.path("data"), XDG_DATA_DIRS=h.path("data"),
     XDG_CONFIG_HOME=h.path("data"), XDG_CONFIG_DIRS=h.path("data"))
held("layers by variables", VK_DRIVER_FILES=ICD, VK_LAYER_PATH=h.path("layers"), VK_ADD_LAYER_PATH=h.path("layers"),
     VK_INSTANCE_LAYERS="VK_LAYER_TEST_stranger", VK_LOADER_LAYERS_ENABLE="*", VK_LOADER_LAYERS_ALLOW="*")
held("further drivers by variables", VK_DRIVER_FILES=ICD, VK_ADD_DRIVER_FILES="/usr/lib/chromium/vk_swiftshader_icd.json",
     VK_LOADER_DRIVERS_DISABLE="*own*")
held("libraries by variables", VK_DRIVER_FILES=ICD, LD_LIBRARY_PATH=h.path("layers"), GALLIUM_DRIVER="softpipe",
     LIBGL_DRIVERS_PATH=h.path("layers"), GALLIVM_DEBUG="ir", LP_NUM_THREADS="1")

# ---- OpenCL: what a manifest sets for a driver may be set by its user, and then it is another device
PORTABLE = "opencl:portable"
prove(PORTABLE)
held("PoCL as its manifest sets it", PORTABLE)
lost("PoCL as the user sets it", "a setting that PoCL's device names is another one than at the proof", "level none", PORTABLE,
     POCL_WORK_GROUP_METHOD="loopvec")
held("the same value as the manifest's", PORTABLE, POCL_WORK_GROUP_METHOD="loops")
held("what PoCL listens to besides", PORTABLE, POCL_DEVICES="basic", POCL_EXTRA_BUILD_FLAGS="-cl-fast-relaxed-math", POCL_MAX_PTHREAD_COUNT="1",
     POCL_VECTORIZER_REMARKS="1", OPENCL_LAYERS=h.path("layers/layer.so"))
os.makedirs(h.path("vendors"))
shutil.copy2("/etc/OpenCL/vendors/pocl.icd", h.path("vendors"))
held("a folder with the same driver file", PORTABLE, OCL_ICD_VENDORS=h.path("vendors"))
held("what other loaders listen to", PORTABLE, OCL_ICD_FILENAMES=h.path("layers/layer.so"), OPENCL_VENDOR_PATH=h.path("vendors"))
h.write("vendors/pocl.icd", os.path.realpath(h.read("vendors/pocl.icd").decode().strip()).encode()
        if h.read("vendors/pocl.icd").startswith(b"/") else b"/usr/lib/x86_64-linux-gnu/libpocl.so.2\n")
lost("another vendor's file", "the vendor's file is replaced between proof and run", "made with another driver library", PORTABLE,
     OCL_ICD_VENDORS=h.path("vendors"))
# Mesa's device does not name its setting: the host does.
prove("opencl:rusticl")
held("rusticl as its manifest sets it", "opencl:rusticl")
held("the same value as the manifest's", "opencl:rusticl", RUSTICL_ENABLE="llvmpipe", RUSTICL_FEATURES="fp16,fp64")
lost("rusticl as the user sets it", "a setting of the driver is another one than at the proof", "or other settings", "opencl:rusticl",
     RUSTICL_ENABLE="llvmpipe,zink")
h.finish()
