"""A pipeline that was read and checked, and what is done with it."""
from __future__ import annotations

import contextlib
import dataclasses
import json
import weakref
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Union

from pipectl._errors import Diagnostic, Error
from pipectl._handle import OnProgress
from pipectl._inputs import Input, Keep, Value, input_array, run_options, settings, split
from pipectl._errors import misuse
from pipectl._library import ffi, lib, new, text
from pipectl._progress import Display
from pipectl._resident import Resident
from pipectl._results import Result, take_result

if TYPE_CHECKING:
    import os

    from pipectl._installation import Installation

Selectors = Union[str, Iterable[str]]
Shown = Union[OnProgress, bool, None]


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output as declared: type is "u32[m,2]", in which names are dimensions that the data gives; source is the file
    or CID that an input names itself."""
    name: str
    type: str
    source: str | None = None


def shown(progress: Shown) -> Any:
    """A context that gives the callback: the caller's own, or the built-in display."""
    return Display() if progress is True else contextlib.nullcontext(progress or None)


def documented(ask: Any, function: Any, *args: Any) -> dict[str, Any]:
    """Call something that gives a document, after an error as well."""
    out = ffi.new("char **")
    try:
        try:
            ask(function, *args, out)
        except Error as e:
            e.document = json.loads(text(out[0]) or "null")
            raise
        return json.loads(text(out[0]) or "null")
    finally:
        lib.pipectl_free(out[0])


