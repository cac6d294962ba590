"""Usage everywhere: `--help`, `-h` and `--version` of every verb exit 0 on standard output, with options, an example that parses
and the exit statuses; it folds at 60 columns; the manual pages say the same; wrong names name the nearest."""
import json
import shlex
import subprocess

from harness import Harness


def table(h):
    status, out, err = h.run("--json", "help")
    h.check("--json help", status == 0, err)
    return json.loads(out)


def usage_faults(verb, out):
    """What is missing in the usage of a verb."""
    wanted = [o["name"] for o in verb["options"]] + [verb["example"].split()[0], "example:", "exit status:", "130"]
    return [w for w in wanted if w not in out]


def every_verb(h, document):
    for verb in document["verbs"]:
        words = [verb["verb"]] + ([verb["sub"]] if verb["sub"] else [])
        name = " ".join(words)
        h.env.pop("COLUMNS", None)
        status, out, err = h.run(*words, "--help")
        h.check(f"{name} --help", status == 0 and not err and not usage_faults(verb, out.decode()), f"{status} {err} {out}")
        h.check(f"{name} -h", h.run(*words, "-h") == (0, out, ""))
        status, version, _ = h.run(*words, "--version")
        h.check(f"{name} --version", status == 0 and version.startswith(b"pipectl "), str(version))
        example = shlex.split(verb["example"].split(" >")[0].split(" |")[0])
        status, _, err = h.run(*example[1:], "--help")
        h.check(f"the example of {name} parses", status == 0 and example[0] == "pipectl", err)
        h.check(f"the example of {name} is of it", all(w in example for w in words), verb["example"])
        h.env["COLUMNS"] = "60"
        folded = h.run(*words, "--help")[1].decode()
        h.check(f"{name} folds", "".join(folded.split()) == "".join(out.decode().split()) and
                all(len(line) <= 60 or len(line.split()) <= 2 for line in folded.splitlines()), folded)
        h.env.pop("COLUMNS", None)
        man = h.run("man", verb["verb"])[1].decode().replace("\\-", "-")
        h.check(f"manual page of {name}", verb["example"] in man and all(o["name"] in man for o in verb["options"]), man)
    for name, said in (("node", "pipectl\\-node \\- serve the chain of this home over a socket\n"), ("cas", "pipectl\\-cas \\- put: ")):
        h.check(f"what {name} is, for whatis", said in h.run("man", name)[1].decode(), h.run("man", name)[1].decode()[:300])
    status, page, err = h.run("man", "nodee")
    h.check("no page of what is no verb", status == 2 and not page and "did you mean node?" in err, f"{page} {err}")
    # A usage that keeps an option to itself is seen.
    h.check("a missing option is seen", usage_faults(dict(verb, options=[{"name": "--planted"}]), out.decode()) == ["--planted"])


def places(h):
    for args in (["--help"], ["-h"], ["help"], ["cas", "--help"], ["--help", "cas"], ["certify", "-h"], ["--help", "run"],
                 ["run", "a", "b", "--help"], ["help", "cas"], ["help", "cas", "put"], ["--version"], ["version"], ["cas", "--version"],
                 ["--version", "job"], ["certify", "--version"]):
        status, out, err = h.run(*args)
        h.check(" ".join(args), status == 0 and out and not err, f"{status} {err}")
    groups = h.run("cas", "--help")[1].decode()
    h.check("cas --help shows all of cas", all(f"usage: pipectl cas {s} " in groups for s in ("put", "get", "gc", "import")), groups)
    for args, said in ((["serve"], "did you mean model serve?"), (["upload"], "did you mean shader upload or contract upload?"), (["-x"], "hint: `pipectl help` lists"),
                       (["node", "--engine", "raft", "--listen", "unix:x"], '--engine takes abci, not "raft"'), (["rnu"], "did you mean run?"), (["cas", "putt"], "did you mean put?"), (["help", "chek"], "did you mean check?"),
                       (["run", "--sett", "x=1", "f"], "did you mean --set?"), (["--jsn", "run"], "did you mean --json?"),
                       (["cas"], "one of put, get"), (["--set", "x=1", "run", "f"], "write it behind the verb"), ([], "pipectl help")):
        status, out, err = h.run(*args)
        h.check(" ".join(args) or "nothing", status == 2 and said in err and not out, f"{status} {out} {err}")


