"""Groups of jobs, sets of tensors and state from the outside: a file with them beside the same written out by this script.
usage: groups.py BACKEND..."""
import json
import os
import struct
import sys

import numpy as np

from harness import Harness

ROWS, D, F = 4, 8, 16
SHAPES = {"n1": [D], "wq": [D, D], "wk": [D, D], "wv": [D, D], "n2": [D], "wu": [D, F], "wd": [F, D]}
# One layer: id, op, inputs, attributes. "@x" goes round, "#" stands for a layer's weight, "%" for its part of the state.
LAYER = [("norm", "tensor.rms_norm@1", {"x": "@x", "weight": "#n1"}, ""),
         ("q", "tensor.matmul@1", {"a": "norm.y", "b": "#wq"}, ""),
         ("k", "tensor.matmul@1", {"a": "norm.y", "b": "#wk"}, ""),
         ("v", "tensor.matmul@1", {"a": "norm.y", "b": "#wv"}, ""),
         ("s", "tensor.matmul@1", {"a": "q.y", "b": "k.y"}, " attr : { transpose_b = true; };"),
         ("p", "tensor.softmax@1", {"x": "s.y"}, ""),
         ("a", "tensor.matmul@1", {"a": "p.y", "b": "v.y"}, ""),
         ("keep", "ieee.add@1", {"a": "%", "b": "a.y"}, ""),
         ("r", "ieee.add@1", {"a": "@x", "b": "keep.y"}, ""),
         ("n2", "tensor.rms_norm@1", {"x": "r.y", "weight": "#n2"}, ""),
         ("u", "tensor.matmul@1", {"a": "n2.y", "b": "#wu"}, ""),
         ("d", "tensor.matmul@1", {"a": "u.y", "b": "#wd"}, ""),
         ("z", "ieee.add@1", {"a": "r.y", "b": "d.y"}, "")]


def job(name, op, feeds, attr):
    return '{ id = "%s"; op = "%s"; in : { %s };%s }' % (name, op, " ".join(f'{p} = "{f}";' for p, f in feeds.items()), attr)


def grouped(layers):
    """With a group, a set and a state in parts."""
    def feed(f):
        return "$w/blk.{i}." + f[1:] if f[0] == "#" else "$acc/{i}" if f == "%" else f
    jobs = ",\n".join(job(n, op, {p: feed(f) for p, f in feeds.items()}, attr) for n, op, feeds, attr in LAYER)
    return ('pipeline : { name = "g"; class = "strict"; params : { layers = %d; };\n'
            'inputs : { x : { type = "f32[%d,%d]"; }; w : { tensors = "w.safetensors"; }; };\n'
            'state : { acc : { type = "f32[%d,%d]"; count = "$layers"; index = "l"; next = "layers.{l}.keep.y"; }; };\n'
            'jobs = ( { id = "layers"; repeat : { count = "$layers"; index = "i"; start : { x = "$x"; }; carry : { x = "z.y"; }; };\n'
            'jobs = ( %s ); } );\noutputs : { y = "layers.x"; }; };\n') % (layers, ROWS, D, ROWS, D, jobs)


def written_out(layers):
    """The same jobs one by one, each tensor an input of its own."""
    inputs, jobs, x = ['x : { type = "f32[%d,%d]"; };' % (ROWS, D)], [], "$x"
    outputs = []
    for i in range(layers):
        inputs += ['w%d_%s : { file = "w.safetensors:blk.%d.%s"; type = "f32[%s]"; };' % (i, n, i, n, ",".join(map(str, s)))
                   for n, s in SHAPES.items()]
        inputs.append('acc%d : { file = "acc%d.bin"; type = "f32[%d,%d]"; };' % (i, i, ROWS, D))

        def feed(f):
            return (f"$w{i}_{f[1:]}" if f[0] == "#" else f"$acc{i}" if f == "%" else x if f == "@x" else f"l{i}_{f}")
        jobs += [job(f"l{i}_{n}", op, {p: feed(f) for p, f in feeds.items()}, attr) for n, op, feeds, attr in LAYER]
        x = f"l{i}_z.y"
        outputs.append('acc%d = "l%d_keep.y";' % (i, i))
    return ('pipeline : { name = "g"; class = "strict";\ninputs : { %s };\njobs = ( %s );\noutputs : { y = "%s"; %s }; };\n'
            % ("\n".join(inputs), ",\n".join(jobs), x, " ".join(outputs)))


