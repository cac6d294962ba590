"""pipectl.tensor against NumPy: one run for a whole expression, every op by its name, shapes, buffers, DLPack."""
import array

import numpy
import pytest

import pipectl
from pipectl import tensor as t

RNG = numpy.random.default_rng(11)


@pytest.fixture(autouse=True)
def runtime(installation):
    yield t.use(installation, backends="cpu")
    t._state.runtime = None


def ints(*shape):
    return RNG.integers(-50, 50, shape).astype(numpy.int32)


def test_an_expression_is_one_run(monkeypatch, installation):
    runs = []
    run = type(installation).run
    monkeypatch.setattr(type(installation), "run", lambda self, *a, **k: runs.append(1) or run(self, *a, **k))
    a, b, c = ints(3, 4), ints(4, 5), ints(3, 5)
    y = t.asarray(a) @ b + c
    z = y * 2
    assert runs == []
    assert (z.numpy() == 2 * (a @ b + c)).all() and len(runs) == 1
    assert z.numpy() is z.numpy() and len(runs) == 1
    assert (y.numpy() == a @ b + c).all() and y.cid.startswith("bafkrei") and z.cid != y.cid
    with pytest.raises(ValueError):
        z.numpy()[0, 0] = 1


def test_operators():
    a, b = ints(4, 6), ints(4, 6) | 1
    x, y = t.asarray(a), t.asarray(b)
    for ours, theirs in ((x + y, a + b), (x - y, a - b), (x * y, a * b), (x & y, a & b), (x | y, a | b), (x ^ y, a ^ b), (-x, -a)):
        assert ours.numpy().dtype == theirs.dtype and (ours.numpy() == theirs).all()
    for ours, theirs in ((x == y, a == b), (x != y, a != b), (x < y, a < b), (x <= y, a <= b), (x > y, a > b), (x >= y, a >= b)):
        assert (ours.numpy().astype(bool) == theirs).all()
    f, g = RNG.standard_normal((3, 5), dtype=numpy.float32), RNG.standard_normal((3, 5), dtype=numpy.float32)
    for ours, theirs in ((t.asarray(f) + g, f + g), (f - t.asarray(g), f - g), (t.asarray(f) * g, f * g), (t.asarray(f) / g, f / g),
                         (1 / t.asarray(f), numpy.float32(1) / f), (t.sqrt(abs(t.asarray(f))), numpy.sqrt(abs(f)))):
        assert ours.numpy().tobytes() == theirs.tobytes()


def test_shapes_are_brought_together():
    a, row, column = ints(3, 4), ints(4), ints(3, 1)
    assert (t.asarray(a) + row == t.asarray(a + row)).numpy().all()
    assert ((t.asarray(a) * column) - 3).numpy().tolist() == (a * column - 3).tolist()
    y = t.asarray(a) + a
    assert ((y + row).numpy() == 2 * a + row).all()
    with pytest.raises(ValueError):
        t.asarray(a) + ints(5)


def test_reductions_and_shapes():
    a = ints(3, 4, 5)
    x = t.asarray(a) + 0
    assert x.shape == (3, 4, 5) and x.dtype == "i32" and x.ndim == 3 and x.size == 60 and len(x) == 3
    assert x.sum().numpy() == a.sum() and (x.sum(axis=1).numpy() == a.sum(axis=1)).all()
    assert (x.sum(axis=(0, 2), keepdims=True).numpy() == a.sum(axis=(0, 2), keepdims=True)).all()
    f = RNG.integers(-8, 8, (4, 8)).astype(numpy.float32)
    assert (t.mean(t.asarray(f), axis=-1).numpy() == f.mean(axis=-1)).all()
    assert (x.reshape(12, 5).numpy() == a.reshape(12, 5)).all() and (x.reshape((-1,)).numpy() == a.reshape(-1)).all()
    assert (x.transpose(2, 0, 1).numpy() == a.transpose(2, 0, 1)).all() and (x.T.numpy() == a.T).all()
    assert (x[1:, ::2].numpy() == a[1:, ::2]).all() and (x[0].numpy() == a[0]).all() and x[1, 2, 3].item() == a[1, 2, 3]
    assert ((x.T + 1).numpy() == a.T + 1).all()


