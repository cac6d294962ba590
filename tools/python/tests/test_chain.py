"""The chain: one whole story held to the tool, what differs, what is refused, and its progress."""
import re
import sqlite3

import numpy
import pytest

import pipectl
from conftest import PREFIX

N = 128
STARTS = numpy.arange(N, dtype=numpy.uint32)
SHADER = """//# max dispatch = 64,1,1
@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(1) @binding(0) var<storage, read_write> steps: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var x = starts[id.x];
  var n = 0u;
  for (var i = 0u; i < 64u; i++) {
    if (x <= 1u) { break; }
    x = select(x >> 1u, 3u * x + 1u, (x & 1u) == 1u);
    n++;
  }
  steps[id.x] = n;
}
"""
PIPE = """pipeline : { name = "walk"; class = "integer";
  inputs : { starts : { type = "u32[n]"; }; };
  jobs = ( { id = "walk"; shader = "walk.wgsl"; dispatch = ( "n/64" ); in : { starts = "$starts"; };
             out : { steps = "u32[n]"; }; } );
  outputs : { steps = "walk.steps"; };
};
"""


@pytest.fixture
def chain(installation):
    with installation.chain("ann", backends="cpu") as opened:
        opened.credit(10_000_000)
        yield opened


def test_a_story(installation, chain, tool, tmp_path):
    shader = chain.upload(SHADER, description="steps of the Collatz map", tags=["walk", "demo"])
    assert tool("shader", "show", shader.cid)[1]["cost_per_workgroup"] == str(shader.cost_per_workgroup)
    blob = installation.put(STARTS)
    # Uniforms are for a shader that has them.
    with pytest.raises(pipectl.Error) as e:
        chain.submit(shader.cid, blob, dispatch=2, gas_limit=1_000_000, output_bytes=4 * N, uniform=b"\xa0")
    assert e.value.code == 5813
    job = chain.submit(shader.cid, blob, dispatch=2, gas_limit=1_000_000, output_bytes=4 * N)
    child = chain.submit(shader.cid, f"job:{job.id}", dispatch=(2, 1), gas_limit=1_000_000, output_bytes=4 * N, parents=[job.id])
    assert (job.state, job.output, job.ended, child.clock) == ("pending", None, None, job.clock + 1)
    assert [j.id for j in chain.jobs(sender="ann", state="pending")] == [child.id, job.id]
    (tmp_path / "walk.wgsl").write_text(SHADER, encoding="utf-8")
    (tmp_path / "walk.pipe.cfg").write_text(PIPE, encoding="utf-8")
    with installation.load(tmp_path / "walk.pipe.cfg") as walk:
        (third,) = chain.submit_pipeline(walk, inputs={"starts": blob}, gas_limit=1_000_000)
    assert third.name == "walk" and chain.balance().reserved == 3_000_000 > job.gas + child.gas + third.gas

    said = []
    block = chain.end_block("bob", progress=said.append)
    assert {(p.phase, p.unit, p.total) for p in said if p.phase == "block"} == {("block", "jobs", 3)} and said[-1].done == 3
    assert (block.height, block.complete, block.failed, block.executor) == (1, 3, 0, "bob") == \
        (chain.block().height, chain.block(1).complete, 0, chain.block(1).executor)
    shown = tool("block", "show", 1)[1]
    assert (shown["commit"], shown["state_root"], shown["gas"]) == (block.commit, block.state_root, str(block.gas))
    assert [j["job"] for j in shown["jobs"]] == [j.id for j in chain.jobs_of_block()]
    assert chain.balance("ann").balance == 10_000_000 - block.gas and chain.balance().reserved == 0

    done = chain.job(job.id)
    assert (done.state, done.ended, done.output_bytes) == ("complete", 1, 4 * N)
    assert done.output == chain.job("job:" + third.id).output
    # What `shader run` gives of the same shader and data.
    (tmp_path / "starts").write_bytes(STARTS.tobytes())
    status, said = tool("shader", "run", tmp_path / "walk.wgsl", "--dispatch", "2", "--bind", f"0:0={tmp_path / 'starts'}",
                        "--bind", f"1:0=zero:{4 * N}", "--read", f"1:0={tmp_path / 'steps'}", "--backend", "cpu")
    assert status == 0, said
    assert bytes(installation.get(done.output)) == (tmp_path / "steps").read_bytes()

    verdict = chain.verify(1)
    assert verdict.agreed and verdict.code is None and (verdict.blocks, verdict.executed) == (1, 3)
    with pytest.raises(pipectl.Error) as e:
        chain.verify(1, 2)
    assert e.value.code == 5852


