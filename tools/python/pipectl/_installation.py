"""An installation of pipectl, opened: what everything else is made of."""
from __future__ import annotations

import contextlib
import dataclasses
import os
import weakref
from typing import IO, Any, Iterable, Iterator, Mapping, Union

import numpy

from pipectl._arrays import packed
from pipectl._chain import Chain
from pipectl._errors import Diagnostic, Error, misuse
from pipectl._handle import Handle, OnDiagnostic
from pipectl._inputs import Cid, Input, Keep, Value, split
from pipectl._library import ffi, lib, new, text
from pipectl._pipeline import Pipeline, Selectors, Shown, documented, shown
from pipectl._results import Result

Path = Union[str, "os.PathLike[str]"]

STATES = {lib.PIPECTL_DEVICE_USABLE: "usable", lib.PIPECTL_DEVICE_UNUSABLE: "unusable",
          lib.PIPECTL_DEVICE_QUARANTINED: "quarantined"}
KINDS = {lib.PIPECTL_KIND_OTHER: "other", lib.PIPECTL_KIND_REFERENCE: "reference", lib.PIPECTL_KIND_CPU: "cpu",
         lib.PIPECTL_KIND_INTEGRATED: "integrated", lib.PIPECTL_KIND_DISCRETE: "discrete"}
ROLES = {lib.PIPECTL_ROLE_REFERENCE: "reference", lib.PIPECTL_ROLE_SYNTHETIC: "synthetic", lib.PIPECTL_ROLE_INERT: "inert"}


@dataclasses.dataclass(frozen=True)
class Device:
    """A device, or a driver that could not be asked (no name, and a cause).

    selector   how it is named, "vulkan:0"
    driver     driver and version, as it says
    cause      why it is not usable, else None
    state      "usable", "unusable", "quarantined"
    kind       "reference", "cpu", "integrated", "discrete", "other"
    roles      "reference", "synthetic", "inert"
    certified  the highest level, 0 to 4, that a trusted certificate gives any integer operation on it
    """
    selector: str
    name: str | None
    driver: str | None
    backend: str
    cause: str | None
    state: str
    kind: str
    roles: frozenset[str]
    certified: int


