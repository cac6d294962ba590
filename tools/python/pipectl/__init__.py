"""pipectl: declared compute pipelines, the same bytes on every device, from NumPy arrays and back.

    import numpy, pipectl

    edges = numpy.array([[0, 1], [1, 2], [2, 0], [3, 2]], dtype=numpy.uint32)
    result = pipectl.run("rank.pipe.cfg", edges=edges, iterations=20)
    result.outputs["ranks"], result.cids["ranks"], result.evidence

The functions of this module open the installation that is configured, for one call each; an Installation stays open for
many, with a home, policy or plugins of its own. Every failure of the library is an Error."""
from __future__ import annotations

import os
from typing import Any

from pipectl._arrays import BF16, BYTES, U128
from pipectl._chain import EDGE_KINDS, Account, Block, Chain, ChainJob, Edge, GraphJob, GraphPage, Shader, Taken, Verdict
from pipectl._errors import Diagnostic, Error, Note
from pipectl._inputs import Cid, Zeros
from pipectl._installation import Device, Installation
from pipectl._library import lib, text
from pipectl._model import Generation, Model, Piece, Tokenizer
from pipectl._pipeline import Pipeline, Port
from pipectl._progress import Display, Progress
from pipectl._resident import Resident, Step
from pipectl._results import Arrays, Job, Output, Result
from pipectl import tensor

__all__ = ["Account", "Arrays", "BF16", "BYTES", "Block", "Chain", "ChainJob", "Cid", "Device", "Diagnostic", "Display",
           "EDGE_KINDS", "Edge", "Error", "Generation", "GraphJob", "GraphPage", "Installation", "Job", "Model", "Note", "Output",
           "Piece", "Pipeline", "Port", "Progress", "Resident", "Result", "Shader", "Step", "Taken", "Tokenizer", "U128", "Verdict",
           "Zeros", "audit",
           "certify", "check", "devices", "explain", "plan", "run", "tensor", "verify_receipt", "version"]

__version__ = text(lib.pipectl_version()) or ""


def version() -> str:
    """Of the library that is loaded."""
    return __version__


def explain(code: int) -> str:
    """What `pipectl explain` says of a code: 4015 for PC4015. KeyError where there is none such."""
    explanation = text(lib.pipectl_code_explanation(code))
    if explanation is None:
        raise KeyError(f"PC{code:04} is no code")
    return explanation


def run(path: str | os.PathLike[str], **keywords: Any) -> Result:
    """Run a pipeline: see Installation.run."""
    return Installation().run(path, **keywords)


def check(path: str | os.PathLike[str], **keywords: Any) -> list[Diagnostic]:
    """All that is to be said of a pipeline: see Installation.check."""
    with Installation() as installation:
        return installation.check(path, **keywords)


def plan(path: str | os.PathLike[str], **keywords: Any) -> dict[str, Any]:
    """What would run where: see Installation.plan."""
    with Installation() as installation:
        return installation.plan(path, **keywords)


def audit(path: str | os.PathLike[str], **keywords: Any) -> dict[str, Any]:
    """Compare devices: see Installation.audit."""
    with Installation() as installation:
        return installation.audit(path, **keywords)


def certify(device: str | None = None, level: str = "L2", **keywords: Any) -> dict[str, Any]:
    """Prove a device's arithmetic: see Installation.certify."""
    with Installation() as installation:
        return installation.certify(device, level, **keywords)


def verify_receipt(receipt: bytes | os.PathLike[str], **keywords: Any) -> None:
    """Check a receipt: see Installation.verify_receipt."""
    with Installation() as installation:
        installation.verify_receipt(receipt, **keywords)


def devices() -> list[Device]:
    """All devices: see Installation.devices."""
    with Installation() as installation:
        return installation.devices()
