"""Pipelines that stay on a device: opened once, then one call a step."""
from __future__ import annotations

import dataclasses
import weakref
from typing import TYPE_CHECKING, Any, Iterable, Mapping

import numpy

from pipectl._arrays import name_of, packed, unpacked
from pipectl._errors import misuse
from pipectl._inputs import Cid, Input, Keep, run_options
from pipectl._library import ffi, lib, new, text

if TYPE_CHECKING:
    from pipectl._pipeline import Pipeline


@dataclasses.dataclass(frozen=True)
class Step:
    """One step: outputs by name, its number, seconds by the host's clock and on the device (0: unknown), and with cids=True
    the CID of each output."""
    outputs: dict[str, numpy.ndarray[Any, Any]]
    number: int
    seconds: float
    device_seconds: float
    verified: bool
    cids: dict[str, Cid]


class Resident:
    """Made by Pipeline.resident. Closing it, or its installation, ends it; so does the end of a `with`. Those that share live on.

    inputs   names of what changes with each step; reads of what a step gives
    """

    def __init__(self, pipeline: Pipeline, inputs: Mapping[str, Input], changing: Iterable[str], states: Mapping[str, str | None],
                 reads: Iterable[str], sharing: Resident | None, backends: Any, verify: float, gas_limit: int | None,
                 memory: int, history: int):
        # What stays is read again by a check, as long as anybody shares it.
        self._keep, self._sharing = Keep(), sharing
        self._handle = pipeline._handle
        o = new("pipectl_resident_options", memory_bytes=memory, history_bytes=history)
        self.inputs, self.reads = tuple(changing), tuple(reads)
        o.changing, o.n_changing = self._keep.texts(self.inputs)
        o.reads, o.n_reads = self._keep.texts(self.reads)
        rows = [(self._keep.text(name), self._keep.text(after)) for name, after in states.items()]
        o.states, o.n_states = self._keep.keep(ffi.new("pipectl_setting[]", rows)) if rows else ffi.NULL, len(rows)
        o.sharing = ffi.NULL if sharing is None else sharing._pointer
        options = run_options(self._keep, inputs, backends, verify, False, gas_limit, False)
        self._out = ffi.new("pipectl_resident **")
        with self._handle.use() as ask:
            ask(lib.pipectl_resident_open, pipeline._pointer, options, o, self._out)
            key = self._handle.keep(self._out, lib.pipectl_resident_release)
            self._end = weakref.finalize(self, self._handle.give_back, key)
            self._in_ports = [self._port(ask, lib.pipectl_resident_input, i) for i in range(len(self.inputs))]
            self._out_ports = [self._port(ask, lib.pipectl_resident_output, i) for i in range(len(self.reads))]

    def _port(self, ask: Any, at: Any, i: int) -> tuple[str, tuple[int, ...], int]:
        port = new("pipectl_resident_port")
        ask(at, self._out[0], i, port)
        return text(port.dtype) or "", tuple(port.dims[k] for k in range(port.rank)), port.n_bytes

    @property
    def _pointer(self) -> Any:
        if self._out[0] == ffi.NULL:
            raise misuse("the resident run is closed")
        return self._out[0]

    def _bytes(self, keep: Keep, name: str, port: tuple[str, tuple[int, ...], int], value: Any) -> Any:
        if isinstance(value, (numpy.ndarray, numpy.generic)):
            value = numpy.asarray(value)
            if name_of(name, value.dtype) != port[0] or value.shape != port[1]:
                raise misuse(f'"{name}" is {port[0]}{list(port[1])} in each step, not {name_of(name, value.dtype)}{list(value.shape)}')
            value = keep.keep(packed(value)).reshape(-1).view(numpy.uint8)
        return keep.keep(ffi.from_buffer(value))

    def step(self, *, cids: bool = False, **inputs: Any) -> Step:
        """One step on what changes, by name: arrays of the declared types, or their bytes."""
        if set(inputs) != set(self.inputs):
            raise misuse(f"a step is given {', '.join(self.inputs) or 'nothing'}, not {', '.join(inputs) or 'nothing'}")
        keep = Keep()
        data = [self._bytes(keep, name, port, inputs[name]) for name, port in zip(self.inputs, self._in_ports)]
        room = [bytearray(port[2]) for port in self._out_ports]
        took = new("pipectl_step")
        names = ffi.new(f"char[{max(1, len(room))}][60]")
        with self._handle.use() as ask:
            ask(lib.pipectl_resident_step, self._pointer, ffi.new("void *[]", data), ffi.new("uint64_t[]", [len(d) for d in data]),
                ffi.new("void *[]", [keep.keep(ffi.from_buffer(r)) for r in room]), ffi.new("uint64_t[]", [len(r) for r in room]),
                took, names if cids else ffi.NULL)
        outputs = {name: unpacked(r, port[0], port[1]) for name, r, port in zip(self.reads, room, self._out_ports)}
        return Step(outputs, took.number, took.host_ns * 1e-9, took.device_ns * 1e-9, bool(took.verified),
                    {name: Cid(text(names[i])) for i, name in enumerate(self.reads)} if cids else {})

    def check(self, steps: int) -> None:
        """Do the first steps again on the reference and compare all that was read; Error (PC5208) names the first that differs."""
        with self._handle.use() as ask:
            ask(lib.pipectl_resident_check, self._pointer, steps)

    def evidence(self, step: int) -> str:
        """How the outputs of a step stand."""
        return text(lib.pipectl_resident_evidence(self._pointer, step)) or ""

    @property
    def facts(self) -> dict[str, Any]:
        """What a step does and what lies on the device for it: dispatches, barriers, bytes."""
        f = new("pipectl_resident_facts")
        with self._handle.use() as ask:
            ask(lib.pipectl_resident_describe, self._pointer, f)
        numbers = ("steps", "dispatches", "transfers", "barriers", "written_bytes", "read_bytes", "constant_bytes", "state_bytes",
                   "pool_bytes", "live_bytes", "total_bytes", "gas")
        return {**{name: int(getattr(f, name)) for name in numbers}, "device": text(f.device), "evidence": text(f.evidence)}

    def close(self) -> None:
        """Give it back; twice is fine."""
        self._end()

    def __enter__(self) -> Resident:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