class Installation:
    """Opened for use by one thread at a time (a second one waits); as a context manager it is closed at the end. Arrays stay.

    home, config   as --home and --config of the tool; None: as configured
    policy         a file in place of the configured policy; gas_schedule likewise
    plugin_dirs    searched after those of the configuration
    in_process     backends that allow it run in this process
    debug          backends validate what they make
    diagnostic     called with every Diagnostic as it is said
    """

    def __init__(self, *, home: Path | None = None, config: Path | None = None, policy: Path | None = None,
                 gas_schedule: Path | None = None, plugin_dirs: Iterable[Path] = (), in_process: bool = False,
                 debug: bool = False, diagnostic: OnDiagnostic | None = None):
        keep = Keep()
        options = new("pipectl_options", home=keep.text(home), config=keep.text(config), policy=keep.text(policy),
                      gas_schedule=keep.text(gas_schedule))
        options.plugin_dirs, options.n_plugin_dirs = keep.texts(plugin_dirs)
        options.flags = (lib.PIPECTL_IN_PROCESS if in_process else 0) | (lib.PIPECTL_DEBUG if debug else 0)
        self._handle = Handle(diagnostic)
        self._end = weakref.finalize(self, self._handle.close_when_free)
        self._handle.open(options)

    @property
    def _pointer(self) -> Any:
        return self._handle.out[0]

    # ---- pipelines ----

    def load(self, path: Path, params: Mapping[str, Value] | None = None, **keywords: Value) -> Pipeline:
        """Read a pipeline, a file or "REPO@REV:PATH", with its parameters set, and run every check that needs no data."""
        ins, sets = split(keywords, None, params)
        for name in ins:
            raise misuse(f'"{name}" is data, which is given to run; a pipeline is loaded with parameters alone')
        return Pipeline(self, path, sets)

    @contextlib.contextmanager
    def _loaded(self, path: Path, keywords: Mapping[str, Any], inputs: Mapping[str, Input] | None,
                params: Mapping[str, Value] | None) -> Iterator[tuple[Pipeline, dict[str, Input]]]:
        """To load and what is done with it are one call."""
        ins, sets = split(keywords, inputs, params)
        with self._handle.whole(), Pipeline(self, path, sets) as pipeline:
            yield pipeline, ins

    def run(self, path: Path, *, inputs: Mapping[str, Input] | None = None, params: Mapping[str, Value] | None = None,
            backends: Selectors = (), verify: float = 0, memo: bool = True, gas_limit: int | None = None,
            receipt: bool = False, progress: Shown = None, write: Mapping[str, Path] | None = None,
            **keywords: Input | Value) -> Result:
        """Load and run. Keywords that are data (arrays, bytes, paths, Cid, Zeros) are inputs, numbers and texts parameters;
        `inputs` and `params` are for names that are options here. The rest is as for Pipeline.run."""
        with self._loaded(path, keywords, inputs, params) as (pipeline, ins):
            return pipeline.run(inputs=ins, backends=backends, verify=verify, memo=memo, gas_limit=gas_limit, receipt=receipt,
                                progress=progress, write=write)

    def check(self, path: Path, *, devices: Selectors = (), inputs: Mapping[str, Input] | None = None,
              params: Mapping[str, Value] | None = None, backends: Selectors = (), **keywords: Input | Value) -> list[Diagnostic]:
        """All that is to be said of a pipeline, in order; no "error" among it means that it can run, as far as a check can tell.
        Sizes are checked where there is data, devices where they are named."""
        loaded = False
        try:
            with self._loaded(path, keywords, inputs, params) as (pipeline, ins):
                loaded = True
                return pipeline.diagnostics + pipeline.check(devices=devices, inputs=ins, backends=backends)
        except Error as e:
            if loaded or e.status in ("cancelled", "no-memory", "usage"):
                raise
            return e.diagnostics

    def plan(self, path: Path, *, inputs: Mapping[str, Input] | None = None, params: Mapping[str, Value] | None = None,
             backends: Selectors = (), verify: float = 0, memo: bool = True, gas_limit: int | None = None,
             **keywords: Input | Value) -> dict[str, Any]:
        """Load and plan: see Pipeline.plan."""
        with self._loaded(path, keywords, inputs, params) as (pipeline, ins):
            return pipeline.plan(inputs=ins, backends=backends, verify=verify, memo=memo, gas_limit=gas_limit)

    def audit(self, path: Path, *, devices: Selectors = (), inputs: Mapping[str, Input] | None = None,
              params: Mapping[str, Value] | None = None, repeat: int = 0, quorum: int = 0, report: Path | None = None,
              natives: bool = False, quarantine: bool = True, progress: Shown = None,
              **keywords: Input | Value) -> dict[str, Any]:
        """Load and audit: see Pipeline.audit."""
        with self._loaded(path, keywords, inputs, params) as (pipeline, ins):
            return pipeline.audit(devices=devices, inputs=ins, repeat=repeat, quorum=quorum, report=report, natives=natives,
                                  quarantine=quarantine, progress=progress)

    # ---- evidence ----

    def certify(self, device: str | None = None, level: str = "L2", *, ops: str | None = None, seed: int = 1, cases: int = 0,
                programs: int = 0, directory: Path | None = None, resume: bool = False, progress: Shown = None) -> dict[str, Any]:
        """Prove a device's arithmetic, which takes minutes to hours. The document of `pipectl --json certify` when the level
        was granted; else an Error that has it.

        device     None: the one that the policy prefers
        level      "L1" to "L4", "L1f" to "L4f", "L1a"
        ops        what to prove, as --ops; None: all
        cases      random cases a unit, programs of the generator; 0: as the tool's
        directory  where the proof is kept, to go on after a stop with resume=True; None: in the home
        """
        keep = Keep()
        o = new("pipectl_certify_options", device=keep.text(device), level=keep.text(level), ops=keep.text(ops),
                directory=keep.text(directory), seed=seed, cases=cases, programs=programs, resume=int(resume))
        with shown(progress) as told, self._handle.use(told) as ask:
            return documented(ask, lib.pipectl_certify, self._pointer, o)

    def verify_receipt(self, receipt: bytes | os.PathLike[str], *, name: str = "receipt", signer: str | None = None,
                       in_store: bool = False) -> None:
        """Check a receipt, its bytes or a file, of any kind: signature, form, trace; else an Error.

        signer    the key that it must be by
        in_store  all that it names must be in the store
        """
        if isinstance(receipt, os.PathLike):
            name = os.fspath(receipt)
            with open(receipt, "rb") as f:
                receipt = f.read()
        keep = Keep()
        with self._handle.use() as ask:
            ask(lib.pipectl_receipt_verify, self._pointer, keep.text(name), ffi.from_buffer(receipt), len(receipt),
                keep.text(signer), int(in_store))

    def devices(self) -> list[Device]:
        """All devices of all usable backends, in the order in which they are preferred; those of tests are left out."""
        out = ffi.new("pipectl_devices **")
        with self._handle.use() as ask:
            try:
                ask(lib.pipectl_devices_list, self._pointer, out)
                return [self._device(ask, out[0], i) for i in range(lib.pipectl_devices_count(out[0]))]
            finally:
                lib.pipectl_devices_release(out[0])

    @staticmethod
    def _device(ask: Any, devices: Any, i: int) -> Device:
        d = new("pipectl_device")
        ask(lib.pipectl_devices_at, devices, i, d)
        return Device(text(d.selector) or "", text(d.name), text(d.driver), text(d.backend) or "", text(d.cause), STATES[d.state],
                      KINDS.get(d.kind, "other"), frozenset(word for bit, word in ROLES.items() if d.roles & bit), d.certified)

    # ---- the store ----

    def put(self, data: bytes | bytearray | memoryview | numpy.ndarray[Any, Any] | os.PathLike[str] | IO[bytes], *,
            progress: Shown = None) -> Cid:
        """Put bytes, an array's bytes, a file, or what an opened file still gives. They are durably there when it returns."""
        if isinstance(data, os.PathLike):
            with open(data, "rb") as f:
                return self.put(f, progress=progress)
        cid = ffi.new("char[]", lib.PIPECTL_CID_SIZE)
        if hasattr(data, "fileno"):
            with shown(progress) as told, self._handle.use(told) as ask:
                ask(lib.pipectl_store_put_fd, self._pointer, data.fileno(), cid, ffi.new("uint64_t *"))
                return Cid(text(cid))
        held = ffi.from_buffer(packed(data).reshape(-1).view(numpy.uint8) if isinstance(data, numpy.ndarray) else data)
        with shown(progress) as told, self._handle.use(told) as ask:
            ask(lib.pipectl_store_put, self._pointer, held, len(held), cid)
            return Cid(text(cid))

    def get(self, cid: str, *, progress: Shown = None) -> memoryview:
        """The bytes of a blob, verified, read-only; they stay when the installation is closed."""
        keep = Keep()
        out = ffi.new("pipectl_blob **")
        with shown(progress) as told, self._handle.use(told) as ask:
            try:
                ask(lib.pipectl_store_get, self._pointer, keep.text(cid), out)
                return blob_bytes(out)
            finally:
                lib.pipectl_blob_release(out[0])

    def get_file(self, cid: str, path: Path, *, progress: Shown = None) -> None:
        """The same into a file, which is the old one or the whole new one."""
        keep = Keep()
        with shown(progress) as told, self._handle.use(told) as ask:
            ask(lib.pipectl_store_get_file, self._pointer, keep.text(cid), keep.text(path))

    def has(self, cid: str) -> bool:
        """Whether there is a blob of this name; it is not verified."""
        keep = Keep()
        found = ffi.new("uint32_t *")
        with self._handle.use() as ask:
            ask(lib.pipectl_store_has, self._pointer, keep.text(cid), found)
            return bool(found[0])

    # ---- the chain ----

    def chain(self, account: str | None = None, *, backends: Selectors = (), verify: float = 0) -> Chain:
        """Open the chain of this home; one that has none gets one.

        account   who sends the messages; None: it can only be read
        backends  devices that run the jobs of blocks, in order of preference; none: the policy's order
        verify    share of them that the reference runs again, 0 to 1; never less than the policy's
        """
        return Chain(self, account, backends, verify)

    # ---- the end ----

    def cancel(self) -> None:
        """End the call that another thread has under way, if any, with an Error of status "cancelled". From any thread. What loads and
        then runs is one call, which it ends between the two as well."""
        self._handle.cancel()

    def close(self) -> None:
        """Close it with all pipelines made of it; twice is fine. Waits for a call that another thread has under way."""
        self._handle.close()

    def __enter__(self) -> Installation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def blob_bytes(out: Any) -> memoryview:
    """A blob's bytes, whose end releases it; `out` has it no more."""
    blob, n = out[0], lib.pipectl_blob_bytes(out[0])
    if n == 0:
        return memoryview(b"")
    data = ffi.gc(ffi.cast("char *", lib.pipectl_blob_data(blob)), lambda _: lib.pipectl_blob_release(blob), n)
    out[0] = ffi.NULL
    return memoryview(ffi.buffer(data, n)).toreadonly()
