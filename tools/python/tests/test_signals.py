"""Ctrl-C: a run ends with KeyboardInterrupt, no worker stays, the store is whole, and the installation can be used again."""
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import EDGES, LONG, RANK, TOOL, processes, wait_until

import pipectl
from harness import patient


def interrupt_when_busy(times=1):
    """SIGINT to this process as soon as a worker is at work."""
    def work():
        wait_until(processes)
        time.sleep(0.5)
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)

    t = threading.Thread(target=work)
    t.start()
    return t


@pytest.mark.parametrize("progress", [None, lambda p: None, True])
def test_a_run(home, progress):
    with pipectl.Installation() as opened:
        t = interrupt_when_busy()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            opened.run(RANK, progress=progress, **LONG)
        t.join()
        assert time.monotonic() - began < patient(60)
        assert opened.run(RANK, edges=EDGES, backends="cpu").verified
    assert not processes()
    assert subprocess.run([TOOL, "cas", "verify"], stdout=subprocess.PIPE).returncode == 0


def test_an_audit_and_a_proof(home, tmp_path):
    long = {k: LONG[k] for k in ("edges", "iterations")}
    with pipectl.Installation() as opened:
        for call in (lambda: opened.audit(RANK, devices=["cpu", "mock:wrap=cpu"], **long),
                     lambda: opened.certify("cpu", "L2", directory=tmp_path / "proof")):
            t = interrupt_when_busy()
            with pytest.raises(KeyboardInterrupt):
                call()
            t.join()
    assert not processes()


def test_a_terminal(home, tmp_path):
    """A program of its own in a group of its own, as a shell starts it: the signal goes to the whole group."""
    script = ("import sys, numpy, pipectl\n"
              "print('begun', flush=True)\n"
              "pipectl.run(sys.argv[1], edges=numpy.array([[0, 1]], dtype='<u4'), iterations=500000, backends='cpu', memo=False)\n")
    p = subprocess.Popen([sys.executable, "-c", script, RANK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    assert p.stdout.readline() == b"begun\n"
    wait_until(processes)
    time.sleep(0.5)
    os.killpg(p.pid, signal.SIGINT)
    _, err = p.communicate(timeout=patient(60))
    assert p.returncode == -signal.SIGINT and b"KeyboardInterrupt" in err and b"From cffi callback" not in err, err
    assert not processes()
    assert subprocess.run([TOOL, "cas", "verify"], stdout=subprocess.PIPE).returncode == 0
