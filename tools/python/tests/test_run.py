"""Runs: the tool's bytes and an oracle's, and how what is given is told apart."""
import pathlib

import graphs
import numpy
import oracle
import pytest
from conftest import EDGES, PIPELINES, RANK

import pipectl


def test_bytes_and_names_are_the_tools(installation, tool, tmp_path):
    (tmp_path / "edges").write_bytes(EDGES.tobytes())
    status, told = tool("run", RANK, "--in", f"edges={tmp_path}/edges", "--set", "iterations=20", "--backend", "cpu", "--no-memo",
                        "--out", f"ranks={tmp_path}/ranks")
    assert status == 0, told
    result = installation.run(RANK, edges=EDGES, iterations=20, backends="cpu", memo=False)
    assert result.outputs["ranks"].tobytes() == (tmp_path / "ranks").read_bytes()
    assert result.outputs["ranks"].dtype == numpy.uint64 and result.outputs["ranks"].shape == (4,)
    assert result.document["outputs"] == told["outputs"] and str(result.gas) == told["gas"]
    assert result.cids == {"ranks": told["outputs"][0]["cid"]} and isinstance(result.cids["ranks"], pipectl.Cid)
    assert result.evidence == "verified" and result.verified and result.device == "cpu:0" and not result.remembered
    port = result.ports["ranks"]
    assert (port.name, port.dtype, port.shape, port.n_bytes, port.evidence) == ("ranks", "u64", (4,), 32, "verified")
    assert [(j.id, j.device, j.evidence, j.remembered) for j in result.jobs] == \
        [(j, "cpu:0", "verified", False) for j in ("prepare", "iterate")]
    assert sum(j.gas for j in result.jobs) == result.gas and result.saved_gas == 0
    assert "u64[4]" in repr(result) and result.diagnostics == []


def test_ranks_are_the_oracles(installation):
    seen = 0
    with installation.load(RANK, nodes=0) as loaded:
        assert loaded.params["nodes"] == "0"
    for _, edges, nodes, iterations, damping in graphs.few():
        array = numpy.array(edges, dtype=numpy.uint32).reshape(-1, 2)
        ranks = installation.run(RANK, edges=array, nodes=nodes, iterations=iterations, damping_ppm=damping, backends="cpu",
                                 memo=False).outputs["ranks"]
        assert ranks.tolist() == oracle.pagerank(edges, nodes, iterations, damping)
        seen += 1
    assert seen > 1


def test_an_input_by_every_way(installation, tmp_path, monkeypatch):
    (tmp_path / "edges").write_bytes(EDGES.tobytes())
    monkeypatch.chdir(tmp_path)
    cid = installation.put(EDGES)
    ways = [EDGES, numpy.asfortranarray(EDGES), numpy.repeat(EDGES, 2, axis=1)[:, ::2], EDGES.tobytes(), bytearray(EDGES.tobytes()),
            memoryview(EDGES.tobytes()), tmp_path / "edges", type(tmp_path)("edges"), cid]
    wanted = installation.run(RANK, edges=EDGES, backends="cpu").cids
    for way in ways:
        assert installation.run(RANK, edges=way, backends="cpu").cids == wanted, way
    for source in (str(tmp_path / "edges"), str(cid)):
        assert installation.run(RANK, inputs={"edges": source}, backends="cpu").cids == wanted
    assert installation.run(RANK, inputs={"edges": EDGES}, params={"iterations": "30"}, backends=["cpu"]).cids == wanted
    assert installation.run(RANK, edges=pipectl.Zeros(16), backends="cpu").outputs["ranks"].tolist() == \
        oracle.pagerank([(0, 0), (0, 0)], 0, 30, 850000)


def test_an_output_is_the_next_input(installation, through):
    first = installation.run(through("u32[a,b,c]"), x=numpy.arange(24, dtype="<u4").reshape(2, 3, 4), backends="cpu")
    assert installation.run(through("u32[a,4]"), x=first.cids["y"], backends="cpu").outputs["y"].shape == (6, 4)
    assert installation.run(through("u32[a,b,c]"), x=first.outputs["y"], backends="cpu").cids == first.cids


def test_what_is_remembered(home, tmp_path):
    (tmp_path / "any.cfg").write_text('policy : { memo = "any"; };\n', encoding="utf-8")
    with pipectl.Installation(policy=tmp_path / "any.cfg") as opened:
        first, second = (opened.run(RANK, edges=EDGES) for _ in range(2))
        assert not first.remembered and second.remembered and second.device is None and second.cids == first.cids
        assert not opened.run(RANK, edges=EDGES, memo=False).remembered
        assert second.outputs["ranks"].shape == (4,)


def test_options_reach_the_run(installation):
    with pytest.raises(pipectl.Error) as e:
        installation.run(RANK, edges=EDGES, gas_limit=10, memo=False)
    assert e.value.status == "gas"
    with pytest.raises(pipectl.Error) as e:
        installation.run(RANK, edges=EDGES, backends="no-such-device")
    assert e.value.status in ("not-found", "plugin", "unsupported") and "no-such-device" in str(e.value)
    other = installation.run(RANK, edges=EDGES, backends="mock:wrap=cpu", memo=False)
    assert other.evidence == "not verified" and not other.verified
    checked = installation.run(RANK, edges=EDGES, backends="mock:wrap=cpu", verify=1, memo=False)
    assert checked.verified and checked.cids == other.cids


