"""Ops run by pipectl, for the tests of this folder: one by `pipectl op run`, or those of many cases as jobs of one pipeline. A process
that compiles costs a driver a second of the processor before its first kernel (PoCL reads its library), and each after that a tenth."""
import functools
import re

MOST = 64  # jobs of a pipeline


def op_run(h, op, inputs, outputs, backend, attrs=()):
    """inputs: (port, bytes, type); outputs: port names. The outputs' bytes, or None after a reported failure."""
    args = ["op", "run", op, "--backend", backend]
    if is_approximate((op,)):
        args += ["--policy", h.approximate]
    for port, data, kind in inputs:
        args += ["--in", f"{port}={h.write('in-' + port, data)}:{kind}"]
    for port in outputs:
        args += ["--out", f"{port}={h.path('out-' + port)}"]
    for attr in attrs:
        args += ["--attr", attr]
    status, _, err = h.run(*args)
    if not h.check(f"{op}, {backend}", status == 0, f"exit status {status}\n{err}"):
        return None
    return [h.read("out-" + port) for port in outputs]


def job(k, op, inputs, outputs, attrs):
    """The text of job k, its pipeline's inputs, outputs and the arguments that feed them; a list's ports xs[0], xs[1] are in order."""
    ins, feeds, lists, give = "", "", {}, []
    for i, (port, data, kind) in enumerate(inputs):
        name = f"i{k}_{i}"
        # Of nothing, a dimension has a name: a number there is at least 1.
        kind = re.sub(r"(?<=[\[,])0(?=[],])", f"n{k}_{i}", kind)
        ins += f'{name} : {{ type = "{kind}"; }}; '
        give.append((name, data))
        if "[" in port:
            lists.setdefault(port.split("[")[0], []).append(f'"${name}"')
        else:
            feeds += f'{port} = "${name}"; '
    feeds += "".join(f"{port} = [ {', '.join(of)} ]; " for port, of in lists.items())
    named = "".join('{} = "{}"; '.format(*a.split("=", 1)) for a in attrs)
    outs = "".join(f'o{k}_{i} = "j{k}.{port}"; ' for i, port in enumerate(outputs))
    return f'{{ id = "j{k}"; op = "{op}@1"; in : {{ {feeds}}}; attr : {{ {named}}}; }}', ins, outs, give


def is_approximate(call):
    return call[0].endswith("_approx")


def run_many(h, calls, backend):
    """What op_run returns, of each call. Where the pipeline fails each runs alone, so that the one is named."""
    if len(calls) == 1:
        return [op_run(h, *calls[0][:3], backend, calls[0][3])]
    parts = [job(k, *call) for k, call in enumerate(calls)]
    approximate = is_approximate(calls[0])
    text = (f'pipeline : {{ name = "many"; class = "{"approximate" if approximate else "strict"}"; inputs : {{ {"".join(p[1] for p in parts)}}};\njobs = (\n'
            + ",\n".join(p[0] for p in parts) + f'\n);\noutputs : {{ {"".join(p[2] for p in parts)}}};\n}};\n')
    # As op run has it: no kernel of two ops, nothing remembered.
    args = ["run", h.write("many.pipe.cfg", text.encode()), "--backend", backend, "--no-fuse", "--no-memo"]
    args += ["--policy", h.approximate] if approximate else []
    for _, _, _, give in parts:
        args += [a for name, data in give for a in ("--in", f"{name}={h.write(name, data)}")]
    names = [[f"o{k}_{i}" for i in range(len(call[2]))] for k, call in enumerate(calls)]
    args += [a for of in names for name in of for a in ("--out", f"{name}={h.path(name)}")]
    status, _, err = h.run(*args)
    if status != 0:
        print(f"{len(calls)} ops on {backend}, which run alone now: exit status {status}\n{err}", flush=True)
        return [op_run(h, *call[:3], backend, call[3]) for call in calls]
    h.check(f"{len(calls)} ops, {backend}", True)
    return [[h.read(name) for name in of] for of in names]


def flush(h, waiting):
    """Run what is waiting until nothing is."""
    while waiting:
        backend, approximate = waiting[0][1][3], is_approximate(waiting[0][1])
        chosen = [w for w in waiting if w[1][3] == backend and is_approximate(w[1]) == approximate][:MOST]
        waiting[:] = [w for w in waiting if w not in chosen]
        calls = [(op, inputs, outputs, attrs) for _, (op, inputs, outputs, _, attrs) in chosen]
        for (case, _), got in zip(chosen, run_many(h, calls, backend)):
            resume(case, got, waiting)


def resume(case, got, waiting):
    """On with a case, to its next call or its end."""
    try:
        op, inputs, outputs, backend, *attrs = case.send(got)
    except StopIteration:
        return
    waiting.append((case, (op, inputs, outputs, backend, attrs[0] if attrs else ())))


def together(function):
    """A case that does `got = yield op, inputs, outputs, backend, attrs` where it would call op_run. It is begun when it is called, and goes
    on when there are enough of its like for a pipeline, at the latest when the harness ends."""
    @functools.wraps(function)
    def begin(first, *args, **named):
        h = getattr(first, "h", first)
        if not hasattr(h, "waiting"):
            h.waiting = []
            h.last.append(lambda: flush(h, h.waiting))
        resume(function(first, *args, **named), None, h.waiting)
        if len(h.waiting) >= 4 * MOST:
            flush(h, h.waiting)
    return begin


@together
def compare(h, backends, what, op, inputs, want, width, attrs=()):
    """Bytes of the op's output y on each of the devices."""
    for backend in backends:
        got = yield op, inputs, ["y"], backend, attrs
        h.check_bytes(f"{what} {backend}", got[0] if got else b"", want, width)