def completion(h):
    """What stands behind `completion at`, and the script of bash over it."""
    def at(*words):
        status, out, err = h.run("completion", "at", "--", *words)
        h.check("completion at " + " ".join(words), status == 0, err)
        return [line.split("\t")[0] for line in out.decode().splitlines()]
    rank = h.write("rank.pipe.cfg", b'pipeline : { name = "p"; class = "integer"; params : { times = 1; }; inputs : { edges : { type = "u32[n]"; }; };'
                   b'jobs = ( { id = "j"; op = "int.neg@1"; in : { x = "$edges"; }; } ); outputs : { ranks = "j.y"; }; };')
    cid = h.run("cas", "put", h.write("blob", b"blob"))[1].decode().strip()
    mix = h.write("mix.wgsl", b"override factor : u32 = 3u;\n@group(0) @binding(0) var<storage, read> x : array<u32>;\n@group(0) @binding(1) var<storage, read_write> y : array<u32>;\n"
                  b"@compute @workgroup_size(1) fn main() { y[0] = x[0] * factor; }\n")
    for words, has, lacks in (
            (["certify", "--ops", "int.a"], "int.add", "int.sub"), (["certify", "--ops", "int.add,int.s"], "int.add,int.sub", "int.sub"), (["certify", "--ops=int.a"], "--ops=int.add", "--ops=int.sub"),
            (["generate", "--family", "qwen"], "qwen3", "llama3"), (["model", "serve", "--family", ""], "chatml", "FAMILY"),
            (["shader", "run", mix, "--override", ""], "factor=", "x="), (["shader", "run", mix, "--bind", ""], "x=", "factor="),
            (["shader", "run", mix, "--read", ""], "y=", "x="), (["shader", "check", mix, "--entry", ""], "main", "factor="),
            (["shader", "run", mix, "--bind", "x="], ":files", "x="), (["shader", "run", "/dev/zero", "--bind", ""], None, "x="),
            ([""], "run", "put"), (["cas", "p"], "put", "get"), (["--json", "cas", "p"], "put", "run"), (["certify", ""], "merge", "run"),
            (["run", "--ba"], "--backend", "--set"), (["run", "--js"], "--json", "--set"), (["run", rank, "--in", ""], "edges=", "ranks="),
            (["run", rank, "--out="], "--out=ranks=", "--out=edges="), (["run", rank, "--set", ""], "times=", "edges="),
            (["run", rank, "--in", "edges="], ":files", "edges="), (["run", ""], ":files", "run"), (["--home", ""], ":dirs", "run"),
            (["run", "--color", ""], "never", "run"), (["run", "--verify", ""], "sample=", "sample=F"), (["explain", "PC41"], "PC4102", "PC0010"),
            (["op", "show", "int.a"], "int.add", "int.sub"), (["plugin", "show", ""], "vulkan", "vulkan:0"),
            (["run", "--backend", "vul"], "vulkan:0", "cpu:0"), (["audit", rank, "--backends", "cpu,vul"], "cpu,vulkan:0", "vulkan:0"),
            (["cas", "get", "baf"], cid, "run"), (["help", "cas", "g"], "get", "cas"), (["completion", ""], "zsh", "run"),
            (["--home", h.path("other"), "cas", "get", ""], None, cid), (["run", "--", "-"], ":files", "--set")):
        found = at(*words)
        h.check(f"of {words}", (has is None or has in found) and lacks not in found, str(found))
    script = h.write("completion.bash", h.run("completion", "bash")[1])
    for line, want in (("pipectl ru", ["run"]), ("pipectl --json cas pu", ["put"]), ("pipectl run --backend vulkan:", ["0", "1"]),
                       (f"pipectl run {rank} --in e", ["edges="]), (f"pipectl run {rank} --out=", ["ranks="]),
                       (f"pipectl check {h.dir}/rank.pi", [rank])):
        asked = f'pipectl() {{ {shlex.quote(h.pipectl)} "$@"; }}; . {script}; COMP_LINE={shlex.quote(line)}; COMP_POINT={len(line)}; ' \
                '_pipectl; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", asked], env=h.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        h.check("bash: " + line, done.stdout.decode().split() == want, f"{done.stdout} {done.stderr}")


def main():
    h = Harness()
    document = table(h)
    h.check("there are verbs", len(document["verbs"]) > 60, str(len(document["verbs"])))
    every_verb(h, document)
    places(h)
    completion(h)
    h.finish()


main()
