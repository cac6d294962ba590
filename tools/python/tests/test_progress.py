"""Progress: in order, of the phases that the header names; and the line that is shown of it."""
import io
import sys
import types

from conftest import EDGES, RANK

import pipectl


def test_order(installation):
    seen = []
    installation.run(RANK, edges=EDGES, iterations=40, backends="cpu", memo=False, progress=seen.append)
    assert seen and {p.phase for p in seen} <= {"run", "probe"}
    ran = [p for p in seen if p.phase == "run" and p.stage == "run"]
    assert list(dict.fromkeys((p.job, p.what) for p in ran)) == [(1, "prepare"), (2, "iterate")]
    assert all(p.jobs == 2 and p.device == "cpu:0" for p in ran)
    ran = [p for p in ran if p.unit == "rounds"]
    for job in ("prepare", "iterate"):
        done = [(p.done, p.elapsed) for p in ran if p.what == job]
        assert done == sorted(done) and all(0 <= p.done <= p.total for p in ran if p.what == job)
    assert (ran[-1].done, ran[-1].total) == (40, 40) and {"build", "measure", "hash"} <= {p.stage for p in seen}


def test_time_passes_in_a_long_dispatch(installation):
    """A device that waits is told of while it is waited for."""
    # Longer where this process is seldom run.
    for slow in (700, 2000, 6000, 20000):
        seen = []
        installation.run(RANK, edges=EDGES, iterations=1, backends=f"mock:wrap=cpu+slow={slow}@iterate", memo=False, progress=seen.append)
        times = {p.elapsed for p in seen if p.what == "iterate" and p.done == 0}
        if len(times) > 3:
            break
    assert len(times) > 3


def test_of_the_store(installation, tmp_path):
    seen = []
    cid = installation.put(bytes(64 << 20), progress=seen.append)
    n = len(seen)
    installation.get_file(cid, tmp_path / "x", progress=seen.append)
    assert 0 < n < len(seen) and {p.phase for p in seen} == {"store"} and seen[n - 1].bytes <= 64 << 20


def test_of_audits(installation):
    seen = []
    installation.audit(RANK, edges=EDGES, devices=["cpu", "mock:wrap=cpu"], repeat=1, progress=seen.append)
    assert {p.phase for p in seen} <= {"audit", "probe"}
    assert {p.device for p in seen if p.phase == "audit"} >= {"cpu:0", "mock:wrap=cpu"}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def some(n):
    return [pipectl.Progress("run", "iterate", "cpu:0", i, n) for i in range(n + 1)]


def test_on_a_terminal():
    out = Terminal()
    with pipectl.Display(out) as show:
        for p in some(1000):
            show(p)
    lines = out.getvalue().split("\r\x1b[K")
    assert lines[-1] == "" and lines[1] == "run iterate on cpu:0: 0 of 1000" and lines[-2] == "run iterate on cpu:0: 1000 of 1000"
    assert len(lines) < 20


def test_elsewhere_nothing_is_shown():
    out = io.StringIO()
    with pipectl.Display(out) as show:
        for p in some(3):
            show(p)
    assert out.getvalue() == ""


def test_in_a_notebook(monkeypatch):
    """IPython's display where its shell has a kernel; the terminal where it has none."""
    shown = []
    cell = types.SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))

    def display(data, raw, display_id):
        assert raw and display_id
        shown.append(data["text/plain"])
        return cell

    shell = types.SimpleNamespace(kernel=object())
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    with pipectl.Display(io.StringIO()) as show:
        for p in some(2):
            show(p)
    assert shown == ["run iterate on cpu:0: 0 of 2", "run iterate on cpu:0: 2 of 2", ""]
    shell.kernel = None
    out = Terminal()
    with pipectl.Display(out) as show:
        show(some(2)[0])
    assert len(shown) == 3 and "0 of 2" in out.getvalue()


def test_true_is_the_built_in_one(installation, monkeypatch):
    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    installation.run(RANK, edges=EDGES, iterations=40, backends="cpu", memo=False, progress=True)
    assert "iterate" in out.getvalue() and out.getvalue().endswith("\r\x1b[K")


def test_a_word_for_everything():
    assert str(pipectl.Progress("probe", None, "vulkan:0", 0, None)) == "probe on vulkan:0"
    assert str(pipectl.Progress("certify", "int.add", None, 3, 9)) == "certify int.add: 3 of 9"
    assert str(pipectl.Progress("run", "j", stage="build", elapsed=2.5)) == "run j build: 2 s"
    assert str(pipectl.Progress("store", bytes=5, total_bytes=9, stage="write")) == "store write: 5 of 9 bytes"
