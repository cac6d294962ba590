"""Arrays that are computed when they are asked for: calls make a pipeline, which runs as one, on any device with the same bytes.

    from pipectl import tensor as t

    y = t.convert(t.matmul(a, b), to="f16")     # nothing ran yet
    y.numpy(), y.cid, y.shape

Every op of the installed libraries is a function here, found by its name in the library's own list: `tensor.NAME` first, then by the
elements' type `int.NAME` or `ieee.NAME`, of f64 `tensor.NAME64` or `ieee.NAME64` where there is one; `op("tensor.matmul", a, b, order="chunked")` names one in full. Inputs are arrays, whatever has a
buffer or DLPack, numbers beside another operand, paths of files of tensors, or Tensors. What the ops of this installation cannot do
(a reshape where there is no such op) is done by NumPy on the host, after what it needs was run."""
from __future__ import annotations

import dataclasses
import os
import tempfile
import threading
from typing import Any, Callable, Iterable, Sequence, Union

import numpy

from pipectl._arrays import BF16, DTYPES, name_of, packed
from pipectl._errors import misuse
from pipectl._inputs import Cid, Keep
from pipectl._installation import Installation
from pipectl._library import ffi, lib, new, text
from pipectl._results import Result

FLOATS = ("f16", "bf16", "f32", "f64")
Operand = Union["Tensor", "numpy.ndarray[Any, Any]", int, float, Any]


@dataclasses.dataclass(frozen=True)
class Op:
    """An op as its library describes it."""
    name: str
    version: int
    about: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[str, ...]


def ops_of(installation: Installation) -> dict[str, Op]:
    """All ops by name, the highest version of each, and by "NAME@VERSION"."""
    found: dict[str, Op] = {}
    n = ffi.new("uint32_t *")
    with installation._handle.use() as ask:
        ask(lib.pipectl_op_count, installation._pointer, n)
        for i in range(n[0]):
            o = new("pipectl_op")
            ask(lib.pipectl_op_at, installation._pointer, i, o)
            names = [tuple(text(a[k]) or "" for k in range(m)) for a, m in ((getattr(o, "in"), o.n_in), (o.out, o.n_out), (o.attr, o.n_attr))]
            one = Op(text(o.name) or "", o.version, text(o.about) or "", *names)
            found[f"{one.name}@{one.version}"] = one
            if one.name not in found or found[one.name].version < one.version:
                found[one.name] = one
    return found


def look(source: str) -> tuple[str, tuple[int, ...]]:
    """Element type and shape of a tensor of a file, "w.safetensors:layer.0"; nothing but the header is read."""
    keep = Keep()
    o = new("pipectl_tensor")
    installation = runtime().installation
    with installation._handle.use() as ask:
        ask(lib.pipectl_tensor_look, installation._pointer, keep.text(source), o)
        return text(o.dtype) or "", tuple(o.dims[0:o.rank])


# ---- where it runs ----

class Runtime:
    """An installation with its ops, and how what is computed runs: backends and verify as for Installation.run."""

    def __init__(self, installation: Installation | None = None, *, backends: Any = (), verify: float = 0, determinism: str = "strict"):
        self.installation = installation if installation is not None else Installation()
        self.ops = ops_of(self.installation)
        self.backends, self.verify, self.determinism = backends, verify, determinism


_state = threading.local()


def use(installation: Installation | None = None, **how: Any) -> Runtime:
    """Compute with this installation from now on, in this thread; without one, the configured one is opened when it is needed."""
    _state.runtime = Runtime(installation, **how)
    return _state.runtime


def runtime() -> Runtime:
    if getattr(_state, "runtime", None) is None:
        use()
    return _state.runtime


# ---- tensors ----