class Pipeline:
    """Made by Installation.load. Closing it, or its installation, ends it; so does the end of a `with`.

    name         as declared
    inputs       Port by name; outputs likewise
    params       values in force, as text
    diagnostics  what was said when it was read: warnings and notes
    """

    def __init__(self, installation: Installation, path: str | os.PathLike[str], params: Mapping[str, Value]):
        keep = Keep()
        self._installation = installation
        self._handle = installation._handle
        self._out = ffi.new("pipectl_pipeline **")
        key = self._handle.keep(self._out, lib.pipectl_pipeline_release)
        self._end = weakref.finalize(self, self._handle.give_back, key)
        with self._handle.use() as ask:
            ask(lib.pipectl_pipeline_load, installation._pointer, keep.text(path), *settings(keep, params), self._out)
            self.diagnostics: list[Diagnostic] = self._handle.ears.said
            self.name: str = text(lib.pipectl_pipeline_name(self._out[0])) or ""
            self.inputs = self._ports(ask, lib.pipectl_pipeline_input, lib.pipectl_pipeline_input_count)
            self.outputs = self._ports(ask, lib.pipectl_pipeline_output, lib.pipectl_pipeline_output_count)
            self.params = self._params(ask)

    def _ports(self, ask: Any, at: Any, count: Any) -> dict[str, Port]:
        found = {}
        for i in range(count(self._out[0])):
            port = new("pipectl_port")
            ask(at, self._out[0], i, port)
            found[text(port.name) or ""] = Port(text(port.name) or "", text(port.type) or "", text(port.source))
        return found

    def _params(self, ask: Any) -> dict[str, str]:
        found = {}
        for i in range(lib.pipectl_pipeline_param_count(self._out[0])):
            s = ffi.new("pipectl_setting *")
            ask(lib.pipectl_pipeline_param, self._out[0], i, s)
            found[text(s.name) or ""] = text(s.value) or ""
        return found

    @property
    def _pointer(self) -> Any:
        """With the handle."""
        if self._out[0] == ffi.NULL:
            raise misuse(f'the pipeline "{self.name}" is closed')
        return self._out[0]

    def _inputs(self, keywords: Mapping[str, Any], inputs: Mapping[str, Input] | None) -> dict[str, Input]:
        ins, sets = split(keywords, inputs, None)
        for name in sets:
            raise misuse(f'"{name}" is neither an input nor an option; parameters are set when a pipeline is loaded')
        return ins

    def check(self, *, devices: Selectors = (), inputs: Mapping[str, Input] | None = None, backends: Selectors = (),
              **keywords: Input) -> list[Diagnostic]:
        """The checks that need sizes, on each of the devices ("all": those that compute). All that is to be said; what is an
        error has severity "error"."""
        keep = Keep()
        names, n = keep.texts(devices)
        options = run_options(keep, self._inputs(keywords, inputs), backends, 0, True, None, False)
        with self._handle.use() as ask:
            return said_of(ask, lib.pipectl_pipeline_check, self._pointer, options, names, n, said=self._handle.ears)

    def plan(self, *, inputs: Mapping[str, Input] | None = None, backends: Selectors = (), verify: float = 0,
             memo: bool = True, gas_limit: int | None = None, **keywords: Input) -> dict[str, Any]:
        """What would run where and what it costs: the document of `pipectl --json plan`. The options are those of run."""
        keep = Keep()
        options = run_options(keep, self._inputs(keywords, inputs), backends, verify, memo, gas_limit, False)
        with self._handle.use() as ask:
            return documented(ask, lib.pipectl_pipeline_plan, self._pointer, options)

    def run(self, *, inputs: Mapping[str, Input] | None = None, backends: Selectors = (), verify: float = 0,
            memo: bool = True, gas_limit: int | None = None, receipt: bool = False, progress: Shown = None,
            write: Mapping[str, str | os.PathLike[str]] | None = None, **keywords: Input) -> Result:
        """Run on the data that the keywords give, or `inputs`.

        backends   selectors in order of preference ("vulkan", "opencl:portable"); none: the policy's order
        verify     share of jobs that the reference runs again, 0 to 1; never less than the policy's
        memo       False: nothing remembered is taken or added
        gas_limit  besides the pipeline's and the policy's
        receipt    make a signed receipt (Result.receipt)
        write      outputs that go to files, by name: bytes alone, "y.npy", "all.npz:y", "all.safetensors:y"
        progress   called with Progress; True: a line on the terminal or in the notebook
        """
        keep = Keep()
        options = run_options(keep, self._inputs(keywords, inputs), backends, verify, memo, gas_limit, receipt)
        out = ffi.new("pipectl_result **")
        with shown(progress) as told, self._handle.use(told) as ask:
            try:
                ask(lib.pipectl_pipeline_run, self._pointer, options, out)
                if write:
                    outs = [(keep.text(name), keep.text(path)) for name, path in write.items()]
                    ask(lib.pipectl_result_write, out[0], keep.keep(ffi.new("pipectl_setting[]", outs)), len(outs))
                return take_result(self._installation, ask, out[0], self._handle.ears.said)
            finally:
                lib.pipectl_result_release(out[0])

    def audit(self, *, devices: Selectors = (), inputs: Mapping[str, Input] | None = None, repeat: int = 0, quorum: int = 0,
              report: str | os.PathLike[str] | None = None, natives: bool = False, quarantine: bool = True,
              progress: Shown = None, **keywords: Input) -> dict[str, Any]:
        """Run on several devices several times and compare all outputs of all jobs. The document of `pipectl --json audit` when
        all agree; else an Error (status "mismatch") that has it.

        devices     selectors; none: all that compute and can run it
        repeat      runs a device, 0: 2
        quorum      voices that decide, 0: the policy's, or more than half
        report      a directory for the report with its page
        natives     how far the devices' own forms go from the strict ones
        quarantine  False: nobody is taken out of use
        """
        keep = Keep()
        o = new("pipectl_audit_options", repeat=repeat, quorum=quorum, report=keep.text(report))
        o.devices, o.n_devices = keep.texts(devices)
        o.inputs, o.n_inputs = input_array(keep, self._inputs(keywords, inputs))
        o.flags = (lib.PIPECTL_AUDIT_NATIVES if natives else 0) | (0 if quarantine else lib.PIPECTL_AUDIT_KEEP)
        with shown(progress) as told, self._handle.use(told) as ask:
            return documented(ask, lib.pipectl_audit, self._pointer, o)

    def resident(self, *, changing: Iterable[str], reads: Iterable[str], states: Mapping[str, str | None] | None = None,
                 sharing: Resident | None = None, inputs: Mapping[str, Input] | None = None, backends: Selectors = (),
                 verify: float = 0, gas_limit: int | None = None, memory: int = 0, history: int = 0,
                 **keywords: Input) -> Resident:
        """Keep the pipeline on a device: planned, built and recorded once, then one submission a step (Resident.step).

        changing  inputs that come with each step; they are given data here too, of which the size counts
        reads     outputs that each step gives
        states    inputs that take the bytes of outputs between steps, {"h": "h_after"}; None: read only
        sharing   a Resident whose constant inputs and states are taken, where none are given here
        verify    share of steps that the reference does again
        memory    the most bytes on the device, 0: what there is; history: of small inputs that are kept for Resident.check
        """
        return Resident(self, self._inputs(keywords, inputs), changing, states or {}, reads, sharing, backends, verify,
                        gas_limit, memory, history)

    def close(self) -> None:
        """Give it back; twice is fine."""
        self._end()

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        ports = ", ".join(f"{p.name}: {p.type}" for p in self.inputs.values())
        return f"<Pipeline {self.name}({ports}) -> {', '.join(f'{p.name}: {p.type}' for p in self.outputs.values())}>"


def said_of(ask: Any, function: Any, *args: Any, said: Any) -> list[Diagnostic]:
    """What a check says, which is no failure of the call itself. One that ended before it was done is."""
    try:
        ask(function, *args)
    except Error as e:
        if e.status in ("cancelled", "no-memory"):
            raise
    return list(said.said)
