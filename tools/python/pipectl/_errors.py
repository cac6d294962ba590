"""What the library says: diagnostics, and the one exception of this package."""
from __future__ import annotations

import dataclasses
from typing import Any

from pipectl._library import ffi, lib, text

SEVERITIES = {lib.PCTL_SEVERITY_NOTE: "note", lib.PCTL_SEVERITY_WARNING: "warning", lib.PCTL_SEVERITY_ERROR: "error"}


def place(file, line, column):
    return (f"{file}:{line}:{column}" if line else file) if file else None


@dataclasses.dataclass(frozen=True)
class Note:
    """A further place that explains a diagnostic; file is None where the message stands alone."""
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    end_column: int | None = None


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong, or worth knowing.

    code      number of the code, 4102 for PC4102
    severity  "error", "warning" or "note"
    file      with line and column from 1 and end_column one past the last byte marked; None: no position
    subject   the job, port, plugin or device spoken of
    hint      what to do about it
    plugin    the plugin that says so
    """
    code: int
    severity: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    end_column: int | None = None
    subject: str | None = None
    hint: str | None = None
    plugin: str | None = None
    notes: tuple[Note, ...] = ()

    @property
    def name(self) -> str:
        """The short name of the code, "edge-type"."""
        return text(lib.pipectl_code_name(self.code)) or ""

    @property
    def summary(self) -> str:
        """The code in one line."""
        return text(lib.pipectl_code_summary(self.code)) or ""

    @property
    def explanation(self) -> str:
        """What `pipectl explain` says of the code."""
        return text(lib.pipectl_code_explanation(self.code)) or ""

    def __str__(self) -> str:
        where = place(self.file, self.line, self.column)
        lines = [f"{where + ': ' if where else ''}{self.severity}: PC{self.code:04} [{self.name}]: {self.message}"]
        for note in self.notes:
            at = place(note.file, note.line, note.column)
            lines.append(f"{at + ': ' if at else ''}note: {note.message}")
        if self.hint:
            lines.append(f"   hint: {self.hint}")
        return "\n".join(lines)


def position(pos) -> dict[str, Any]:
    return {"file": text(pos.file), "line": pos.line or None, "column": pos.column or None, "end_column": pos.end_column or None}


def diagnostic(d) -> Diagnostic:
    """A copy of what the diagnostic callback is given."""
    notes = tuple(Note(text(d.notes[i].message) or "", **position(d.notes[i].pos)) for i in range(d.n_notes))
    return Diagnostic(d.code, SEVERITIES.get(d.severity, "error"), text(d.message) or "", subject=text(d.subject),
                      hint=text(d.hint), plugin=text(d.plugin), notes=notes, **position(d.pos))


class Error(Exception):
    """A call that did not succeed.

    status       the class of the failure by name: "invalid", "mismatch", "store", "cancelled", ..
    code         of the first error, 4015 for PC4015
    diagnostics  all that was said, in order
    document     what an audit, a proof or a plan gives all the same, else None
    """

    def __init__(self, status: str, diagnostics: list[Diagnostic], document: dict[str, Any] | None = None):
        self.status = status
        self.diagnostics = diagnostics
        self.document = document
        self.code = next((d.code for d in diagnostics if d.severity == "error"), lib.PC1_INTERNAL)
        super().__init__(status, diagnostics, document)

    def __str__(self) -> str:
        return "\n".join(str(d) for d in self.diagnostics) or self.status


def failure(status: int, diagnostics: list[Diagnostic], document: dict[str, Any] | None = None) -> Error:
    return Error(text(lib.pipectl_status_name(status)), diagnostics, document)


def misuse(message: str, hint: str | None = None) -> Error:
    """What the caller did wrong, seen before the library is asked: PC0011, as the library itself says it."""
    return failure(lib.PCTL_E_USAGE, [Diagnostic(lib.PC11_API_USE, "error", message, hint=hint)])


def cancelled() -> Error:
    """A cancel that came while the library was not asked anything: PC0004, as the library itself says it."""
    return failure(lib.PCTL_E_CANCELLED, [Diagnostic(lib.PC4_CANCELLED, "error", "cancelled")])


__all__ = ["Diagnostic", "Error", "Note", "cancelled", "diagnostic", "failure", "ffi", "misuse"]