def test_nothing():
    none = numpy.zeros((0, 4), numpy.float32)
    assert (t.asarray(none) + 1).shape == (0, 4) and (t.asarray(none) + 1).numpy().shape == (0, 4)
    assert t.asarray(none).sum(axis=0).tolist() == [0.0] * 4
    assert t.matmul(numpy.zeros((2, 0), numpy.float32), numpy.zeros((0, 3), numpy.float32)).tolist() == [[0.0] * 3] * 2


def test_integers_of_64_bits():
    a = numpy.array([2**62, -2**63, 5, -1], numpy.int64)
    assert (t.asarray(a) + a).tolist() == (a + a).tolist() and (t.asarray(a) * 3 - a).tolist() == (a * 3 - a).tolist()
    assert (t.asarray(a) < a[::-1].copy()).tolist() == [0, 1, 0, 1]


def test_doubles():
    """What computes with f64 is chosen by the operands' type, and is exact: the sum of these loses nothing."""
    x = numpy.array([[1e16, 1.0, -1e16], [0.5, 0.25, 3.0]])
    a = t.asarray(x)
    assert (a.sum(axis=1).numpy() == [1.0, 3.75]).all() and t.sum(x).item() == 4.75
    assert (a @ a.T).numpy()[1, 0] == 0.5e16 + 0.25 - 3e16 and (x @ a.transpose()).dtype == "f64"
    assert ((a * 2.0 + a) / 3.0).dtype == "f64" and (abs(-a).max().item(), a.argmax(axis=1).tolist()) == (1e16, [0, 2])
    assert (a > 0.5).tolist() == [[1, 1, 0], [0, 0, 1]]
    assert t.convert(t.asarray([1.5, 2.5]), to="f64").sum().item() == 4.0
    assert (t.sum(numpy.float32([1, 2])).dtype, t.max(numpy.int32([1, 2])).item()) == ("f32", 2)
    with pytest.raises(pipectl.Error):
        t.softmax(a, axis=1).numpy()  # refused by name: nothing is converted


def test_every_op_by_name():
    names = t.ops()
    assert {"tensor.matmul", "int.add", "ieee.add"} <= set(names) and names["tensor.matmul"].inputs == ("a", "b")
    assert "order" in names["tensor.matmul"].attributes and "matmul" in dir(t)
    a = RNG.standard_normal((4, 3), dtype=numpy.float32)
    y = t.op("tensor.matmul@1", a, a, transpose_a=True, order="sequential")
    assert y.shape == (3, 3) and y.dtype == "f32"
    keys = numpy.array([3, 1, 2], numpy.uint32)
    sorted_keys, payloads = t.sort_pairs(keys, numpy.arange(3, dtype=numpy.uint32))
    t.run(sorted_keys, payloads)
    assert sorted_keys.tolist() == [1, 2, 3] and payloads.tolist() == [1, 2, 0]
    half = t.convert(a, to="f16").numpy()
    assert half.dtype == numpy.float16 and half.tobytes() == a.astype(numpy.float16).tobytes()
    packed = t.convert(ints(7) % 8, to="i4")
    assert packed.dtype == "i4" and t.convert(packed, to="i32").dtype == "i32"
    with pytest.raises(AttributeError, match="no such_thing"):
        t.such_thing
    with pytest.raises(pipectl.Error) as e:
        t.op("tensor.nothing", a)
    assert e.value.code == 11
    with pytest.raises(pipectl.Error) as e:
        t.op("tensor.matmul", a)
    assert "2 inputs" in str(e.value)
    with pytest.raises(pipectl.Error) as e:
        (t.asarray(a) @ a).numpy()
    assert e.value.code == 4201


def test_buffers_and_dlpack():
    a = RNG.standard_normal((2, 3), dtype=numpy.float32)
    x = t.from_dlpack(a)
    assert numpy.shares_memory(x.numpy(), a)
    y = x + x
    assert y.__dlpack_device__() == (1, 0) and (numpy.from_dlpack(y) == 2 * a).all()
    assert (numpy.asarray(y) == 2 * a).all() and bytes(y) == (2 * a).tobytes()
    assert y.data.shape == (2, 3) and y.data.readonly and y.data.format == "f"
    z = t.asarray(array.array("i", [1, 2, 3])) + memoryview(numpy.arange(3, dtype=numpy.int32))
    assert z.tolist() == [1, 3, 5]
    assert t.asarray([1, 2]).dtype == "i32" and t.asarray(1.5).dtype == "f32" and t.asarray(numpy.float64(1)).dtype == "f64"