class Tensor:
    """An array, or how to compute one. shape and dtype ask for a plan where nothing ran yet; numpy() runs."""

    __slots__ = ("_array", "_source", "_op", "_inputs", "_lists", "_attrs", "_out", "_host", "_type", "_may_be_double", "cid_text")
    __array_priority__ = 100

    def __init__(self) -> None:
        self._array: numpy.ndarray[Any, Any] | None = None
        self._source: str | None = None  # a file of tensors or CID
        self._op: Op | None = None
        self._inputs: tuple[Tensor, ...] = ()
        self._lists: tuple[int, ...] = ()  # of each port how many of these are its list; -1: one, and no list
        self._attrs: dict[str, str] = {}
        self._out = 0
        self._host: Callable[..., numpy.ndarray[Any, Any]] | None = None
        self._type: tuple[str, tuple[int, ...]] | None = None
        self._may_be_double = False  # something that it comes from is f64
        self.cid_text: str | None = None

    # what it is

    def _known(self) -> tuple[str, tuple[int, ...]]:
        if self._array is not None:
            return name_of("tensor", self._array.dtype), self._array.shape
        if self._type is None:
            if self._source is not None:
                self._type = look(self._source)
            elif self._host is not None:
                self.numpy()
                return self._known()
            else:
                _plan(self)
        assert self._type is not None
        return self._type

    @property
    def shape(self) -> tuple[int, ...]:
        return self._known()[1]

    @property
    def dtype(self) -> str:
        """The library's word: "f32", "i4", .."""
        return self._known()[0]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(numpy.prod(self.shape, dtype=object)) if self.shape else 1

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor without dimensions has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        if self._array is not None:
            return f"Tensor({self._array!r})"
        return f"<Tensor of {self._op.name if self._op else self._source or 'the host'}, not computed>"

    # what comes of it

    def numpy(self) -> numpy.ndarray[Any, Any]:
        """The array, read-only where it was computed. Runs what is needed, once."""
        if self._array is None:
            run(self)
        assert self._array is not None
        return self._array

    @property
    def cid(self) -> Cid | None:
        """Of its bytes; None where it was given, and not computed by the library."""
        if self._op is not None:
            self.numpy()
        return None if self.cid_text is None else Cid(self.cid_text)

    @property
    def data(self) -> memoryview:
        """Its memory."""
        return memoryview(self.numpy())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
        array = self.numpy()
        if dtype is None or dtype == array.dtype:
            return array.copy() if copy else array
        if copy is False:
            raise ValueError(f"an array of {array.dtype} is one of {dtype} by a copy alone")
        return array.astype(dtype)

    def __bytes__(self) -> bytes:
        return self.numpy().tobytes()

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None,
                   copy: bool | None = None) -> Any:
        """Of CPU memory. A protocol of readers and writers: what is read-only here is handed out as a copy."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the tensor is in memory of the CPU, not on device {tuple(dl_device)}")
        array = self.numpy()
        if copy is False and not array.flags.writeable:
            raise BufferError("the tensor is read-only, which a capsule cannot say: it is handed out as a copy")
        return (array if array.flags.writeable and not copy else array.copy()).__dlpack__(stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def item(self) -> Any:
        return self.numpy().item()

    def tolist(self) -> Any:
        return self.numpy().tolist()

    def __bool__(self) -> bool:
        return bool(self.numpy())

    # operators

    def __add__(self, other: Operand) -> Tensor: return _binary("add", self, other)
    def __radd__(self, other: Operand) -> Tensor: return _binary("add", other, self)
    def __sub__(self, other: Operand) -> Tensor: return _binary("sub", self, other)
    def __rsub__(self, other: Operand) -> Tensor: return _binary("sub", other, self)
    def __mul__(self, other: Operand) -> Tensor: return _binary("mul", self, other)
    def __rmul__(self, other: Operand) -> Tensor: return _binary("mul", other, self)
    def __truediv__(self, other: Operand) -> Tensor: return _binary("div", self, other)
    def __rtruediv__(self, other: Operand) -> Tensor: return _binary("div", other, self)
    def __mod__(self, other: Operand) -> Tensor: return _binary("mod", self, other)
    def __and__(self, other: Operand) -> Tensor: return _binary("and", self, other)
    def __or__(self, other: Operand) -> Tensor: return _binary("or", self, other)
    def __xor__(self, other: Operand) -> Tensor: return _binary("xor", self, other)
    def __matmul__(self, other: Operand) -> Tensor: return op(_doubled("tensor.matmul", self), self, other)
    def __rmatmul__(self, other: Operand) -> Tensor: return op(_doubled("tensor.matmul", self), other, self)
    def __neg__(self) -> Tensor: return op(_typed("neg", self), self)
    def __abs__(self) -> Tensor: return op(_typed("abs", self), self)
    def __eq__(self, other: Operand) -> Tensor: return _binary("eq", self, other)  # type: ignore[override]
    def __ne__(self, other: Operand) -> Tensor: return _binary("ne", self, other)  # type: ignore[override]
    def __lt__(self, other: Operand) -> Tensor: return _binary("lt", self, other)
    def __le__(self, other: Operand) -> Tensor: return _binary("le", self, other)
    def __gt__(self, other: Operand) -> Tensor: return _binary("gt", self, other)
    def __ge__(self, other: Operand) -> Tensor: return _binary("ge", self, other)
    __hash__ = object.__hash__

    # shapes: an op where there is one, else the host

    def reshape(self, *shape: Any) -> Tensor:
        to = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return _view("tensor.reshape", self, {"shape": _list(to)}, lambda x: x.reshape(to))

    def transpose(self, *axes: Any) -> Tensor:
        order = tuple(axes[0]) if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return _view("tensor.transpose", self, {"axes": _list(order)} if order else {}, lambda x: x.transpose(*([order] if order else [])))

    @property
    def T(self) -> Tensor:
        return self.transpose()

    def broadcast_to(self, shape: Sequence[int]) -> Tensor:
        if self.shape == tuple(shape):
            return self
        return _view("tensor.broadcast", self, {"shape": _list(shape)}, lambda x: numpy.broadcast_to(x, tuple(shape)))

    def __getitem__(self, key: Any) -> Tensor:
        keys = key if isinstance(key, tuple) else (key,)
        if all(isinstance(k, slice) and (k.step or 1) > 0 for k in keys) and len(keys) <= self.ndim:
            ends = [k.indices(n) for k, n in zip((*keys, *[slice(None)] * self.ndim), self.shape)]
            attrs = {w: _list(e[i] for e in ends) for i, w in enumerate(("start", "stop", "step"))}
            return _view("tensor.slice", self, attrs, lambda x: x[key])
        return _view("", self, {}, lambda x: x[key])

    def __getattr__(self, name: str) -> Any:
        """A method of every op whose first input is this: x.sum(axis=0), x.argmax()."""
        if name.startswith("_"):
            raise AttributeError(name)
        call = __getattr__(name)
        return lambda *more, **attrs: call(self, *more, **attrs)


def asarray(value: Operand, dtype: str | None = None) -> Tensor:
    """A Tensor of an array, a buffer, what has DLPack, a number, a path of a file of tensors ("w.safetensors:layer.0"), or a Tensor."""
    if isinstance(value, Tensor):
        return value
    made = Tensor()
    if isinstance(value, os.PathLike):
        made._source = os.path.abspath(os.fspath(value))
        made._may_be_double = True
        return made
    if not isinstance(value, numpy.ndarray) and hasattr(value, "__dlpack__"):
        value = numpy.from_dlpack(value)
    array = numpy.asarray(value)
    if dtype is not None:
        if dtype not in DTYPES or (dtype in ("bf16", "u128", "bytes") and array.dtype != DTYPES[dtype]):
            raise misuse(f"NumPy makes no {dtype}", f'pipectl.tensor.convert(x, to="{dtype}")')
        array = array.astype(DTYPES[dtype])
    elif not isinstance(value, (numpy.ndarray, numpy.generic)) and array.dtype in (numpy.float64, numpy.int64) and not _is_buffer(value):
        # Lists and numbers: the kernels' own types, where these have them.
        small = array.dtype == numpy.int64 and (array.size == 0 or (array.min() >= -2**31 and array.max() < 2**31))
        array = array.astype(numpy.float32 if array.dtype == numpy.float64 else numpy.int32 if small else numpy.int64)
    made._array = packed(array) if array.dtype != bool else array
    made._may_be_double = name_of("tensor", made._array.dtype) == "f64"
    return made


def from_dlpack(value: Any) -> Tensor:
    """A Tensor over CPU memory that another library holds; nothing is copied where it is packed."""
    return asarray(numpy.from_dlpack(value))


def _is_buffer(value: Any) -> bool:
    try:
        memoryview(value)
        return True
    except TypeError:
        return False


def _list(numbers: Iterable[int]) -> str:
    return ",".join(str(int(n)) for n in numbers)


# ---- calls ----

def op(name: str, *inputs: Operand, **attrs: Any) -> Any:
    """Any op by its full name, "tensor.sum" or "tensor.sum@1": a Tensor, or a tuple of them where it has several outputs. What a port takes a list of
    is a list here, `concat([x, y], axis=1)`. `axis` is taken for `axes`, `keepdims` for `keep`, where the op has these."""
    known = runtime().ops
    if name not in known:
        raise misuse(f'there is no op "{name}"', "pipectl.tensor.ops() has their names")
    o, plain = known[name], name.split("@")[0]
    if len(inputs) != len(o.inputs):
        raise misuse(f"{plain} takes {len(o.inputs)} inputs ({', '.join(o.inputs)}), not {len(inputs)}",
                     f"{plain}([x, y], ..)" if len(o.inputs) == 1 else None)
    for numpys, ours in (("axis", "axes"), ("keepdims", "keep")):
        if numpys in attrs and numpys not in o.attributes and ours in o.attributes:
            attrs[ours] = attrs.pop(numpys)
    given = {k: _list(v) if isinstance(v, (tuple, list)) else str(v).lower() if isinstance(v, bool) else str(v)
             for k, v in attrs.items() if v is not None}
    lists = tuple(len(x) if _is_list(x) else -1 for x in inputs)
    flat = [y for x in inputs for y in (x if _is_list(x) else (x,))]
    operands = tuple(_beside(x, flat) for x in flat)
    made = []
    for i in range(len(o.outputs)):
        t = Tensor()
        t._op, t._inputs, t._lists, t._attrs, t._out = o, operands, lists, given, i
        t._may_be_double = any(x._may_be_double for x in operands) or "f64" in given.values()
        made.append(t)
    return made[0] if len(made) == 1 else tuple(made)


def ops() -> dict[str, Op]:
    """All ops of the installation by name, the highest version of each."""
    return {name: o for name, o in runtime().ops.items() if "@" not in name}


def _is_list(x: Any) -> bool:
    """Tensors in a row, not numbers, which are one tensor."""
    return isinstance(x, (list, tuple)) and any(isinstance(y, (Tensor, numpy.ndarray, os.PathLike)) or hasattr(y, "__dlpack__") for y in x)


def _beside(x: Operand, others: Iterable[Operand]) -> Tensor:
    """A number has the type of the tensor beside it."""
    if isinstance(x, (bool, int, float)):
        for o in others:
            if isinstance(o, (Tensor, numpy.ndarray)):
                return asarray(_number(x, asarray(o).dtype))
    return asarray(x)


def _number(x: int | float, dtype: str) -> numpy.ndarray[Any, Any]:
    """A number as an element, floats rounded once; what the type has nothing for becomes no other number."""
    kind = DTYPES.get(dtype)
    if kind is None or dtype in ("u128", "bytes"):
        raise misuse(f"{x!r} stands beside a tensor of {dtype}, which NumPy has no numbers of", "convert the tensor")
    if dtype in FLOATS:
        with numpy.errstate(all="ignore"):
            made = _upper(float(x)) if dtype == "bf16" else numpy.asarray(float(x)).astype(kind)
            infinite = int(made["bf16"]) & 0x7fff == 0x7f80 if dtype == "bf16" else bool(numpy.isinf(made))
            beyond = infinite and abs(x) != numpy.inf
        if beyond or (isinstance(x, int) and int(float(x)) != x):
            raise misuse(f"{x!r} is no {dtype}", "a tensor of a wider type")
        return made
    least, most = (0, 1) if dtype == "bool" else (int(numpy.iinfo(kind).min), int(numpy.iinfo(kind).max))
    if not abs(x) < numpy.inf or int(x) != x:
        raise misuse(f"{x!r} is no {dtype}", "a tensor of floats")
    if not least <= x <= most:
        raise misuse(f"{x!r} is no {dtype}: {least} to {most}", "a tensor of a wider type")
    return numpy.asarray(int(x), kind)


def _upper(x: float) -> numpy.ndarray[Any, Any]:
    """The nearest bf16: an f32 with a last bit for what is left, whose upper half is rounded."""
    f = numpy.asarray(x).astype("<f4")
    bits = int(f.view("<u4"))
    if x != x:
        return numpy.asarray((0x7fc0,), BF16)
    if abs(float(f)) > abs(x):
        bits -= 1
    if float(f) != x:
        bits |= 1
    return numpy.asarray((bits + 0x7fff + (bits >> 16 & 1) >> 16,), BF16)


def _doubled(name: str, x: Tensor) -> str:
    """What computes with f64 is an op of its own, with 64 behind its name."""
    return name + "64" if x._may_be_double and name + "64" in runtime().ops and x.dtype == "f64" else name


def _typed(name: str, x: Tensor) -> str:
    library = "ieee" if x.dtype in FLOATS else "int"
    return _doubled(f"tensor.{name}" if f"tensor.{name}" in runtime().ops else f"{library}.{name}", x)


def _binary(name: str, a: Operand, b: Operand) -> Tensor:
    """Shapes are brought together by NumPy's rule, aligned from the right."""
    x, y = _beside(a, (b,)), _beside(b, (a,))
    if x.shape != y.shape:
        shape = numpy.broadcast_shapes(x.shape, y.shape)
        x, y = x.broadcast_to(shape), y.broadcast_to(shape)
    made: Tensor = op(_typed(name, x), x, y)
    return made


