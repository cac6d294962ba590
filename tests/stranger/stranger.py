"""A stranger's view: a lying backend built from the installed SDK, asked under policies that verify, under policies that
want a quorum, and under none. No lie yields wrong bytes with exit status 0 where a policy asks for a check.
usage: stranger.py CMAKE BUILD CC LIBDIR SOURCE"""
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys

from harness import Harness

CMAKE, BUILD, CC, LIBDIR, HERE = sys.argv[1:6]
h = Harness()
N = 256


def command(name, *args, env=None):
    done = subprocess.run(args, env=env or h.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.decode("utf-8", "replace")
    if not h.check(name, done.returncode == 0, text[-2000:]):
        h.finish()
    return text


# ---- the installation, and the stranger made from it
PREFIX = h.path("prefix")
command("install", CMAKE, "--install", BUILD, "--prefix", PREFIX)
h.pipectl = os.path.join(PREFIX, "bin/pipectl")
flags = command("pkg-config", "pkg-config", "--cflags", "--libs", "pipectl-sdk",
                env=dict(h.env, PKG_CONFIG_PATH=os.path.join(PREFIX, LIBDIR, "pkgconfig"))).split()
os.makedirs(h.path("stranger/plugins"))
os.makedirs(h.path("stranger/plugins.d"))
command("cc", CC, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-o",
        h.path("stranger/plugins/stranger.so"), os.path.join(HERE, "stranger.c"), *flags, "-Wl,--exclude-libs,ALL")
h.write("stranger/plugins.d/stranger.plugin.cfg", b"""plugin : { id = "stranger"; about = "lies"; kind = "backend";
  library = "../plugins/stranger.so"; abi : { min = "1.0"; }; interfaces = [ "pctl.backend/1" ]; isolation = "worker"; };
""")
with open(os.path.join(HERE, "lies.h"), encoding="utf-8") as f:
    LIES = re.findall(r'^LIE\((\w+), "([^"]+)"\)', f.read(), re.M)
STRANGER = ["--plugin-dir", h.path("stranger/plugins.d")]

# ---- the question: two jobs of the one program that the stranger knows
h.write("add.wgsl", b"""@group(0) @binding(0) var<storage, read> x : array<u32>;
@group(0) @binding(1) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[id.x] = x[id.x] * 3u + x[id.x ^ 1u] + 7u; }
""")
JOB = '{ id = "%s"; shader = "add.wgsl"; dispatch = ( %d ); in : { x = "%s"; }; out : { y = "u32[%d]"; }; }'
h.write("chain.pipe.cfg", ('pipeline : { name = "chain"; class = "integer"; inputs : { x : { type = "u32[n]"; }; }; jobs = ( %s, %s );'
                           ' outputs : { first = "one.y"; y = "two.y"; }; };\n'
                           % (JOB % ("one", N // 64, "$x", N), JOB % ("two", N // 64, "one.y", N))).encode())


def step(words):
    return [(words[i] * 3 + words[i ^ 1] + 7) & 0xffffffff for i in range(N)]


def question(seed):
    words = [(i * 2654435761 + seed) & 0xffffffff for i in range(N)]
    one = step(words)
    return h.write("x", struct.pack(f"<{N}I", *words)), [struct.pack(f"<{N}I", *one), struct.pack(f"<{N}I", *step(one))]


def policy(name, body):
    return ["--policy", h.write(f"{name}.cfg", f"policy : {{ {body} }};".encode())]


NONE = policy("none", 'memo = "off";')
VERIFY = policy("verify", 'verify = "all"; memo = "off";')
SAMPLE = policy("sample", 'verify = "sample=0.25"; memo = "off";')
QUORUM = policy("quorum", 'quorum = "2 of 3"; memo = "off";')
X, RIGHT = question(12345)


def run(devices, rules, x=X, more=()):
    """Exit status, outputs as they were written (None: not), standard output and error."""
    for name in ("first", "y"):
        if os.path.exists(h.path(name)):
            os.unlink(h.path(name))
    named = [w for d in devices for w in ("--backend", d)]
    status, out, err = h.run(*STRANGER, "--json", "run", h.path("chain.pipe.cfg"), "--in", f"x={x}", *named, *rules, "--out",
                             f"first={h.path('first')}", "--out", f"y={h.path('y')}", *more)
    got = [h.read(n) if os.path.exists(h.path(n)) else None for n in ("first", "y")]
    return status, got, json.loads(out) if out else {}, err


def never_wrong(name, devices, rules, wanted):
    """Right bytes with exit status 0, or no bytes and another one."""
    status, got, r, err = run(devices, rules)
    ok = got == RIGHT and r.get("evidence") in wanted if status == 0 else got == [None, None] and status in (4, 5, 6, 9) and err
    h.check(f"{name}: no wrong bytes with exit status 0", ok, f"{status} {r.get('evidence')} {err}")
    h.run(*STRANGER, "plugin", "release", "stranger")
    return status


# Each output is read once, so it does not matter what a second read would give, or what becomes of a buffer after it.
HARMLESS = {"SECOND_READ_DIFFERS", "CHANGES_AFTER_READ"}
h.check("twenty lies and more", len(LIES) - 1 - len(HARMLESS) >= 20, str(len(LIES)))
seen = {"verify": 0, "quorum": 0, "zones": 0, "bites": 0}
for number, (lie, about) in enumerate(LIES):
    device = f"stranger:{number}"
    status, got, r, err = run([device], NONE)
    # The zones' shapes are drawn anew for each run: which buffer was used last is chance, and for once may be the right one.
    # And an output that was read together with its zones can no longer be spoiled by the job behind.
    for _ in range(12):
        if lie in ("READS_ANOTHER_BUFFER", "WRITES_INTO_ITS_INPUT") and status == 0 and got == RIGHT:
            status, got, r, err = run([device], NONE)
    # In runs, too, buffers lie between zones that the host compares: what writes or reads wrongly is often refused for them.
    zones = status == 6 and "PC5224" in err and got == [None, None]
    seen["zones"] += zones
    if lie == "HONEST" or lie in HARMLESS:
        h.check(f"{about}: right without a check", zones or status == 0 and got == RIGHT, f"{status} {err}")
    else:
        seen["bites"] += status == 0 and got != RIGHT
        h.check(f"{about}: it bites when nobody checks, or zones tell", zones or status == 0 and got != RIGHT and None not in got, f"{status} {err}")
    h.check(f"{about}: not verified, and said so", zones or r.get("evidence") == "not verified", str(r.get("evidence")))
    h.run(*STRANGER, "plugin", "release", "stranger")
    status = never_wrong(f"verify, {about}", [device], VERIFY, ("verified",))
    seen["verify"] += status == 6
    status = never_wrong(f"quorum, {about}", [device, "cpu", "vulkan:llvmpipe"], QUORUM, ("quorum 2 of 3", "quorum 3 of 3"))
    seen["quorum"] += status == 0
    never_wrong(f"with an accomplice, {about}", [device, "stranger:19", "cpu"], QUORUM, ())
h.check("lies bite where nobody checks", seen["bites"] >= 8, str(seen))
h.check("zones tell of lies where nobody checks", seen["zones"] >= 4, str(seen))
h.check("verification refuses the lies", seen["verify"] >= len(LIES) - 1 - len(HARMLESS), str(seen))
h.check("a quorum does without the liar", seen["quorum"] >= 20, str(seen))
status, got, r, err = run(["stranger:0"], VERIFY)
h.check("an honest stranger is verified", status == 0 and got == RIGHT and r["evidence"] == "verified", f"{status} {err}")

# ---- a share of the jobs: which ones is drawn for each run, and none is told from the others by what is read of it
number = {lie: i for i, (lie, _) in enumerate(LIES)}
watchful, constant = f"stranger:{number['WRONG_UNLESS_LOOKED_AT']}", f"stranger:{number['WRONG_CONSTANT']}"
tries = [run([watchful], SAMPLE) for _ in range(8)]
h.check("who lies where nobody looks is looked at", all(got == RIGHT if s == 0 else s == 6 and got == [None, None] for s, got, _, _ in tries),
        str([(s, got == RIGHT) for s, got, _, _ in tries]))
tries = []
while len(tries) < 40 and not any(s == 6 for s, _, _, _ in tries):  # of two jobs none is drawn nine times in sixteen
    tries.append(run([constant], SAMPLE))
if h.check("who lies is caught by a share, sooner or later", any(s == 6 and "PC5208" in err for s, _, _, err in tries), str(len(tries))):
    h.planted("a share of the jobs is checked, of the same question again and again", constant, "PC5208 run --verify", tries[-1][3])
h.check("until then it is not verified", all(r.get("evidence") == "not verified" for s, _, r, _ in tries if s == 0))
h.run(*STRANGER, "plugin", "release", "stranger")

# ---- the memo: what a liar gave in the policy's order, unchecked, answers nobody
X2, RIGHT2 = question(777)
LIAR = policy("liar", 'memo = "any"; backends : { order = ( "stranger:19" ); };')
status, got, r, err = run([], LIAR, X2)
h.check("a liar in the policy's order", status == 0 and got != RIGHT2 and r["evidence"] == "not verified", f"{status} {err}")
status, got, r, err = run([], LIAR, X2)
h.check("is remembered where the policy takes anything", status == 0 and r["memoised"] and got != RIGHT2, f"{status} {err}")
status, got, r, err = run([], [], X2)
h.check("and answers nobody else", status == 0 and not r["memoised"] and got == RIGHT2 and "not verified" in r["memo_void"],
        f"{status} {r.get('memoised')} {err}")
run([], LIAR, X2, ["--no-memo"])

# What a device is asked to do: one that is wrong from its second dispatch on is right as long as the first job is remembered.
SECOND = [name for name, _ in LIES].index("WRONG_THE_SECOND_TIME")
COUNTS = policy("counts", f'memo = "any"; backends : {{ order = ( "stranger:{SECOND}" ); }};')
X4, RIGHT4 = question(779)
h.write("one.pipe.cfg", h.read("chain.pipe.cfg").replace(b"; y = \"two.y\"", b"").replace(b", " + (JOB % ("two", N // 64, "one.y", N)).encode(), b""))
status, _, err = h.run("run", h.path("one.pipe.cfg"), "--in", f"x={X4}", "--backend", "cpu")
h.check("the first job alone", status == 0, err)
status, got, r, err = run([], COUNTS, X4)
h.check("a remembered job is not dispatched", status == 0 and [j["remembered"] for j in r["jobs"]] == [True, False] and got == RIGHT4, f"{status} {r} {err}")
status, got, r, err = run([], COUNTS, X4, ["--no-memo"])
h.check("both are where nothing is remembered", status == 0 and got[0] == RIGHT4[0] and got[1] != RIGHT4[1], f"{status} {r} {err}")
h.write("stranger/plugins/stranger.so", h.read("stranger/plugins/stranger.so") + b"\0")
X3, RIGHT3 = question(778)
run([], LIAR, X3)
h.write("stranger/plugins/stranger.so", h.read("stranger/plugins/stranger.so") + b"\0")
status, got, r, err = run([], LIAR, X3)
h.check("another file voids what the first one gave", status == 0 and not r["memoised"] and "another file" in r.get("memo_void", ""),
        f"{status} {r.get('memo_void')} {err}")

# ---- names: a stranger that is called cpu, or says that it goes wrong on purpose
def manifest(directory, plugin, more=""):
    os.makedirs(h.path(directory), exist_ok=True)
    h.write(f"{directory}/{plugin}.plugin.cfg", ('plugin : { id = "%s"; kind = "backend"; library = "%s"; abi : { min = "1.0"; };\n'
                                                 'interfaces = [ "pctl.backend/1" ]; %s };\n'
                                                 % (plugin, h.path("stranger/plugins/%s.so" % plugin), more)).encode())
    return ["--plugin-dir", h.path(directory)]


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def ask(named, rules, *more, **how):
    for name in ("first", "y"):
        if os.path.exists(h.path(name)):
            os.unlink(h.path(name))
    status, out, err = h.run(*more, "--json", "run", h.path("chain.pipe.cfg"), "--in", f"x={X}", *[w for d in named for w in ("--backend", d)],
                             *rules, "--out", f"first={h.path('first')}", "--out", f"y={h.path('y')}", **how)
    return status, [h.read(n) if os.path.exists(h.path(n)) else None for n in ("first", "y")], json.loads(out) if out else {}, err


X, RIGHT = question(12345)
command("cc", CC, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off",
        "-DSTRANGER_ID=\"cpu\"", "-o", h.path("stranger/plugins/cpu.so"), os.path.join(HERE, "stranger.c"), *flags, "-Wl,--exclude-libs,ALL")
FALSE = manifest("false.d", "cpu", 'roles = [ "reference" ];')
# The device of the stranger that says it is the reference; of device 0 nobody claims anything.
REFERENCE = next(i for i, (lie, _) in enumerate(LIES) if lie == "SAYS_IT_IS_THE_REFERENCE")
# Beside the installation's own: neither is used.
for named, rules in ((["vulkan:llvmpipe"], VERIFY), ([f"cpu:{REFERENCE}"], VERIFY), (["cpu", "vulkan:llvmpipe", "stranger:0"], QUORUM)):
    status, got, _, err = ask(named, rules, *FALSE, *STRANGER)
    h.check(f"a false cpu earlier in the path, {named[0]}: refused", status == 4 and got == [None, None] and "PC3002" in err,
            f"{status} {err}")
h.planted("a false cpu beside the installation's own", "a stranger's plugin", "PC3002 plugin-duplicate", err)
# Under its own name, declaring the role: what is held against the reference is held against ours.
claims = manifest("claims.d", "stranger", 'roles = [ "reference" ];')
status, out, err = h.run("device", "list", "--json", *claims)
listed = {d["selector"]: d for d in json.loads(out)["devices"]}
believed = [s for s, d in listed.items() if "reference" in d["roles"] or d["kind"] == "reference"]
h.check("a role that a stranger declares is not believed", believed == ["cpu:0"] and f"stranger:{REFERENCE}" in listed, f"{believed} {err}")
status, got, r, err = ask([f"stranger:{REFERENCE}"], VERIFY, *claims)
h.check("and its device is verified by ours", got == [None, None] and "PC5208" in err or status == 0 and got == RIGHT and r["evidence"] == "verified",
        f"{status} {got} {err}")
listing = h.run("device", "list", *claims)[1].decode()
h.planted("a stranger's manifest declares the role reference", "a stranger's plugin", "device list, kind other",
          next((line for line in listing.splitlines() if line.startswith(f"stranger:{REFERENCE} ") and " other " in line), ""))
# In its place: the name makes no reference of it.
ours, kept = os.path.join(PREFIX, LIBDIR, "pipectl/plugins/cpu.so"), h.path("kept")
shutil.move(ours, kept)
shutil.copy(h.path("stranger/plugins/cpu.so"), ours)
for named in ("vulkan:llvmpipe", "stranger:19"):
    status, got, _, err = ask([named], VERIFY, *STRANGER)
    h.check(f"a false cpu in its place does not verify {named}", status == 4 and got == [None, None] and "PC3235" in err, f"{status} {err}")
h.planted("a false cpu in the installation's directory", "a stranger's plugin", "PC3235 reference", err)
for device in (0, REFERENCE):
    status, got, r, err = ask([f"cpu:{device}"], VERIFY)
    h.check(f"nor itself, device {device}", status == 4 and got == [None, None] and "PC3235" in err, f"{status} {err}")
    status, got, r, err = ask([f"cpu:{device}"], NONE)
    h.check(f"and what it gives is not verified, device {device}", status == 0 and r["evidence"] == "not verified", f"{status} {r} {err}")
status, got, _, err = ask(["cpu:19", "stranger:19"], policy("two", 'quorum = "2 of 2"; memo = "off";'), *STRANGER)
h.check("two strangers in league are no quorum", status == 6 and got == [None, None] and "PC5235" in err, f"{status} {err}")
h.planted("two strangers' plugins tell the same lie", "cpu:19 and stranger:19", "PC5235 no-quorum", err)
with open(kept, "rb") as f, open(ours, "wb") as to:
    to.write(f.read() + b"\0")
status, got, _, err = ask(["vulkan:llvmpipe"], VERIFY)
h.check("nor does the reference's file with a byte more", status == 4 and got == [None, None] and "PC3235" in err, f"{status} {err}")
pin = policy("pin", 'verify = "all"; memo = "off"; plugins : { sha256 : { cpu = "%s"; }; };' % sha256(ours))
status, got, r, err = ask(["vulkan:llvmpipe"], pin)
h.check("unless the policy pins that very file", status == 0 and got == RIGHT and r["evidence"] == "verified", f"{status} {err}")
os.unlink(ours)
shutil.move(kept, ours)
status, got, r, err = ask(["vulkan:llvmpipe"], VERIFY)
h.check("the file that came with pipectl verifies", status == 0 and got == RIGHT and r["evidence"] == "verified", f"{status} {err}")
# A stranger that would be told which job it works for.
told = manifest("told.d", "stranger", 'roles = [ "synthetic" ];')
status, got, _, err = ask(["stranger:0"], NONE, *told)
h.check("the role synthetic of a stranger is refused", status == 4 and got == [None, None] and "PC3037" in err, f"{status} {err}")
h.planted("a stranger's manifest declares the role synthetic", "a stranger's plugin", "PC3037 plugin-synthetic", err)
pin = policy("synthetic", 'memo = "off"; plugins : { sha256 : { stranger = "%s"; }; };'
             % sha256(h.path("stranger/plugins/stranger.so")))
status, got, _, err = ask(["stranger:0"], pin, *told)
h.check("unless the policy pins that very file", status == 0 and got == RIGHT, f"{status} {err}")

# A stranger inside pipectl could do as it likes with what judges it: where results are checked it stays outside.
inside = manifest("inside.d", "stranger", "in_process = true")
status, got, _, err = ask(["stranger:0"], NONE, *inside, "--in-process")
h.check("a stranger inside, where nothing is checked", status == 0 and got == RIGHT, f"{status} {err}")
for rules, name in ((VERIFY, "verification"), (QUORUM, "a quorum")):
    named = ["stranger:19"] if rules is VERIFY else ["stranger:19", "cpu", "vulkan:llvmpipe"]
    status, got, _, err = ask(named, rules, *inside, "--in-process")
    h.check(f"a stranger inside under {name} is refused", status != 0 and got == [None, None] and "PC4317" in err, f"{status} {err}")
h.planted("a stranger's plugin inside of pipectl, where results are checked", "run --in-process", "PC4317 policy-isolation", err)
status, got, r, err = ask(["stranger:19"], VERIFY, *inside)
h.check("in its worker it is verified", status == 6 and got == [None, None] and "PC5208" in err, f"{status} {err}")
h.run(*STRANGER, "plugin", "release", "stranger")

# ---- a receipt of what holds a certificate alone
status, _, err = h.run("certify", "--backend", "vulkan:llvmpipe", "--level", "L1", "--ops", "int.not@1", "--out",
                       h.path("home/certificates"))
h.check("a certificate", status == 0, err)
h.write("not.pipe.cfg", b"""pipeline : { name = "n"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };
  jobs = ( { id = "n"; op = "int.not@1"; in : { x = "$x"; }; } ); outputs : { y = "n.y"; }; };
""")
status, _, err = h.run("run", h.path("not.pipe.cfg"), "--in", f"x={X}", "--backend", "vulkan:llvmpipe", "--receipt", h.path("receipt"))
shown = h.run("receipt", "show", h.path("receipt"))[1].decode()
h.check("certified is not verified", status == 0 and "not verified (certified L1)" in shown and ", not verified (certified L1)" in err,
        f"{status} {shown} {err}")
h.finish()