def test_what_differs(chain, home):
    chain.upload(SHADER)
    chain.end_block()
    with sqlite3.connect(home / "chain/state.sqlite") as db:
        db.execute("UPDATE shaders SET description = 'planted'")
    db.close()
    verdict = chain.verify(1)
    assert not verdict.agreed and verdict.code == 5857 and "planted" in verdict.difference


def test_refusals(installation, chain):
    blob = installation.put(STARTS)
    shader = chain.upload(SHADER).cid
    work = {"dispatch": 2, "gas_limit": 1_000_000, "output_bytes": 4 * N}
    for code, args, more in [(5804, (blob, blob), {}), (5822, ("none", blob), {}), (5818, (shader, blob), {"gas_limit": 10}),
                             (5713, (shader, blob), {"gas_limit": 10**12}), (5801, (shader, blob), {"parents": ["1" * 64]}),
                             (5811, (shader, blob), {"bindings": {(0, 3): blob}}), (2041, (shader, blob), {"overrides": {"k": 1}}),
                             (11, (shader, blob), {"dispatch": (1, 1, 1, 1)})]:
        with pytest.raises(pipectl.Error) as e:
            chain.submit(*args, **{**work, **more})
        assert e.value.code == code, e.value
    with installation.chain() as reader:
        assert reader.balance("ann").name == "ann"
        with pytest.raises(pipectl.Error) as e:
            reader.credit(1)
        assert e.value.code == 11
    with pytest.raises(pipectl.Error) as e:
        reader.balance("ann")
    assert e.value.code == 11
    with pytest.raises(pipectl.Error):
        chain.jobs(state="lost")


def test_a_cancelled_end(installation, chain):
    blob = installation.put(STARTS)
    job = chain.submit(chain.upload(SHADER).cid, blob, dispatch=2, gas_limit=1_000_000, output_bytes=4 * N)

    def stop(_):
        installation.cancel()
    with pytest.raises(pipectl.Error) as e:
        chain.end_block(progress=stop)
    assert e.value.status == "cancelled" and chain.job(job.id).state == "pending"
    assert chain.end_block().complete == 1


def as_the_tool(page, document):
    """What of a page the tool's document has, in its words."""
    none = {None: ""}
    assert page.height == int(document["height"]) and page.cut == int(document["cut"]) and page.next.hex() == document["next"]
    assert [(e.number, e.kind, e.source, e.target, none.get(e.via, e.via), none.get(e.job, e.job), e.height, e.clock, e.gone) for e in page.edges] == \
        [(int(e["number"]), e["kind"], e["source"], e["target"], e["via"], e["job"], int(e["block"]), int(e["clock"]), e["gone"]) for e in document.get("edges", [])]
    assert [(j.id, j.state, j.sender, j.shader, none.get(j.output, j.output), none.get(j.error, j.error), j.gas_used, j.clock, j.height, j.ended or 0,
             [(t.kind, t.name, none.get(t.maker, t.maker)) for t in j.inputs]) for j in page.jobs] == \
        [(j["job"], j["state"], j["sender"], j["shader"], j["output"], j["error"], int(j["gas_used"]), int(j["clock"]), int(j["block"]), int(j["ended"]),
          [(t["kind"], t["name"], t["maker"]) for t in j["inputs"]]) for j in document.get("jobs", [])]
    return page


