"""The chain of an installation's home: shaders and jobs go in, blocks end and are verified again."""
from __future__ import annotations

import dataclasses
import os
import weakref
from typing import TYPE_CHECKING, Any, Iterable, Mapping

from pipectl._errors import Error, misuse
from pipectl._inputs import Cid, Keep, Value, settings
from pipectl._library import ffi, lib, new, text
from pipectl._pipeline import Pipeline, Selectors, Shown, shown

if TYPE_CHECKING:
    from pipectl._installation import Installation

JOB_STATES = {lib.PIPECTL_JOB_PENDING: "pending", lib.PIPECTL_JOB_EXECUTING: "executing", lib.PIPECTL_JOB_COMPLETE: "complete",
              lib.PIPECTL_JOB_FAILED: "failed"}


EDGE_KINDS = {"upload": lib.PIPECTL_EDGE_UPLOAD, "implements": lib.PIPECTL_EDGE_IMPLEMENTS, "input": lib.PIPECTL_EDGE_INPUT,
              "executed": lib.PIPECTL_EDGE_EXECUTED, "output": lib.PIPECTL_EDGE_OUTPUT, "parent": lib.PIPECTL_EDGE_PARENT,
              "link": lib.PIPECTL_EDGE_LINK, "alias": lib.PIPECTL_EDGE_ALIAS, "deprecated": lib.PIPECTL_EDGE_DEPRECATED}
_KIND_WORDS = {number: word for word, number in EDGE_KINDS.items()}
_QUESTIONS = {"edges": lib.PIPECTL_GRAPH_EDGES, "history": lib.PIPECTL_GRAPH_HISTORY, "dependents": lib.PIPECTL_GRAPH_DEPENDENTS,
              "jobs": lib.PIPECTL_GRAPH_JOBS, "rank": lib.PIPECTL_GRAPH_RANK}
_ROLES = {None: 0, "from": lib.PIPECTL_GRAPH_FROM, "to": lib.PIPECTL_GRAPH_TO, "via": lib.PIPECTL_GRAPH_VIA, "by": lib.PIPECTL_GRAPH_BY,
          "block": lib.PIPECTL_GRAPH_BLOCK}


@dataclasses.dataclass(frozen=True)
class Account:
    """What an account can spend, what is set aside for its jobs that did not end yet, and its bond."""
    name: str
    balance: int
    reserved: int
    bond: int


@dataclasses.dataclass(frozen=True)
class Shader:
    """A registered shader with its price: gas of a workgroup of the first entry point, by how much its loops multiply."""
    cid: Cid
    cost_per_workgroup: int
    max_loop_iterations: int
    workgroup_shared_bytes: int


@dataclasses.dataclass(frozen=True)
class ChainJob:
    """A job of the chain as it stood when it was asked for.

    name      in the pipeline that was just submitted, else None
    state     "pending", "executing", "complete", "failed"
    output    of one that is complete; error: why one failed
    position  in the queue of all jobs; height: of the block that took it in; clock: its logical time
    gas       what running it costs at most, while its gas limit is set aside; gas_used: what was charged
    ended     height of the block that ended it, None while none did
    """
    id: str
    state: str
    sender: str
    output: Cid | None
    error: str | None
    name: str | None
    position: int
    height: int
    clock: int
    gas: int
    gas_used: int
    ended: int | None
    output_bytes: int


@dataclasses.dataclass(frozen=True)
class Edge:
    """Of the graph of what was made from what: source and target are CIDs, "job:ID", "account:NAME" or "alias:NAME"; number counts edges in
    the order of making; kind is one of EDGE_KINDS; gone: a link that was taken back."""
    number: int
    kind: str
    source: str
    target: str
    via: str | None
    job: str | None
    height: int
    clock: int
    gone: bool


@dataclasses.dataclass(frozen=True)
class Taken:
    """What a job took ("input") or waited for ("parent"), and the id of the job that gave it; None: it was given."""
    kind: str
    name: str
    maker: str | None


@dataclasses.dataclass(frozen=True)
class GraphJob:
    """A job as a question about the graph finds it."""
    id: str
    state: str
    sender: str
    shader: Cid
    output: Cid | None
    error: str | None
    gas_used: int
    clock: int
    height: int
    ended: int | None
    inputs: list[Taken]


