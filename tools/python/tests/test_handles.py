"""Lifetimes and threads: whatever is closed, dropped or collected, in whatever order and thread, nothing crashes, what is
closed says so, and what is out stays."""
import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import EDGES, LONG, RANK, processes, wait_until

import pipectl
from pipectl import tensor
from harness import patient


def refused(call):
    with pytest.raises(pipectl.Error) as e:
        call()
    assert e.value.code == 11 and e.value.status == "usage"
    return str(e.value)


def test_use_after_close(home):
    opened = pipectl.Installation()
    loaded = opened.load(RANK, iterations=2)
    result = loaded.run(edges=EDGES, backends="cpu")
    unread = loaded.run(edges=EDGES, backends="cpu")
    ranks = result.outputs["ranks"].copy()
    loaded.close()
    loaded.close()
    assert '"rank" is closed' in refused(lambda: loaded.run(edges=EDGES))
    assert "closed" in refused(lambda: loaded.check())
    other = opened.load(RANK)
    opened.close()
    opened.close()
    for call in (opened.devices, lambda: opened.load(RANK), lambda: opened.put(b""), lambda: opened.get(result.cids["ranks"]),
                 lambda: other.run(edges=EDGES), lambda: other.plan(), lambda: unread.outputs["ranks"]):
        assert "the installation is closed" in refused(call)
    other.close()
    assert (result.outputs["ranks"] == ranks).all() and unread.cids == result.cids
    assert not processes()


@pytest.mark.parametrize("order", itertools.permutations("ipra"))
def test_dropped_in_any_order(home, order):
    things = {"i": pipectl.Installation()}
    things["p"] = things["i"].load(RANK, iterations=1)
    things["r"] = things["p"].run(edges=EDGES, backends="cpu")
    things["a"] = things["r"].outputs["ranks"]
    wanted = things["a"].tolist()
    for name in order:
        del things[name]
        gc.collect()
        if "a" in things:
            assert things["a"].tolist() == wanted


@pytest.mark.parametrize("order", itertools.permutations("ipl"))
def test_closed_in_any_order(home, order):
    opened = pipectl.Installation()
    things = {"i": opened, "p": opened.load(RANK), "l": opened.load(RANK)}
    for name in order:
        things[name].close()


def test_a_cycle_is_collected(home):
    class Node:
        pass

    before = len(gc.get_objects())
    for _ in range(20):
        node = Node()
        node.installation = pipectl.Installation(diagnostic=lambda d, node=node: node)
        node.pipeline = node.installation.load(RANK)
        node.self = node
        del node
    gc.collect()
    assert len(gc.get_objects()) < before + 2000 and not processes()


def test_the_collector_in_the_middle_of_a_call(home):
    """Pipelines die in callbacks, where the handle is taken."""
    doomed = []

    def progress(_):
        if doomed:
            doomed.pop()
            gc.collect()

    with pipectl.Installation() as opened:
        doomed += [opened.load(RANK) for _ in range(3)]
        opened.run(RANK, edges=EDGES, iterations=20, backends="cpu", memo=False, progress=progress)
        assert not doomed and not opened._handle.given_back
        assert len(opened._handle.made) == 0


def test_a_callback_does_not_come_back_in(home):
    with pipectl.Installation() as opened:
        calls = []

        def progress(_):
            calls.append(refused(opened.devices))
            calls.append(refused(opened.close))

        opened.run(RANK, edges=EDGES, backends="cpu", memo=False, progress=progress)
        assert calls and "callback" in calls[0] and "callback" in calls[1]


def test_what_a_callback_raises_ends_the_call(home):
    class Mine(Exception):
        pass

    def progress(_):
        raise Mine("here")

    def diagnostic(_):
        raise Mine("there")

    with pipectl.Installation() as opened:
        began = time.monotonic()
        with pytest.raises(Mine, match="here"):
            opened.run(RANK, progress=progress, **LONG)
        assert time.monotonic() - began < patient(60)
        assert opened.run(RANK, edges=EDGES, backends="cpu").verified
    with pipectl.Installation(diagnostic=diagnostic) as opened, pytest.raises(Mine, match="there"):
        opened.load("no-such-file")


def test_one_thread_at_a_time(home):
    """Threads share an installation: each waits, and each has the right bytes."""
    with pipectl.Installation() as opened:
        wanted = {k: opened.run(RANK, edges=EDGES, iterations=k, backends="cpu").cids for k in range(4)}
        wrong, done = [], []

        def work(k):
            for _ in range(5):
                loaded = opened.load(RANK, iterations=k)
                if loaded.run(edges=EDGES, backends="cpu", memo=False).cids != wanted[k]:
                    wrong.append(k)
                done.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in wanted]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(done) == 20 and not wrong and not opened._handle.given_back


def test_two_installations_at_once(home):
    """Both runs are under way at the same time: each waits in its callback until the other one is there."""
    meet = threading.Barrier(2, timeout=600)
    met, results = [], []

    def work():
        def progress(p):
            if p.phase == "run" and threading.get_ident() not in met:
                met.append(threading.get_ident())
                meet.wait()

        with pipectl.Installation() as opened:
            results.append(opened.run(RANK, edges=EDGES, backends="cpu", memo=False, progress=progress).cids)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 2 and results[0] == results[1]