def test_the_graph(home, tool):
    """Every question, under version 2 of the rules with ranks, held to the tool; and what is refused."""
    (home / "chain").mkdir(exist_ok=True)
    params = next(PREFIX.rglob("chain/params.cfg")).read_text(encoding="utf-8")
    for key, value in dict(rules=2, epoch_blocks=1, epoch_iterations=2, epoch_links=10, fee_ppm=0).items():
        params, n = re.subn(rf'(\n *{key} = )"\w+"', rf'\1"{value}"', params)
        assert n == 1, key
    (home / "chain/params.cfg").write_text(params, encoding="utf-8")
    key = tool("key", "new", "ann", "--no-passphrase")[1]["keys"][0]["key"]
    (home / "chain/genesis.cfg").write_text(f'''genesis : {{ version = 1; accounts : (
      {{ name = "ann"; balance = "1000000000000"; keys = [ "{key}" ]; roles = [ "block", "credit" ]; }},
      {{ name = "rank"; balance = "4000000000"; }} ); }};''', encoding="utf-8")
    with pipectl.Installation(home=home) as installation, installation.chain("ann", backends="cpu") as chain:
        # Of whole words, so that it is an input, too.
        shader, blob = chain.upload(SHADER + " " * (-len(SHADER) % 4)).cid, installation.put(STARTS)
        job = chain.submit(shader, shader, dispatch=1, gas_limit=10_000_000, output_bytes=256)
        child = chain.submit(shader, f"job:{job.id}", dispatch=1, gas_limit=10_000_000, output_bytes=256)
        status, said = tool("link", shader, blob, "--sender", "ann")
        assert status == 0, said
        for _ in range(3):
            chain.end_block()
        output = chain.job(child.id).output
        for question, name, options, words in (
                ("edges", None, {}, []), ("edges", shader, {"role": "via", "kinds": ["input", "output"], "height": 1}, ["--via", shader, "--kind", "input", "--kind", "output", "--height", "1"]),
                ("edges", "account:ann", {"role": "from", "clocks": (1, 1)}, ["--from", "account:ann", "--clocks", "1..1"]), ("edges", output, {"role": "to"}, ["--to", output]),
                ("edges", "job:" + child.id, {"role": "by"}, ["--job", "job:" + child.id]), ("edges", None, {"role": "block", "height": 2}, ["--block", "2"]),
                ("history", output, {}, [output]), ("dependents", shader, {}, [shader]), ("jobs", "account:ann", {"clocks": (1, 9)}, ["account:ann", "--clocks", "1..9"])):
            page = as_the_tool(chain.graph(question, name, **options), tool("graph", question, *words)[1])
            assert page.edges or page.jobs or words[-1] == "2", question
        assert {e.kind for e in chain.graph("edges").edges} >= {"upload", "executed", "input", "output", "parent", "link"} <= set(pipectl.EDGE_KINDS)
        first = chain.graph("edges", limit=2)
        assert len(first.edges) == 2 and [e.number for e in chain.graph("edges", limit=2, next=first.next).edges] == [3, 4]
        page = chain.graph("rank", shader)
        shown = tool("graph", "rank", shader)[1]
        assert page.ranks and page.ranks == {r["name"]: int(r["rank"]) for r in shown["ranks"]} and page.epoch == int(shown["epoch"])
        proved = chain.graph("edges", "account:ann", role="from", proofs=True, limit=1)
        assert proved.edges and proved.proofs and all(p.startswith("pipectl-proof ") for p in proved.proofs)
        for code, args, more in ((11, ("friends",), {}), (11, ("edges", shader), {"role": "near"}), (11, ("edges",), {"kinds": ["friend"]}), (5852, ("edges",), {"height": 99}),
                                 (5730, ("jobs",), {"next": bytes(32)})):
            with pytest.raises(pipectl.Error) as e:
                chain.graph(*args, **more)
            assert e.value.code == code, e.value