@dataclasses.dataclass(frozen=True)
class GraphPage:
    """A page of an answer about the graph, as of the block `height`.

    epoch   of ranks: the block that asked for them, else None; ranks: by name
    cut     what was left out of a history or of dependents because there is too much of it
    proofs  texts as `ledger prove` writes them
    next    for the page behind this one; b"": this was the last
    """
    height: int
    edges: list[Edge]
    jobs: list[GraphJob]
    ranks: dict[str, int]
    proofs: list[str]
    epoch: int | None
    cut: int
    next: bytes


@dataclasses.dataclass(frozen=True)
class Block:
    """A finished block. executor is the account that was paid; commit names it and all before it; complete, failed and deferred
    count jobs, messages what was taken in since the block before; gas was charged to its jobs."""
    height: int
    executor: str
    state_root: str
    commit: str
    first_clock: int
    final_clock: int
    complete: int
    failed: int
    deferred: int
    messages: int
    gas: int


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What came of making blocks again: `agreed`, or what differs first, as a code and in words. executed: jobs that ran."""
    agreed: bool
    code: int | None
    difference: str | None
    blocks: int
    messages: int
    jobs: int
    executed: int


def account_of(a: Any) -> Account:
    return Account(text(a.name) or "", a.balance, a.reserved, a.bond)


def job_of(j: Any) -> ChainJob:
    output = text(j.output)
    return ChainJob(text(j.id) or "", JOB_STATES[j.state], text(j.sender) or "", None if output is None else Cid(output),
                    text(j.error), text(j.name), j.position, j.height, j.clock, j.gas, j.gas_used, j.ended or None, j.output_bytes)


def block_of(b: Any) -> Block:
    return Block(b.height, text(b.executor) or "", text(b.state_root) or "", text(b.commit) or "", b.first_clock, b.final_clock,
                 b.complete, b.failed, b.deferred, b.messages, b.gas)


def three(dispatch: int | Iterable[int]) -> list[int]:
    sizes = [dispatch] if isinstance(dispatch, int) else list(dispatch)
    if not 1 <= len(sizes) <= 3:
        raise misuse(f"dispatch is one to three numbers of workgroups, not {sizes}")
    return sizes + [1] * (3 - len(sizes))


def page_of(ask: Any, g: Any) -> GraphPage:
    """A page with all that is on it, copied."""
    def each(function: Any, of: str, n: int, *before: int) -> Any:
        for i in range(n):
            item = new(f"pipectl_graph_{of}")
            ask(function, g, *before, i, item)
            yield i, item

    p = new("pipectl_graph_page")
    ask(lib.pipectl_chain_graph_page, g, p)
    jobs = [GraphJob(text(j.id), JOB_STATES[j.state], text(j.sender), Cid(text(j.shader)), Cid(text(j.output)) if j.output else None, text(j.error),
                     j.gas_used, j.clock, j.height, j.ended or None,
                     [Taken(_KIND_WORDS[t.kind], text(t.name), text(t.maker)) for _, t in each(lib.pipectl_chain_graph_input, "input", j.n_inputs, i)])
            for i, j in each(lib.pipectl_chain_graph_job, "job", p.n_jobs)]
    edges = [Edge(e.number, _KIND_WORDS[e.kind], text(e.source), text(e.target), text(e.via), text(e.job), e.height, e.clock, bool(e.is_gone))
             for _, e in each(lib.pipectl_chain_graph_edge, "edge", p.n_edges)]
    return GraphPage(p.height, edges, jobs, {text(r.name): r.rank for _, r in each(lib.pipectl_chain_graph_rank, "rank", p.n_ranks)},
                     [ffi.string(t.text, t.n_bytes).decode() for _, t in each(lib.pipectl_chain_graph_proof, "proof", p.n_proofs)], p.epoch or None, p.cut,
                     bytes(ffi.buffer(p.next, p.n_next)) if p.n_next else b"")


class Chain:
    """Made by Installation.chain. Closing it, or its installation, ends it; so does the end of a `with`.

    account  who sends the messages, or None: then it can only be read
    """

    def __init__(self, installation: Installation, account: str | None, backends: Selectors, verify: float):
        if not 0 <= verify <= 1:
            raise misuse(f"verify is a share of jobs from 0 to 1, not {verify}")
        keep = Keep()
        o = new("pipectl_chain_options", account=keep.text(account), verify_ppm=round(verify * 1_000_000))
        o.backends, o.n_backends = keep.texts(backends)
        self.account = account
        self._handle = installation._handle
        self._out = ffi.new("pipectl_chain **")
        key = self._handle.keep(self._out, lib.pipectl_chain_close)
        self._end = weakref.finalize(self, self._handle.give_back, key)
        with self._handle.use() as ask:
            ask(lib.pipectl_chain_open, installation._pointer, o, self._out)

    @property
    def _pointer(self) -> Any:
        """With the handle."""
        if self._out[0] == ffi.NULL:
            raise misuse("the chain is closed")
        return self._out[0]

    # ---- accounts and shaders ----

    def balance(self, account: str | None = None) -> Account:
        """Of an account; None: the chain's own."""
        keep, a = Keep(), new("pipectl_account")
        with self._handle.use() as ask:
            ask(lib.pipectl_chain_balance, self._pointer, keep.text(account), a)
            return account_of(a)

    def credit(self, amount: int, account: str | None = None) -> Account:
        """Make gas for an account, as `pipectl ledger credit`."""
        keep, a = Keep(), new("pipectl_account")
        with self._handle.use() as ask:
            ask(lib.pipectl_chain_credit, self._pointer, keep.text(account), amount, a)
            return account_of(a)

    def upload(self, source: str | bytes | os.PathLike[str], *, description: str | None = None, tags: Iterable[str] = (),
               implements: str | None = None) -> Shader:
        """Register a shader, its text or a file. One that is registered already gives the same answer."""
        if isinstance(source, os.PathLike):
            with open(source, "rb") as f:
                source = f.read()
        raw = source.encode() if isinstance(source, str) else source
        keep, s = Keep(), new("pipectl_chain_shader")
        o = new("pipectl_chain_source", text=keep.keep(ffi.from_buffer("char[]", raw)), n_bytes=len(raw),
                description=keep.text(description), implements=keep.text(implements))
        o.tags, o.n_tags = keep.texts(tags)
        with self._handle.use() as ask:
            ask(lib.pipectl_chain_upload, self._pointer, o, s)
            return Shader(Cid(text(s.cid)), s.cost_per_workgroup, s.max_loop_iterations, s.workgroup_shared_bytes)

    # ---- jobs ----

    def submit(self, shader: str, input: str, *, dispatch: int | Iterable[int] = 1, gas_limit: int, output_bytes: int = 0,
               entry: str | None = None, uniform: str | bytes | None = None, bindings: Mapping[tuple[int, int], str] | None = None,
               parents: Iterable[str] = (), after: Iterable[str] = (), parent_clock: int = 0,
               overrides: Mapping[str, Value] | None = None) -> ChainJob:
        """Submit a job of one shader (a CID or an alias); it is durably taken in when this returns.

        input     of group 0 binding 0, a CID or "job:ID"; bindings likewise, by (group, binding)
        uniform   the CID of its CBOR document, or the document's bytes, which go into the store
        parents   ids of jobs that must complete first; after: that must have ended
        """
        keep, j = Keep(), new("pipectl_chain_job")
        rows = [(group, binding, keep.text(cid)) for (group, binding), cid in (bindings or {}).items()]
        w = new("pipectl_chain_work", shader=keep.text(shader), input=keep.text(input), entry=keep.text(entry),
                dispatch=three(dispatch), gas_limit=gas_limit, output_bytes=output_bytes, parent_clock=parent_clock)
        if isinstance(uniform, bytes):
            w.document, w.n_document = keep.keep(ffi.from_buffer(uniform)), len(uniform)
        else:
            w.uniform = keep.text(uniform)
        if rows:
            w.bindings, w.n_bindings = keep.keep(ffi.new("pipectl_binding[]", rows)), len(rows)
        w.parents, w.n_parents = keep.texts(parents)
        w.after, w.n_after = keep.texts(after)
        w.overrides, w.n_overrides = settings(keep, overrides or {})
        with self._handle.use() as ask:
            ask(lib.pipectl_chain_submit, self._pointer, w, j)
            return job_of(j)

    def submit_pipeline(self, pipeline: Pipeline, *, inputs: Mapping[str, str | os.PathLike[str]] | None = None,
                        gas_limit: int) -> list[ChainJob]:
        """Submit every job of a pipeline, all or none, in its order. inputs: files or CIDs by name."""
        keep = Keep()
        given = {name: os.path.abspath(value) if isinstance(value, os.PathLike) else str(value)
                 for name, value in (inputs or {}).items()}
        return self._listed(lib.pipectl_chain_submit_pipeline, lambda: (pipeline._pointer, *settings(keep, given), gas_limit))

    def _listed(self, function: Any, args: Any) -> list[ChainJob]:
        out = ffi.new("pipectl_chain_jobs **")
        with self._handle.use() as ask:
            try:
                ask(function, self._pointer, *args(), out)
                found = []
                for i in range(lib.pipectl_chain_jobs_count(out[0])):
                    j = new("pipectl_chain_job")
                    ask(lib.pipectl_chain_jobs_at, out[0], i, j)
                    found.append(job_of(j))
                return found
            finally:
                lib.pipectl_chain_jobs_release(out[0])

    def job(self, id: str) -> ChainJob:
        """A job as it stands now; its id may have "job:" before it."""
        keep, j = Keep(), new("pipectl_chain_job")
        with self._handle.use() as ask:
            ask(lib.pipectl_chain_job_read, self._pointer, keep.text(id), j)
            return job_of(j)

    def jobs(self, *, sender: str | None = None, state: str | None = None) -> list[ChainJob]:
        """Jobs, newest first; of a sender, in a state ("pending", "executing", "complete", "failed")."""
        numbers = {word: number for number, word in JOB_STATES.items()}
        if state is not None and state not in numbers:
            raise misuse(f'"{state}" is no state of a job', "pending, executing, complete or failed")
        keep = Keep()
        return self._listed(lib.pipectl_chain_jobs_list, lambda: (keep.text(sender), numbers.get(state or "", 0)))

    # ---- the graph ----

    def graph(self, question: str, name: str | None = None, *, role: str | None = None, kinds: Iterable[str] = (), height: int | None = None,
              clocks: tuple[int, int] | None = None, limit: int | None = None, next: bytes = b"", proofs: bool = False) -> GraphPage:
        """What was made from what, a page at a time.

        question  "edges"; "history" of a name, "dependents" of one; "jobs" by their logical clocks; "rank" of a name and its neighbours
        role      of edges, what the name is of them: "from", "to", "via", "by" (a job), or "block" (those of `height`, without a name)
        kinds     of edges: words of EDGE_KINDS
        height    as of that block; None: as of the open one
        limit     edges or jobs of a page, 100 where it is None; next: what the page before ended with
        """
        kinds = list(kinds)
        for what, word, words in (("question", question, _QUESTIONS), ("role", role, _ROLES), *(("kind", kind, EDGE_KINDS) for kind in kinds)):
            if word not in words:
                raise misuse(f'"{word}" is no {what} of the graph', ", ".join(w for w in words if w))
        keep, out = Keep(), ffi.new("pipectl_chain_graph **")
        first, last = clocks or (0, 0)
        q = new("pipectl_graph_question", op=_QUESTIONS[question], role=_ROLES[role], name=keep.text(name), height=height or 0, from_clock=first,
                to_clock=last, kinds=sum({1 << EDGE_KINDS[k] for k in kinds}), limit=limit or 0, n_next=len(next), proves=proofs)
        if next:
            q.next = keep.keep(ffi.from_buffer(next))
        with self._handle.use() as ask:
            try:
                ask(lib.pipectl_chain_graph_ask, self._pointer, q, out)
                return page_of(ask, out[0])
            finally:
                lib.pipectl_chain_graph_release(out[0])

    # ---- blocks ----

    def end_block(self, executor: str | None = None, *, progress: Shown = None) -> Block:
        """End the open block: its jobs run. executor: the account that is paid. After an error nothing has changed."""
        keep, b = Keep(), new("pipectl_block")
        with shown(progress) as told, self._handle.use(told) as ask:
            ask(lib.pipectl_chain_block_end, self._pointer, keep.text(executor), b)
            return block_of(b)

    def block(self, height: int | None = None) -> Block:
        """A finished block; None: the last one."""
        b = new("pipectl_block")
        with self._handle.use() as ask:
            ask(lib.pipectl_chain_block_read, self._pointer, height or 0, b)
            return block_of(b)

    def jobs_of_block(self, height: int | None = None) -> list[ChainJob]:
        """Jobs that a block ended, in their order."""
        return self._listed(lib.pipectl_chain_jobs_of_block, lambda: (height or 0,))

    def verify(self, first: int, last: int | None = None, *, progress: Shown = None) -> Verdict:
        """Make the blocks again, their jobs too, and compare every byte. What differs is a Verdict that says so; what kept it
        from being found out is an Error."""
        v = new("pipectl_verdict")
        with shown(progress) as told, self._handle.use(told) as ask:
            try:
                ask(lib.pipectl_chain_verify, self._pointer, first, first if last is None else last, v)
            except Error as e:
                if e.status != "mismatch":
                    raise
            return Verdict(bool(v.agreed), v.code or None, text(v.difference), v.blocks, v.messages, v.jobs, v.executed)

    def close(self) -> None:
        """Give it back; twice is fine."""
        self._end()

    def __enter__(self) -> Chain:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
