"""Element types: every one goes in and comes out as it was, and the bytes are the file's that the tool would read."""
import numpy
import pytest

import pipectl
from pipectl._arrays import DTYPES


def sample(name, shape):
    n = int(numpy.prod(shape))
    raw = numpy.random.default_rng(7).integers(0, 256, n * DTYPES[name].itemsize, dtype=numpy.uint8)
    return (raw & 1).astype(bool).reshape(shape) if name == "bool" else raw.view(DTYPES[name]).reshape(shape)


@pytest.mark.parametrize("name", DTYPES)
def test_there_and_back(installation, through, name, tmp_path):
    for kind, shape in ((f"{name}[a,b]", (3, 5)), (f"{name}[a]", (1,)), (f"{name}[a]", (0,)), (name, ())):
        given = sample(name, shape)
        result = installation.run(through(kind), x=given, backends="cpu")
        got = result.outputs["y"]
        assert got.dtype == given.dtype and got.shape == shape and got.tobytes() == given.tobytes(), kind
        packed = given.astype("<u4") if name == "bool" else given
        (tmp_path / "data").write_bytes(packed.tobytes())
        assert result.cids["y"] == installation.put(tmp_path / "data") and result.ports["y"].dtype == name
        assert not got.flags.writeable or got.size == 0


def test_the_library_knows_no_other(installation, through):
    for name in ("i128", "f8", "f128", "u3", "complex64", "string", "bfloat16", "float16"):
        path = through(f"{name}[a]")
        assert [d.code for d in installation.check(path)] == [4020], name


def test_a_type_is_held_against_the_declaration(installation, through):
    refused = 0
    for declared in DTYPES:
        for given in DTYPES:
            if given == declared:
                continue
            with pytest.raises(pipectl.Error) as e:
                installation.run(through(f"{declared}[a]"), x=sample(given, (16,)), backends="cpu")
            assert e.value.code == 4216 and f"wants {declared}[a], what was given is {given}[16]" in str(e.value)
            refused += 1
    assert refused == len(DTYPES) * (len(DTYPES) - 1)


def test_bf16_of_others_is_taken_by_its_bits(installation, through):
    ml_dtypes = numpy.dtype([("bf16", "<u2")])
    given = numpy.array([0x3f80, 0xc000], dtype="<u2").view(ml_dtypes)
    got = installation.run(through("bf16[n]"), x=given, backends="cpu").outputs["y"]
    assert ((got["bf16"].astype("<u4") << 16).view("<f4") == [1.0, -2.0]).all()


def test_data_that_changes_is_seen(installation, through):
    """The bytes that are hashed are those that were given, or the run fails; here, that nothing is kept of them after it."""
    given = numpy.arange(4, dtype="<u4")
    result = installation.run(through("u32[n]"), x=given, backends="cpu")
    given[:] = 9
    assert result.outputs["y"].tolist() == [0, 1, 2, 3]


def test_big_outputs_are_no_copy(installation, through):
    result = installation.run(through("u32[n]"), x=pipectl.Zeros(64 << 20), backends="cpu")
    first, second = result.outputs["y"], result.outputs["y"]
    assert first is second and first.nbytes == 64 << 20 and not first.any()
