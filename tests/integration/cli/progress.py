"""Progress of the verbs that take long: one line that fits the terminal, says what is done, and passes inside a single long
dispatch; lines for logs where --progress plain asks for them; nothing off a terminal, and never on standard output."""
import re
import unicodedata

from harness import Harness, share

KERNEL = """@group(0) @binding(0) var<storage, read_write> y : array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id : vec3<u32>) {
  var a = id.x;
  for (var i = 0u; i < 30u; i++) { a = a * 1664525u + i; }
  y[id.x] = a;
}
"""

PIPELINE = """pipeline : { name = "steps"; class = "integer"; inputs : { x : { type = "u32[n]"; }; };
  jobs = ( { id = "negate"; op = "int.neg@1"; in : { x = "$x"; }; },
           { id = "count"; op = "int.not@1"; in : { x = "negate.y"; }; repeat : { count = 3000; carry : { x = "y"; }; }; } );
  outputs : { y = "count.y"; }; };
"""


def lines_of(text):
    """The lines as they were drawn, one over the other."""
    return [part.decode("utf-8") for part in text.split(b"\r\x1b[K")[1:] if b"\n" not in part]


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def one_dispatch(h):
    kernel = h.write("long.wgsl", KERNEL.encode())
    shader = ["shader", "run", kernel, "--dispatch", "64", "--bind", "0:0=zero:16384", "--read", "0:0=" + h.path("y"),
              "--backend", "mock:wrap=cpu+slow=2600"]
    limit = ["--policy", h.write("p.cfg", b'policy : { class = "integer"; race = "trusted"; limits : { time = "300s"; }; };\n')]
    # What is drawn when is for the machine to say: once more where it was not run for a second of it.
    for _ in range(10):
        status, text = h.terminal(*shader, *limit)
        drawn = [line for line in lines_of(text) if line]
        passed = [any(f"{s} s of at most 5 min 00 s" in line for line in drawn) for s in (1, 2)]
        if status or all(passed):
            break
    h.check("shader run goes", status == 0, repr(text))
    h.check("time passes inside one dispatch", all(passed), str(drawn))
    h.check("the device is named", all("mock" in line for line in drawn if "shader" in line), str(drawn))
    h.check("the line is gone at the end", text.rstrip().endswith(b"\r\x1b[K") or b"\r\x1b[Kgas" in text, repr(text[-200:]))