def _view(name: str, x: Tensor, attrs: dict[str, str], host: Callable[..., Any]) -> Tensor:
    if x._array is None and name in runtime().ops and x.dtype != "bytes":
        made: Tensor = op(name, x, **attrs)
        return made
    made = Tensor()
    made._host, made._inputs, made._may_be_double = host, (x,), x._may_be_double
    if x._array is not None:
        _on_host(made)
    return made


def _on_host(t: Tensor) -> None:
    assert t._host is not None
    array = numpy.asarray(t._host(*(x._array for x in t._inputs)))
    t._array = array if array.dtype == bool else packed(array)


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_"):
        raise AttributeError(name)
    known = runtime().ops
    if f"tensor.{name}" in known:
        def call(*inputs: Operand, **attrs: Any) -> Any:
            chosen = f"tensor.{name}"
            if chosen + "64" in known and inputs and not _is_list(inputs[0]):
                inputs = (_beside(inputs[0], inputs), *inputs[1:])
                chosen = _doubled(chosen, inputs[0])
            return op(chosen, *inputs, **attrs)
        return call
    if f"int.{name}" in known or f"ieee.{name}" in known:
        def elementwise(*inputs: Operand, **attrs: Any) -> Any:
            operands = [_beside(x, inputs) for x in inputs]
            shape = numpy.broadcast_shapes(*(x.shape for x in operands)) if len(operands) > 1 else operands[0].shape
            chosen = _typed(name, operands[0])
            if chosen not in known:
                raise misuse(f"{name} is no op of {operands[0].dtype}")
            return op(chosen, *(x.broadcast_to(shape) for x in operands), **attrs)
        return elementwise
    raise AttributeError(f"pipectl.tensor has no {name}: there is no op tensor.{name}, int.{name} or ieee.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *(n.split(".", 1)[1] for n in runtime().ops)})


# ---- pipelines ----

class _Builder:
    """The jobs that some tensors need, as the text of a pipeline; what has an array already is an input."""

    def __init__(self) -> None:
        self.inputs: dict[str, Any] = {}
        self.declared: list[str] = []
        self.jobs: list[str] = []
        self.places: dict[Any, str] = {}
        self.kept: list[Tensor] = []  # ids stay those of living objects

    def place(self, t: Tensor) -> str:
        """What names it in the pipeline."""
        stack = [t]
        while stack:
            now = stack[-1]
            key = self.key(now)
            needs = [] if key in self.places or now._array is not None else \
                [x for x in now._inputs if self.key(x) not in self.places]
            if needs:
                stack.extend(needs)
                continue
            stack.pop()
            if key not in self.places:
                self.places[key] = self.leaf(now) if now._op is None or now._array is not None else self.job(now)
        return self.places[self.key(t)] + ("" if t._op is None or t._array is not None else "." + t._op.outputs[t._out])

    @staticmethod
    def key(t: Tensor) -> Any:
        """Outputs of one call are those of one job."""
        if t._op is None or t._array is not None:
            return id(t)
        return (t._op.name, tuple(id(x) for x in t._inputs), t._lists, tuple(sorted(t._attrs.items())))

    def leaf(self, t: Tensor) -> str:
        self.kept.append(t)
        name = f"x{len(self.declared)}"
        if t._array is None and t._host is not None:
            t.numpy()
        if t._array is not None:
            kind = name_of(name, t._array.dtype)
            self.inputs[name] = t._array
            self.declared.append(f'{name} : {{ type = "{kind}{_shape(t._array.shape)}"; }};')
        else:
            kind, shape = t._known()
            self.inputs[name] = t._source
            self.declared.append(f'{name} : {{ type = "{kind}{_shape(shape)}"; }};')
        return "$" + name

    def job(self, t: Tensor) -> str:
        assert t._op is not None
        self.kept.extend([t, *t._inputs])
        name = f"j{len(self.jobs)}"
        rest, feeds = [f'"{self.place(x)}"' for x in t._inputs], ""
        for port, n in zip(t._op.inputs, t._lists):
            some, rest = rest[:abs(n)], rest[abs(n):]
            feeds += f'{port} = {some[0] if n < 0 else f"[ {chr(44).join(some)} ]"}; '
        attrs = " ".join(f'{k} = "{_quoted(v)}";' for k, v in t._attrs.items())
        self.jobs.append(f'{{ id = "{name}"; op = "{t._op.name}@{t._op.version}"; in : {{ {feeds} }}; attr : {{ {attrs} }}; }}')
        return name

    def text(self, outputs: Sequence[str]) -> str:
        outs = " ".join(f'y{i} = "{o}";' for i, o in enumerate(outputs))
        return (f'pipeline : {{ name = "tensor"; class = "{runtime().determinism}"; inputs : {{ {" ".join(self.declared)} }}; '
                f'jobs = ( {", ".join(self.jobs)} ); outputs : {{ {outs} }}; }};\n')


def _shape(shape: Sequence[int]) -> str:
    """An extent of 0 has a name, which the data bind: a pipeline that says 0 itself is refused."""
    return f"[{','.join(str(n) if n else 'none' for n in shape)}]" if shape else ""


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _written(builder: _Builder, outputs: Sequence[str], do: Callable[..., Any]) -> Any:
    with tempfile.TemporaryDirectory(prefix="pipectl-tensor-") as where:
        path = os.path.join(where, "tensor.pipe.cfg")
        with open(path, "w", encoding="utf-8") as f:
            f.write(builder.text(outputs))
        return do(path, builder.inputs)


def _plan(t: Tensor) -> None:
    """Type and shape of something that did not run: of every job on the way."""
    builder = _Builder()
    place = builder.place(t)
    r = runtime()
    plan = _written(builder, [place], lambda path, inputs: r.installation.plan(path, inputs=inputs, backends=r.backends or "cpu"))
    types = {job["id"]: job["out"] for job in plan["jobs"]}
    if place.split(".")[0] not in types or len(types[place.split(".")[0]]) <= t._out:
        run(t)  # a size that data tell
        return
    kind, _, rest = types[place.split(".")[0]][t._out].partition("[")
    t._type = kind, tuple(int(d) for d in rest.rstrip("]").split(",") if d)


def run(*tensors: Tensor, **how: Any) -> Result | None:
    """Compute these in one run; None where nothing had to run. Keywords as for Installation.run: backends, verify, receipt, .."""
    if all(t._array is not None for t in tensors):
        return None
    with runtime().installation._handle.whole():
        return _run(tensors, how)


def _run(tensors: Iterable[Tensor], how: dict[str, Any]) -> Result | None:
    wanted = [t for t in tensors if t._array is None]
    for t in wanted:
        if t._op is None and t._host is not None:
            _run(t._inputs, how)
            _on_host(t)
    wanted = [t for t in wanted if t._array is None]
    if not wanted:
        return None
    builder = _Builder()
    # A file alone is moved: a pipeline has a job.
    places = [builder.place(t if t._op is not None else op("tensor.convert", t, to=t.dtype)) for t in wanted]
    r = runtime()
    how.setdefault("backends", r.backends)
    how.setdefault("verify", r.verify)
    result: Result = _written(builder, places, lambda path, inputs: r.installation.run(path, inputs=inputs, **how))
    for i, t in enumerate(wanted):
        port = result.ports[f"y{i}"]
        t._type, t.cid_text = (port.dtype, port.shape), str(port.cid)
        t._array = result.outputs[f"y{i}"]
    return result
