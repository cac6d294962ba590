"""Diagnostics: the tool's, as objects."""
import numpy
import pytest
from conftest import EDGES, RANK

import pipectl

BAD = '''pipeline : { name = "b"; class = "integer";
  jobs = ( { id = "x"; op = "no.such@1"; in : { }; },
           { id = "x"; op = "int.popcount@1"; in : { graf = "nowhere.y"; }; } );
  outputs : { y = "nowhere.y"; };
};
'''


@pytest.fixture
def bad(tmp_path):
    path = tmp_path / "bad.pipe.cfg"
    path.write_text(BAD, encoding="utf-8")
    return path


def as_told(d):
    """A diagnostic as the tool's document has it."""
    where = d.get("position") or d
    return (int(d["code"][2:]), d["severity"], d["message"], where.get("file"), where.get("line"), where.get("column"), d.get("hint"),
            [n["message"] for n in d.get("notes") or ()])


def test_diagnostics_are_the_tools(bad, installation, tool):
    _, document = tool("check", bad)
    got = installation.check(bad)
    assert [(d.code, d.severity, d.message, d.file, d.line, d.column, d.hint, [n.message for n in d.notes]) for d in got] == \
        [as_told(d) for d in document["diagnostics"]]
    assert len(got) > 1 and any(d.notes for d in got) and any(d.hint for d in got)
    assert all(d.name and d.summary and len(d.explanation) > len(d.summary) for d in got)
    first = got[0]
    assert f"{bad}:{first.line}:{first.column}: error: PC{first.code:04} [{first.name}]: {first.message}" in str(first)
    assert first.end_column is None or first.end_column > first.column


def test_an_error_has_them_all(bad, installation):
    with pytest.raises(pipectl.Error) as e:
        installation.load(bad)
    assert e.value.diagnostics == installation.check(bad) and e.value.code == e.value.diagnostics[0].code
    assert e.value.status == "invalid" and str(e.value).count("error: PC") == len(e.value.diagnostics)


def test_they_are_told_as_they_are_said(bad, home):
    heard = []
    with pipectl.Installation(diagnostic=heard.append) as opened:
        assert opened.check(bad) == heard != []


def test_sizes_and_devices_are_checked(installation):
    assert installation.check(RANK) == []
    assert installation.check(RANK, edges=EDGES, devices="cpu") == []
    assert [d.code for d in installation.check(RANK, edges=EDGES.astype(numpy.int64))] == [4216]
    assert installation.check(RANK, edges=EDGES, devices=["null"])
    assert [d.code for d in installation.check(RANK, iteration=2)] == [4011]


def test_a_file_that_is_not_there(installation, tmp_path):
    said = installation.check(tmp_path / "none.pipe.cfg")
    assert [d.severity for d in said] == ["error"] and "none.pipe.cfg" in str(said[0])


def test_an_error_of_opening(tmp_path):
    (tmp_path / "p.cfg").write_text('policy : { memmo = "any"; };\n', encoding="utf-8")
    with pytest.raises(pipectl.Error) as e:
        pipectl.Installation(home=tmp_path, policy=tmp_path / "p.cfg")
    assert e.value.code == 1020 and "memo" in (e.value.diagnostics[0].hint or "")
    with pytest.raises(pipectl.Error):
        pipectl.Installation(home=tmp_path, config=tmp_path / "none.cfg")


def test_the_policy_is_not_passed_by(home, tmp_path):
    (tmp_path / "p.cfg").write_text('policy : { dirty = "refuse"; };\n', encoding="utf-8")
    with pipectl.Installation(policy=tmp_path / "p.cfg") as opened, pytest.raises(pipectl.Error) as e:
        opened.run(RANK, edges=EDGES)
    assert e.value.code == 6010


def test_a_plan_is_the_tools(installation, tool, tmp_path):
    (tmp_path / "edges").write_bytes(EDGES.tobytes())
    mine = tmp_path / "mine.pipe.cfg"
    mine.write_text(RANK.read_text(encoding="utf-8").replace('type = "u32[m,2]";', f'type = "u32[m,2]"; file = "{tmp_path}/edges";'),
                    encoding="utf-8")
    assert tool("plan", mine) == (0, installation.plan(mine))
    with pytest.raises(pipectl.Error) as e:
        installation.plan(mine, edges=bytes(3))
    assert e.value.document["schema"] == "pipectl.plan/1" and e.value.document["diagnostics"][0]["code"] == "PC4015"