def safetensors(tensors):
    header, data = {}, b""
    for name, a in tensors.items():
        raw = np.ascontiguousarray(a, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def weights(layers, seed):
    rng = np.random.default_rng(seed)
    return {f"blk.{i}.{n}": rng.standard_normal(s).astype(np.float32) / 4 for i in range(layers) for n, s in SHAPES.items()}


def outputs(h, *args):
    status, out, err = h.run("run", "--json", *args)
    if status != 0:
        return None, err
    return {o["name"]: o["cid"] for o in json.loads(out)["outputs"]}, json.loads(out)


def main():
    h, layers = Harness(), 3
    w = weights(layers, 5)
    h.write("w.safetensors", safetensors(w))
    os.mkdir(h.path("folder"))
    names = sorted(w)
    halves = [{n: w[n] for n in names[::2]}, {n: w[n] for n in names[1::2]}]
    for k, part in enumerate(halves):
        h.write(f"folder/model-{k}.safetensors", safetensors(part))
    index = {"metadata": {}, "weight_map": {n: f"model-{k}.safetensors" for k, part in enumerate(halves) for n in part}}
    h.write("folder/model.safetensors.index.json", json.dumps(index).encode())
    np.savez(h.path("w.npz"), **w)
    x = np.random.default_rng(6).standard_normal((ROWS, D)).astype("<f4")
    h.write("x.bin", x.tobytes())
    group, flat = h.write("group.pipe.cfg", grouped(layers).encode()), h.write("flat.pipe.cfg", written_out(layers).encode())
    feed = ("--in", "x=" + h.path("x.bin"))
    for i in range(layers):
        h.write(f"acc{i}.bin", bytes(4 * ROWS * D))

    # Two runs, each of which is given what the one before left.
    for turn in range(2):
        given = [a for i in range(layers) for a in ("--in", f"acc/{i}=" + h.path(f"acc{i}.bin"))] if turn else []
        for backend in sys.argv[1:]:
            want, all_of_it = outputs(h, flat, *feed, "--backend", backend, "--no-memo")
            got, r = outputs(h, group, *feed, *given, "--backend", backend, "--no-memo")
            h.check(f"turn {turn} {backend}: the same as written out", want is not None and got is not None
                    and [got["y"]] + [got[f"acc/{i}"] for i in range(layers)] == [want["y"]] + [want[f"acc{i}"] for i in range(layers)], f"{want} {got} {r}")
            if want is None or got is None:
                continue
            h.check(f"turn {turn} {backend}: the same gas", r["gas"] == all_of_it["gas"], f"{r['gas']} {all_of_it['gas']}")
            h.check(f"turn {turn} {backend}: jobs have their turns' names",
                    {j["id"] for j in r["jobs"]} == {f"layers.{i}.{n}" for i in range(layers) for n, *_ in LAYER}, str([j["id"] for j in r["jobs"]][:3]))
        status, _, err = h.run("run", group, *feed, *given, "--backend", sys.argv[1],
                               *[a for i in range(layers) for a in ("--out", f"acc/{i}=" + h.path(f"acc{i}.bin"))])
        h.check(f"turn {turn}: state is written", status == 0, err)

    # The same tensors from elsewhere; one of them replaced; other weights give other bytes.
    first, _ = outputs(h, group, *feed, "--backend", sys.argv[1])
    for other in ("folder", "folder/model.safetensors.index.json", "w.npz"):
        got, err = outputs(h, group, *feed, "--in", "w=" + h.path(other), "--backend", sys.argv[1])
        h.check(f"--in w={other}", got == first, f"{got} {err}")
    one = weights(layers, 9)["blk.1.wq"]
    h.write("one.npy", b"")
    np.save(h.path("one.npy"), one)
    h.write("w2.safetensors", safetensors(dict(w, **{"blk.1.wq": one})))
    replaced, _ = outputs(h, group, *feed, "--in", "w/blk.1.wq=" + h.path("one.npy"), "--backend", sys.argv[1])
    whole, _ = outputs(h, group, *feed, "--in", "w=" + h.path("w2.safetensors"), "--backend", sys.argv[1])
    h.check("one tensor replaced", replaced is not None and replaced == whole and replaced != first, f"{replaced} {whole}")
    h.write("w.safetensors", safetensors(dict(w, unread=np.zeros(3))))
    got, r = outputs(h, group, *feed, "--backend", sys.argv[1])
    h.check("tensors that no job reads change nothing", got == first, f"{got}")
    status, out, err = h.run("plan", "--json", group, *feed, "--backend", sys.argv[1])
    h.check("and are no inputs", status == 0 and b"unread" not in out, err)

    # Fewer turns by a parameter; remembered by layers; a receipt replays.
    fewer, _ = outputs(h, group, *feed, "--set", "layers=2", "--backend", sys.argv[1])
    h.check("--set layers=2", fewer is not None and fewer["y"] != first["y"] and {k: v for k, v in fewer.items() if k != "y"}
            == {f"acc/{i}": first[f"acc/{i}"] for i in range(2)}, str(fewer))
    # What no certificate of these files speaks for is remembered once it was compared.
    compared, err = outputs(h, group, *feed, "--backend", sys.argv[1], "--verify", "all")
    h.check("compared", compared == first, str(err))
    got, r = outputs(h, group, *feed)
    h.check("a second run is remembered", got == first and all(j["remembered"] for j in r["jobs"]), str(got))
    status, _, err = h.run("run", group, *feed, "--backend", sys.argv[1], "--receipt", h.path("r"))
    h.check("a receipt", status == 0, err)
    status, _, err = h.run("receipt", "replay", h.path("r"), "--backend", sys.argv[-1])
    h.check("is replayed", status == 0, err)
    status, out, err = h.run("plan", group, *feed, "--dot", "--backend", sys.argv[1])
    done = h.run("completion", "at", "--", "run", group, "--in", "")
    h.check("--in is completed with sets", b"w=" in done[1].split(), str(done[1][:80]))
    h.check("plan --dot names turns", status == 0 and b'"layers.2.z"' in out, err)
    if len(sys.argv) > 2:
        status, out, err = h.run("audit", group, *feed, "--backends", ",".join(sys.argv[1:]), "--json")
        h.check("audit", status == 0 and b"layers.2.z" in out, err)

    # fmt keeps what a file says; a wrong tensor is named once, at its place, with the turn.
    before = outputs(h, group, *feed)[0]
    status, _, err = h.run("fmt", group)
    h.check("fmt", status == 0 and h.run("fmt", "--check", group)[0] == 0 and outputs(h, group, *feed)[0] == before == first, err)
    h.write("bad.pipe.cfg", grouped(layers).replace("blk.{i}.wd", "blk.{i}.wx").encode())
    status, _, err = h.run("check", h.path("bad.pipe.cfg"), *feed)
    h.check("a tensor that is not there", status == 3 and err.count("PC4215") == 1 and "w/blk.0.wx" in err, err)
    status, _, err = h.run("check", group, *feed, "--in", "v=" + h.path("w.npz"))
    h.check("and the sets there are", "available: w, x" in err, err)
    h.check("--in of a set that is not there", status == 3 and "PC4013" in err, err)
    status, _, err = h.run("check", group, *feed, "--in", "w/blk.0.wq=" + h.path("x.bin"))
    h.check("bytes alone have no type", status == 3 and err.count("PC4216") == 1, err)
    os.remove(h.path("w.safetensors"))
    status, _, err = h.run("check", group)
    h.check("check without the weights", status == 0, err)
    status, _, err = h.run("run", group, *feed)
    h.check("run without the weights", status == 1 and "w.safetensors" in err, f"{status} {err}")
    h.finish()


main()