def test_a_device_that_lies_is_refused(installation):
    with pytest.raises(pipectl.Error) as e:
        installation.run(RANK, edges=EDGES, backends="mock:wrap=cpu+flip-bit@iterate/4:element=3:bit=7", verify=1, memo=False)
    assert e.value.status == "mismatch" and e.value.code == 5208


def test_refusals_say_what_and_where(installation):
    def refused(code, **keywords):
        with pytest.raises(pipectl.Error) as e:
            installation.run(RANK, backends="cpu", **keywords)
        assert e.value.code == code, e.value
        return e.value.diagnostics[-1]

    d = refused(4216, edges=EDGES.astype(numpy.int64))
    assert d.message == 'input "edges" wants u32[m,2], what was given is i64[4,2]' and d.file == str(RANK) and d.line > 0
    assert "u32[m,2], what was given is u32[8]" in refused(4217, edges=EDGES.reshape(-1)).message
    assert "u32[m,2], what was given is u32[4,1]" in refused(4217, edges=EDGES[:, :1]).message
    assert "13 bytes" in refused(4015, edges=bytes(13)).message
    assert '"edges" has no data' in refused(4014).message
    d = refused(4013, edges=EDGES, edge=EDGES)
    assert "edge" in d.message and "edges" in d.hint
    d = refused(4011, edges=EDGES, iteration=3)
    assert "iterations" in d.hint
    refused(4012, edges=EDGES, iterations="many")
    refused(4012, edges=EDGES, iterations=-1)
    assert ">u4" in refused(11, edges=EDGES.astype(">u4")).message
    assert "complex128" in refused(11, edges=EDGES.astype(complex)).message
    assert "a list" in refused(11, edges=EDGES.tolist()).message
    assert "twice" in refused(11, edges=EDGES, inputs={"edges": EDGES}).message
    refused(11, edges=memoryview(EDGES.tobytes())[::2])
    refused(11, edges=EDGES, verify=1.5)
    with pytest.raises(pipectl.Error) as e:
        installation.run("no\0file")
    assert e.value.code == 11
    with installation.load(RANK) as loaded, pytest.raises(pipectl.Error) as e:
        loaded.run(edges=EDGES, iterations=3)
    assert e.value.code == 11 and "iterations" in str(e.value)
    with pytest.raises(pipectl.Error) as e:
        installation.load(RANK, edges=EDGES)
    assert e.value.code == 11


def test_an_input_of_any_shape_has_that_of_the_array(installation, through):
    assert installation.run(through("u32[...]"), x=EDGES.reshape(-1), backends="cpu").outputs["y"].shape == (8,)
    assert installation.run(through("u32[...]"), x=EDGES, backends="cpu").outputs["y"].shape == EDGES.shape


def test_files_of_tensors(installation, through, tmp_path):
    numpy.savez(tmp_path / "x.npz", edges=EDGES, other=EDGES + 1)
    where = pathlib.Path(f"{tmp_path}/x.npz:edges")
    result = installation.run(through("u32[m,2]"), x=where, backends="cpu", write={"y": tmp_path / "y.npy"})
    assert (result.outputs["y"] == EDGES).all() and (numpy.load(tmp_path / "y.npy") == EDGES).all()
    for kind, code in (("i32[m,2]", 4216), ("u32[m,3]", 4217)):
        with pytest.raises(pipectl.Error) as e:
            installation.run(through(kind), x=where, backends="cpu")
        assert e.value.code == code
    for write, code in (({"z": "z.npy"}, 4013), ({"y": tmp_path / "y.gguf"}, 4214)):
        with pytest.raises(pipectl.Error) as e:
            installation.run(through("u32[m,2]"), x=where, backends="cpu", write=write)
        assert e.value.code == code and not (tmp_path / "y.gguf").exists()


def test_functions_of_the_module(home):
    result = pipectl.run(RANK, edges=EDGES, iterations=2, backends="cpu")
    assert result.outputs["ranks"].tolist() == oracle.pagerank(EDGES.tolist(), 0, 2, 850000)
    assert pipectl.check(RANK) == []
    assert pipectl.plan(RANK, edges=EDGES, backends="cpu")["schema"] == "pipectl.plan/1"
    assert pipectl.version() == pipectl.__version__ and "truncated" in pipectl.explain(4015)
    with pytest.raises(KeyError):
        pipectl.explain(9999)


def test_what_a_pipeline_declares(installation):
    with installation.load(RANK, iterations=7) as loaded:
        assert loaded.name == "rank" and loaded.params == {"nodes": "0", "iterations": "7", "damping_ppm": "850000"}
        assert loaded.inputs == {"edges": pipectl.Port("edges", "u32[m,2]")} and loaded.outputs["ranks"].type.startswith("u64[")
        assert repr(loaded).startswith("<Pipeline rank(edges: u32[m,2])")


def test_every_shipped_pipeline_loads(home):
    seen = 0
    with pipectl.Installation(policy=PIPELINES / "../conf/policy/approximate.cfg") as opened:
        for path in sorted(PIPELINES.glob("*.pipe.cfg")):
            with opened.load(path) as loaded:
                seen += bool(loaded.outputs)
    assert seen > 8
