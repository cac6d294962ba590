"""Many runs: memory, descriptors and threads stay where they were. The measure is shown to see a leak."""
import gc
import os
import threading

from conftest import EDGES, RANK

import pipectl

ROUNDS = 60
BOUND = 4 << 20


def resident():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def measured(work):
    """Growth of memory over ROUNDS, after as many to warm up, and of descriptors."""
    for _ in range(ROUNDS):
        work()
    memory, files, threads = resident(), len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(ROUNDS):
        work()
    assert threading.active_count() == threads
    return resident() - memory, len(os.listdir("/proc/self/fd")) - files


def test_runs_and_refusals(home, through):
    path = through("u32[n]")
    with pipectl.Installation(in_process=True) as opened:
        def work():
            result = opened.run(RANK, edges=EDGES, iterations=1, backends="cpu", memo=False, receipt=True)
            assert result.outputs["ranks"].sum() > 0
            opened.check(RANK, iteration=1)
            assert opened.run(path, x=pipectl.Zeros(2 << 20), backends="cpu", memo=False).outputs["y"].sum() == 0
            opened.get(opened.put(bytes(2 << 20)))

        memory, files = measured(work)
    assert memory < BOUND and files == 0


def test_installations(home):
    def work():
        with pipectl.Installation() as opened:
            opened.load(RANK)

    memory, files = measured(work)
    assert memory < BOUND and files == 0


def test_a_leak_would_be_seen(home):
    kept = []
    with pipectl.Installation() as opened:
        cid = opened.put(bytes(2 << 20))
        memory, _ = measured(lambda: kept.append(bytes(opened.get(cid))))
    assert memory > BOUND
