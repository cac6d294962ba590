"""What came of a run. All but the outputs' bytes is a copy; those are read from the store when they are first asked for, and
stay as long as the arrays over them, whatever is closed or collected before."""
from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, Iterator, Mapping

from pipectl._arrays import unpacked
from pipectl._errors import Diagnostic
from pipectl._inputs import Cid
from pipectl._library import ffi, lib, new, text

if TYPE_CHECKING:
    import numpy

    from pipectl._installation import Installation


@dataclasses.dataclass(frozen=True)
class Output:
    """One output. dtype is the library's word ("u64"); evidence how the bytes stand: "verified", "quorum 2 of 3", .."""
    name: str
    cid: Cid
    dtype: str
    shape: tuple[int, ...]
    n_bytes: int
    evidence: str


@dataclasses.dataclass(frozen=True)
class Job:
    """One job, in the order in which they ran. device is None where it was remembered; not_taken says why what was remembered
    was not taken; seconds is how long it took, now or when it ran."""
    id: str
    what: str
    device: str | None
    evidence: str
    gas: int
    seconds: float
    remembered: bool
    not_taken: str | None


class Arrays(Mapping[str, "numpy.ndarray[Any, Any]"]):
    """Outputs by name, as read-only arrays."""

    def __init__(self, installation: Installation, ports: Mapping[str, Output]):
        self._installation = installation
        self._ports = ports
        self._read: dict[str, numpy.ndarray[Any, Any]] = {}

    def __getitem__(self, name: str) -> numpy.ndarray[Any, Any]:
        port = self._ports[name]
        if name not in self._read:
            self._read[name] = unpacked(self._installation.get(port.cid), port.dtype, port.shape)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ports)

    def __len__(self) -> int:
        return len(self._ports)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{p.name!r}: {p.dtype}{list(p.shape)}" for p in self._ports.values()) + "}"


class Result:
    """A run that succeeded.

    outputs      arrays by name, read-only: from the store, verified against their CIDs when first asked for
    ports        all else of the outputs, by name; cids the CIDs alone
    evidence     how the whole stands: "verified" when the reference gave these bytes, "quorum 2 of 3", "not verified", ..
    gas          as the schedule counts it
    device       that took most of it, None where the result was remembered
    seconds      0 where the policy keeps telemetry to itself
    remembered   nothing ran: the result was known
    jobs         the jobs one by one; saved_gas, saved_seconds: what those that were remembered cost when they ran
    receipt      the signed receipt, for a run with receipt=True
    document     the document of `pipectl --json run`
    diagnostics  what was said, warnings and notes
    """

    def __init__(self, installation: Installation, diagnostics: list[Diagnostic], ports: dict[str, Output], jobs: list[Job],
                 summary: Any, document: dict[str, Any], receipt: bytes | None):
        self.ports = ports
        self.cids = {name: port.cid for name, port in ports.items()}
        self.outputs = Arrays(installation, ports)
        self.evidence: str = text(summary.evidence) or ""
        self.device = text(summary.device)
        self.gas: int = summary.gas
        self.seconds: float = summary.seconds
        self.remembered = bool(summary.remembered)
        self.jobs = jobs
        self.saved_gas: int = summary.saved_gas
        self.saved_seconds: float = summary.saved_seconds
        self.document = document
        self.receipt = receipt
        self.diagnostics = diagnostics

    @property
    def verified(self) -> bool:
        """Whether the reference gave these bytes."""
        return self.evidence == "verified"

    def __repr__(self) -> str:
        return f"<Result {self.outputs!r}, gas {self.gas}, {self.evidence}>"


def output(ask: Any, r: Any, i: int) -> Output:
    o = new("pipectl_output")
    ask(lib.pipectl_result_output, r, i, o)
    return Output(text(o.name) or "", Cid(text(o.cid)), text(o.dtype) or "", tuple(o.dims[0:o.rank]), o.n_bytes,
                  text(o.evidence) or "")


def job(ask: Any, r: Any, i: int) -> Job:
    j = new("pipectl_job")
    ask(lib.pipectl_result_job, r, i, j)
    return Job(text(j.id) or "", text(j.what) or "", text(j.device), text(j.evidence) or "", j.gas, j.seconds, bool(j.remembered),
               text(j.not_taken))


def take_result(installation: Installation, ask: Any, r: Any, diagnostics: list[Diagnostic]) -> Result:
    """A copy of a pipectl_result; the caller has the handle, and releases r."""
    summary = new("pipectl_summary")
    ask(lib.pipectl_result_summary, r, summary)
    ports = [output(ask, r, i) for i in range(lib.pipectl_result_output_count(r))]
    jobs = [job(ask, r, i) for i in range(lib.pipectl_result_job_count(r))]
    n = ffi.new("uint64_t *")
    receipt = lib.pipectl_result_receipt(r, n)
    return Result(installation, diagnostics, {p.name: p for p in ports}, jobs, summary,
                  json.loads(text(lib.pipectl_result_json(r)) or "null"),
                  None if receipt == ffi.NULL else bytes(ffi.buffer(receipt, n[0])))