def pipelines(h):
    file, x = h.write("steps.pipe.cfg", PIPELINE.encode()), h.write("x", bytes(range(256)) * (1 << 8))
    run = ["run", file, "--in", "x=" + x, "--backend", "cpu"]
    for columns in share((30, 40, 60, 80, 200)):
        for _ in range(10):
            status, text = h.terminal(*run, "--verify", "none", columns=columns)
            drawn = [line for line in lines_of(text) if line]
            if status or any("job 2 of 2 count" in line and re.search(r"\d+ of 3000 rounds", line) for line in drawn):
                break
        h.check(f"run at {columns}", status == 0 and drawn, repr(text))
        h.check(f"fits {columns}", all(width(line) < max(columns, 40) for line in drawn), str(drawn))
        h.check(f"says the job at {columns}", any("job 2 of 2 count" in line for line in drawn), str(drawn))
        h.check(f"says how far at {columns}", any(re.search(r"\d+ of 3000 rounds", line) for line in drawn), str(drawn))
    # A rate is said after half a second: as many rounds as this machine needs for that.
    count = 3000
    while not (wide := [line for line in drawn if "rounds/s" in line]) and count < 3000 << 8:
        count *= 4
        more = h.write("more.pipe.cfg", PIPELINE.replace("3000", str(count)).encode())
        status, text = h.terminal("run", more, *run[2:], "--verify", "none", columns=200)
        drawn = lines_of(text)
    h.check("rate, rest and memory where there is room", any(re.search(rf"cpu:0, job 2 of 2 count, \d+ of {count} rounds, "
            r"\d+%, [0-9.]+ KiB on the device, [0-9.]+ rounds/s, \d+ s left", line) for line in wide), str(drawn))
    status, text = h.terminal(*run[:-1], "mock:wrap=cpu", "--verify", "all", columns=120)
    drawn = lines_of(text)
    h.check("verifying is said", status == 0 and any(line.startswith("cpu") and "count, verifying" in line for line in drawn), str(drawn))
    # Off a terminal, quiet, told not to, or beside a document on the same terminal: nothing.
    for name, args in (("off a terminal", []), ("plain and short", ["--progress", "plain"])):
        status, out, err = h.run(*run, *args)
        h.check(name, status == 0 and "\r" not in err and "rounds," not in err, err)
    for name, args in (("-q", ["-q"]), ("--no-progress", ["--no-progress"]), ("never", ["--progress", "never"])):
        status, text = h.terminal(*run, *args)
        h.check(name, status == 0 and b"\r\x1b[K" not in text and b"rounds," not in text, repr(text))
    status, text = h.terminal(*run, "--json", shown="all")
    h.check("a document on a terminal", status == 0 and b"\x1b" not in text, repr(text))
    status, out, err = h.run(*run, "--progress", "always")
    h.check("standard output is the answer", out.startswith(b"y bafk") and out.count(b"\n") == 1 and "\r\x1b[K" in err, repr(out))
    h.check("another word", "PC0010" in h.run(*run, "--progress", "some")[2])
    status, text = h.terminal("audit", file, "--in", "x=" + x, "--backends", "cpu,mock:wrap=cpu", "--repeat", "2", columns=120)
    drawn = lines_of(text)
    h.check("audit", status == 0 and any("mock:wrap=cpu, run 2 of 2, job 2 of 2 count" in line for line in drawn), str(drawn))


def plain(h):
    kernel = h.write("long.wgsl", KERNEL.encode())
    status, _, err = h.run("shader", "run", kernel, "--dispatch", "64", "--bind", "0:0=zero:16384", "--read", "0:0=" + h.path("y"),
                           "--backend", "mock:wrap=cpu+slow=12000", "--progress", "plain")
    said = [line for line in err.splitlines() if "shader, " in line and line.startswith("mock")]
    h.check("plain", status == 0 and said and "\r" not in err and re.search(r", (9|[1-9]\d+) s$", said[0]), err)


def certify(h):
    status, text = h.terminal("certify", "--backend", "cpu", "--ops", "int.not@1", "--level", "L1", "--out", h.path("proof"), columns=120)
    drawn = lines_of(text)
    h.check("certify", status == 0 and any(re.search(r"proving, \d+ of \d+ blocks, \d+%", line) for line in drawn), str(drawn))


def stores(h):
    name = "资料-é.bin"
    file, car = h.write(name, bytes(range(256)) * (3 << 18)), h.path("a.car")
    for columns in (40, 100):
        status, text = h.terminal("cas", "put", file, columns=columns)
        drawn = [line for line in lines_of(text) if line]
        h.check(f"cas put at {columns}", status == 0 and any(" MiB of 192 MiB" in line for line in drawn), repr(text))
        h.check(f"wide names fit {columns}", all(width(line) < columns for line in drawn), str(drawn))
    cid = h.run("cas", "put", file)[1].decode().strip()
    for words, there in ((["cas", "verify"], "verifying"), (["cas", "gc", "--all"], "collecting"),
                         (["cas", "export", cid, "--car", car], "writing"), (["cas", "import", "--car", car], "verifying")):
        status, text = h.terminal(*words, columns=200)
        h.check(" ".join(words[:2]), status == 0 and any(there in line for line in lines_of(text)), repr(text))


def main():
    h = Harness()
    one_dispatch(h)
    pipelines(h)
    certify(h)
    stores(h)
    plain(h)
    h.finish()


if __name__ == "__main__":
    main()
