"""One op run by `pipectl op run`, for the tests of this folder."""


def op_run(h, op, inputs, outputs, backend, attrs=()):
    """inputs: (port, bytes, type); outputs: port names. The outputs' bytes, or None after a reported failure."""
    args = ["op", "run", op, "--backend", backend]
    if op.endswith("_approx"):
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
