"""Pipelines that stay on a device, against plain runs and NumPy."""
import numpy
import pytest

import pipectl

TEXT = """pipeline : { name = "sums"; class = "integer";
  inputs : { x : { type = "u32[4]"; }; w : { type = "u32[4]"; }; s : { type = "u32[4]"; }; };
  jobs = ( { id = "p"; op = "int.mul@1"; in : { a = "$x"; b = "$w"; }; }, { id = "t"; op = "int.add@1"; in : { a = "p.y"; b = "$s"; }; } );
  outputs : { y = "t.y"; };
};
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "sums.pipe.cfg").write_text(TEXT)
    return tmp_path / "sums.pipe.cfg"


def test_steps(home, path):
    w = numpy.arange(1, 5, dtype=numpy.uint32)
    with pipectl.Installation(home=home) as i, i.load(path) as p:
        r = p.resident(changing=["x"], states={"s": "y"}, reads=["y"], backends="cpu", history=1 << 16, x=pipectl.Zeros(16), w=w,
                       s=pipectl.Zeros(16))
        other = p.resident(changing=["x"], states={"s": "y"}, reads=["y"], sharing=r, x=pipectl.Zeros(16))
        want = numpy.zeros(4, dtype=numpy.uint32)
        for number in range(6):
            x = numpy.full(4, number + 1, dtype=numpy.uint32)
            want = want + x * w
            step = (r, other)[number % 2].step(x=x, cids=True)
            assert step.number == number and (step.outputs["y"] == want).all()
            assert step.cids["y"].startswith("bafkrei")
        assert r.facts["steps"] == 6 and other.facts["constant_bytes"] == 0
        r.close()
        other.check(6)
        assert other.evidence(5) == "verified"
        with pytest.raises(pipectl.Error) as e:
            other.step(x=numpy.zeros(4, dtype=numpy.float32))
        assert e.value.status == "usage"
        with pytest.raises(pipectl.Error):
            other.step(y=1)
        with pytest.raises(pipectl.Error) as e:
            other.step(x=bytes(15))
        assert e.value.code == 5252
        with pytest.raises(pipectl.Error):
            r.step(x=numpy.zeros(4, dtype=numpy.uint32))
