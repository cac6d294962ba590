"""How far work is, and a display of it for terminals and notebooks."""
from __future__ import annotations

import dataclasses
import shutil
import sys
import time
from typing import Any, TextIO

from pipectl._library import text


@dataclasses.dataclass(frozen=True)
class Progress:
    """What a progress callback is given; None and 0 where it is not known.

    phase    "run", "audit", "certify", "store", "block", "verify" (blocks); "probe" once for each device that is looked at for the
             first time
    what     the job, or the block of a proof
    device   selector or name of the device
    done     of total, which is None where nobody knows it; unit is what they count: "rounds", "blocks", "blobs",
             "jobs"
    stage    of a job "hash", "build", "measure", "races", "run", "verify"; "prove"; "write", "read", "verify", "collect"
    bytes    of total_bytes moved; memory_bytes: of the job's buffers on its device
    elapsed  seconds since the job, the proof or the transfer began; limit: after how many it is stopped
    job      from 1, of jobs; repeat of repeats: which run of an audit
    """
    phase: str
    what: str | None = None
    device: str | None = None
    done: int = 0
    total: int | None = None
    stage: str | None = None
    unit: str | None = None
    bytes: int = 0
    total_bytes: int | None = None
    memory_bytes: int = 0
    elapsed: float = 0.0
    limit: float | None = None
    job: int = 0
    jobs: int = 0
    repeat: int = 0
    repeats: int = 0

    def __str__(self) -> str:
        stage = self.stage if self.stage != self.phase else None
        where = f" on {self.device}" if self.device else ""
        amounts = []
        if self.total:
            amounts.append(f"{self.done} of {self.total}" + (f" {self.unit}" if self.unit else ""))
        if self.bytes or self.total_bytes:
            amounts.append(f"{self.bytes} " + (f"of {self.total_bytes} " if self.total_bytes else "") + "bytes")
        if self.elapsed >= 1:
            amounts.append(f"{int(self.elapsed)} s")
        return " ".join(w for w in (self.phase, self.what, stage) if w) + where + (": " + ", ".join(amounts) if amounts else "")


def progress(p: Any) -> Progress:
    """A copy of what the progress callback is given."""
    return Progress(text(p.phase) or "", text(p.what), text(p.device), p.done, p.total or None, text(p.stage), text(p.unit), p.bytes,
                    p.total_bytes or None, p.memory_bytes, p.elapsed_ns / 1e9, p.limit_ns / 1e9 or None, p.job, p.jobs, p.repeat,
                    p.repeats)


BETWEEN = 0.1  # seconds: at most ten redraws a second


class Display:
    """Shows progress in one line: in a notebook by IPython's display, on a terminal by writing over it; elsewhere nothing.
    A context manager, which takes the line away at the end; run, audit and certify use one for progress=True."""

    def __init__(self, stream: TextIO | None = None):
        self.stream = stream or sys.stderr
        self.last = float("-inf")
        self.shown = False
        self.cell: Any = None
        self.notebook = in_notebook()
        self.terminal = not self.notebook and self.stream.isatty()

    def __call__(self, p: Progress) -> None:
        now = time.monotonic()
        if now - self.last < BETWEEN and (p.total is None or p.done < p.total):
            return
        self.last = now
        if self.notebook:
            self.show_in_cell(str(p))
        elif self.terminal:
            columns = shutil.get_terminal_size().columns
            self.stream.write(f"\r\x1b[K{str(p)[:columns - 1]}")
            self.stream.flush()
            self.shown = True

    def show_in_cell(self, line: str) -> None:
        from IPython.display import display  # type: ignore[import-not-found]

        data = {"text/plain": line}
        if self.cell is None:
            self.cell = display(data, raw=True, display_id=True)
        else:
            self.cell.update(data, raw=True)

    def close(self) -> None:
        if self.cell is not None:
            self.cell.update({"text/plain": ""}, raw=True)
            self.cell = None
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.shown = False

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this: IPython is there already, and its shell has a kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None