def test_others_go_on_and_can_cancel(home):
    """The interpreter is free during a run: this thread counts, and then ends it."""
    raised, runs = [], threading.Event()

    def progress(p):
        if p.phase == "run" and p.what == "iterate":
            runs.set()

    with pipectl.Installation() as opened:
        def work():
            try:
                opened.run(RANK, progress=progress, **LONG)
            except pipectl.Error as e:
                raised.append(e)

        t = threading.Thread(target=work)
        t.start()
        assert runs.wait(600)  # before that there are other calls of the library, and a cancel ends the one that is under way
        counted = 0
        while counted < 1_000_000:
            counted += 1
        assert t.is_alive()
        opened.cancel()
        t.join(timeout=300)
        assert not t.is_alive() and raised[0].status == "cancelled"
        opened.cancel()
        assert opened.run(RANK, edges=EDGES, backends="cpu").verified
    assert not processes()


def test_after_fork(home):
    """In a child the parent's installation is nobody's; the parent's goes on."""
    with pipectl.Installation() as opened:
        cids = opened.run(RANK, edges=EDGES, backends="cpu").cids
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                "fork" in refused(opened.devices) or os._exit(2)
                opened.close()
                with pipectl.Installation() as mine:
                    code = 0 if mine.run(RANK, edges=EDGES, backends="cpu").cids == cids else 3
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert opened.run(RANK, edges=EDGES, backends="cpu", memo=False).cids == cids


def test_the_end_of_the_interpreter(home):
    """Everything alive at exit, even a call of a daemon thread; nothing is left behind."""
    script = ("import sys, threading, time, numpy, pipectl\n"
              "o = pipectl.Installation(); p = o.load(sys.argv[1]); e = numpy.array([[0, 1]], dtype='<u4')\n"
              "r = p.run(edges=e, backends='cpu'); a = r.outputs['ranks']; q = pipectl.Installation()\n"
              "run = lambda: q.run(sys.argv[1], edges=e, iterations=500000, backends='cpu', memo=False)\n"
              "threading.Thread(target=run, daemon=True).start(); time.sleep(1); print(a.tolist())\n")
    done = subprocess.run([sys.executable, "-c", script, RANK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    assert done.returncode == 0 and done.stdout.strip().startswith(b"["), done
    wait_until(lambda: not processes())


@pytest.mark.parametrize("part, more", [("run", {"memo": False}), ("plan", {}), ("check", {}), ("audit", {"devices": ["cpu", "mock:wrap=cpu"]})])
def test_a_cancel_between_load_and_what_follows(home, monkeypatch, part, more):
    """What loads and then runs is one call: a cancel between the two ends it, no other thread's call comes there, and the next call
    knows nothing of it. So with Ctrl-C, and with a cancel in the last moment of the load."""
    real = getattr(pipectl.Pipeline, part)
    opened = pipectl.Installation()
    between = [opened.cancel, lambda: signal.raise_signal(signal.SIGINT)]

    def late(pipeline, **options):
        assert not opened._handle.lock.acquire(blocking=False)
        between[0]()
        return real(pipeline, **options)

    def call(status):
        with pytest.raises((pipectl.Error, KeyboardInterrupt)) as e:
            getattr(opened, part)(RANK, edges=EDGES, iterations=2, **more)
        assert status is None and e.type is KeyboardInterrupt or e.value.status == status and e.value.code == 4, e.value

    monkeypatch.setattr(pipectl.Pipeline, part, late)
    call("cancelled")
    between.pop(0)
    call(None)
    monkeypatch.undo()
    ports = pipectl.Pipeline._ports

    def last(pipeline, *args):
        opened.cancel()
        return ports(pipeline, *args)

    monkeypatch.setattr(pipectl.Pipeline, "_ports", last)
    call("cancelled")
    monkeypatch.undo()
    opened.cancel()
    assert opened.run(RANK, edges=EDGES, iterations=2, backends="cpu").verified
    opened.close()
    assert not processes()


def test_a_cancel_between_the_parts_of_a_tensor(home, monkeypatch):
    """What NumPy does between two runs is a part of the whole, too."""
    with pipectl.Installation() as opened:
        tensor.use(opened, backends="cpu")
        x = tensor.asarray(EDGES) * 2
        turned, y = x[:, ::-1], x + 1
        real = opened.run

        def late(path, **options):
            try:
                return real(path, **options)
            finally:
                opened.cancel()
        monkeypatch.setattr(opened, "run", late)
        with pytest.raises(pipectl.Error) as e:
            tensor.run(turned, y)
        assert e.value.status == "cancelled"
        monkeypatch.undo()
        assert y.numpy().tolist() == (2 * EDGES + 1).tolist() and turned.numpy().tolist() == (2 * EDGES)[:, ::-1].tolist()