def test_lists():
    a, b, c = ints(2, 3), ints(2, 1), ints(2, 3)
    y = t.asarray(a) + c
    assert (t.concat([a, b, y], axis=1).numpy() == numpy.concatenate([a, b, a + c], axis=1)).all()
    assert (t.stack((a, y), axis=0).numpy() == numpy.stack([a, a + c])).all()
    assert (t.einsum([t.asarray(a), c], equation="ij,ij->i").numpy() == (a * c).sum(axis=1)).all()
    assert (t.asarray([[1, 2], [3, 4]]) + 1).tolist() == [[2, 3], [4, 5]]  # numbers are one tensor
    for wrong in (lambda: t.concat(a, c), lambda: t.sum([a, c])):
        with pytest.raises(pipectl.Error):
            wrong().numpy()


def test_views_of_types_that_numpy_has_not():
    a = RNG.integers(-8, 8, (5, 6)).astype(numpy.int32)
    x = t.convert(a, to="i4")
    for ours, theirs in ((x.T, a.T), (x[1:, ::2], a[1:, ::2]), (x.reshape(2, 15), a.reshape(2, 15)), (t.sort(x, axis=0), numpy.sort(a, axis=0))):
        assert ours.dtype == "i4" and ours.shape == theirs.shape and (t.convert(ours, to="i32").numpy() == theirs).all()


def test_numbers_become_no_others():
    i, u, f, h = (numpy.arange(3).astype(k) for k in ("<i4", "<u4", "<f4", "<f2"))
    for wrong in (lambda: t.asarray(i) + 2**40, lambda: t.asarray(i) + 2.5, lambda: t.asarray(u) + -1, lambda: t.asarray(i) * float("nan"), lambda: t.asarray(f) * 1e300,
                  lambda: t.asarray(h) + 70000, lambda: t.asarray([1, 2], dtype="i4"), lambda: t.asarray([1, 2], dtype="bf16"), lambda: t.op("tensor.sum@9", f)):
        with pytest.raises(pipectl.Error):
            wrong()
    assert (t.asarray(i) * 2.0 - True).tolist() == [-1, 1, 3] and (t.asarray([2**40]) + 1).tolist() == [2**40 + 1]
    assert numpy.isnan((t.asarray(f) * float("nan")).numpy()).all() and (t.asarray(f) + float("inf")).tolist() == [numpy.inf] * 3
    # of bf16: to the nearest once, ties to even, also where an f32 would lie in the middle
    half = t.convert(numpy.ones(1, numpy.float32), to="bf16")
    for number, bits in ((2, 0x4000), (-0.0, 0x8000), (1 + 2**-8, 0x3f80), (1 + 3 * 2**-8, 0x3f82), (1 + 2**-8 + 2**-40, 0x3f81), (1 + 2**-8 - 2**-40, 0x3f80), (2**-133 * 1.5, 2), (2**-134, 0)):
        assert t._number(number, "bf16")["bf16"] == bits, (number, hex(bits))
    assert t.convert(half * 2 + 0.5, to="f32").tolist() == [2.5]
    assert t.op("tensor.sum@1", f).item() == 3


def test_capsules_that_cannot_be():
    y = t.asarray(ints(3)) + 1
    assert (numpy.from_dlpack(y) == y.numpy()).all()
    for wrong in ({"dl_device": (2, 0)}, {"copy": False}):
        with pytest.raises(BufferError):
            y.__dlpack__(**wrong)
    for fine in ({"dl_device": (1, 0)}, {"copy": True}, {"max_version": (1, 0)}):
        assert y.__dlpack__(**fine) is not None
    assert y.__array__(copy=True) is not y.numpy() and y.__array__(copy=False) is y.numpy()
    with pytest.raises(ValueError):
        y.__array__(numpy.float64, copy=False)


def test_files(tmp_path):
    a = ints(3, 4)
    numpy.savez(tmp_path / "w.npz", a=a, b=a + 1)
    y = t.asarray(tmp_path / "w.npz:a") + t.asarray(tmp_path / "w.npz:b")
    assert y.tolist() == (2 * a + 1).tolist()
    x = t.asarray(tmp_path / "w.npz:a")
    assert x.dtype == "i32" and x.shape == (3, 4) and (x.numpy() == a).all()
    for name, code in (("w.npz:c", 4215), ("w.npz", 4215), ("w.bin", 4212)):
        with pytest.raises(pipectl.Error) as e:
            t.asarray(tmp_path / name).shape
        assert e.value.code == code
