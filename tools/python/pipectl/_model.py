"""Language models: what their files say, text to tokens and back, and tokens, logits and embeddings from a device."""
from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Union

import numpy

from pipectl._errors import misuse
from pipectl._inputs import Keep
from pipectl._library import ffi, lib, new, text
from pipectl._pipeline import Selectors, Shown, shown

if TYPE_CHECKING:
    from pipectl._installation import Installation

Prompt = Union[str, Iterable[int]]
Lora = Union[str, "os.PathLike[str]", "tuple[str | os.PathLike[str], float]"]
Loras = Union[Lora, "list[Lora]"]
Messages = Iterable[Union[Mapping[str, str], "tuple[str, str]"]]
FLAGS = {"tied": lib.PIPECTL_MODEL_TIED, "qkv_bias": lib.PIPECTL_MODEL_QKV_BIAS, "o_bias": lib.PIPECTL_MODEL_O_BIAS,
         "qk_norm": lib.PIPECTL_MODEL_QK_NORM, "post_norms": lib.PIPECTL_MODEL_POST_NORMS, "norm_used": lib.PIPECTL_MODEL_NORM_USED}
NONE = 0xFFFFFFFF


def fields(s: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The members of a structure, but for its head: texts, numbers."""
    out = {}
    for name, field in ffi.typeof(s).item.fields:
        if name not in ("head", "reserved", *without):
            value = getattr(s, name)
            out[name] = text(value) if field.type.kind == "pointer" else value
    return out


class Piece(str):
    """What one token adds to a text: whole characters, or nothing yet.

    token     its number; None for what was no whole character at the end of a text
    sequence  of which it is, where several are made
    logits    what it was chosen from, before penalties, where they were asked for
    """
    token: int | None
    sequence: int
    logits: numpy.ndarray[Any, Any] | None

    def __new__(cls, value: str, token: int | None, sequence: int, logits: numpy.ndarray[Any, Any] | None = None) -> Piece:
        piece = super().__new__(cls, value)
        piece.token, piece.sequence, piece.logits = token, sequence, logits
        return piece


class Heard:
    """Pieces that nobody took yet, and how many characters of each sequence there were; ears: where what a callback raises is raised again."""

    def __init__(self, ears: Any, sequences: int):
        self.ears = ears
        self.pieces: list[Piece] = []
        self.lengths = [0] * sequences


def keep_heard(kind, value, trace):
    heard = ffi.from_handle(trace.tb_frame.f_locals["ctx"])
    heard.ears.raised = heard.ears.raised or value


@ffi.callback("uint32_t(void *, const pipectl_generated_token *)", error=0, onerror=keep_heard)
def hear_token(ctx, t):
    heard = ffi.from_handle(ctx)
    logits = None
    if t.logits != ffi.NULL:
        logits = numpy.frombuffer(ffi.buffer(t.logits, 4 * t.n_logits), numpy.float32).copy()
    piece = Piece(ffi.buffer(t.text, t.n_bytes)[:].decode("utf-8"), t.token, t.sequence, logits)
    heard.pieces.append(piece)
    heard.lengths[t.sequence] += len(piece)
    return 1


class Tokenizer:
    """Text to tokens and back, by the model's own tokenizer: `model.tokenizer`."""

    def __init__(self, model: Model):
        self._model = model

    def _ids(self, function: Any, *args: Any) -> list[int]:
        ids, n = ffi.new("const uint32_t **"), ffi.new("uint32_t *")
        with self._model._handle.use() as ask:
            ask(function, self._model._pointer, *args, ids, n)
            return list(ffi.unpack(ids[0], n[0])) if n[0] else []

    def encode(self, value: str | bytes, *, begin: bool = True, special: bool = False, added: bool = True,
               continued: bool = False) -> list[int]:
        """The tokens of a text, which need be no UTF-8.

        begin      with what the model sees before and behind a text
        special    special tokens are found in it; never for text of others
        added      added tokens that are not special are
        continued  it goes on behind a token
        """
        raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)
        flags = ((lib.PIPECTL_ENCODE_BEGIN if begin else 0) | (lib.PIPECTL_ENCODE_SPECIAL if special else 0) |
                 (lib.PIPECTL_ENCODE_ADDED if added else 0) | (lib.PIPECTL_ENCODE_CONTINUED if continued else 0))
        return self._ids(lib.pipectl_model_encode, ffi.from_buffer(raw), len(raw), flags)

    def decode_bytes(self, ids: Iterable[int], *, special: bool = False) -> bytes:
        """The bytes that tokens stand for; special ones with special=True."""
        ids = tokens_of(ids)
        out, n = ffi.new("const char **"), ffi.new("uint64_t *")
        with self._model._handle.use() as ask:
            ask(lib.pipectl_model_decode, self._model._pointer, ids, len(ids), int(special), out, n)
            return bytes(ffi.buffer(out[0], n[0]))

    def decode(self, ids: Iterable[int], *, special: bool = False) -> str:
        """The same as text; what is no UTF-8 is U+FFFD."""
        return self.decode_bytes(ids, special=special).decode("utf-8", "replace")

    def chat(self, messages: Messages, *, prompt: bool = True, thinking: bool = True) -> list[int]:
        """The tokens of a conversation, {"role": .., "content": ..} or (role, content) each, by the model's chat template.

        prompt    the assistant's turn is begun
        thinking  False: with thoughts that are empty, where the family has a switch for it
        """
        keep = Keep()
        pairs = [(m["role"], m["content"]) if isinstance(m, Mapping) else m for m in messages]
        rows = ffi.new("pipectl_message[]", [(keep.text(role), keep.text(content)) for role, content in pairs])
        flags = (lib.PIPECTL_CHAT_PROMPT if prompt else 0) | (0 if thinking else lib.PIPECTL_CHAT_NO_THINKING)
        return self._ids(lib.pipectl_model_chat, rows, len(pairs), flags)

    def describe(self) -> dict[str, Any]:
        """kind, pre and family in words; how many tokens there are; bos, eos, pad and unknown, None: there is none."""
        f = new("pipectl_tokenizer_facts")
        with self._model._handle.use() as ask:
            ask(lib.pipectl_model_tokenizer, self._model._pointer, f)
            return {k: None if v == NONE else v for k, v in fields(f).items()}


def loras_of(keep: Keep, adapters: Iterable[tuple[str | None, Loras]]) -> tuple[Any, int]:
    """Names with a file, (file, scale), or a list of these, as the library takes them."""
    rows = []
    for name, given in adapters:
        for one in given if isinstance(given, list) else [given]:
            path, scale = one if isinstance(one, tuple) else (one, 1.0)
            if scale == 0:
                raise misuse("an adapter with a scale of 0 changes nothing: leave it out")
            rows.append((keep.text(path), keep.text(name), scale, 0))
    return (keep.keep(ffi.new("pipectl_lora[]", rows)) if rows else ffi.NULL), len(rows)


def tokens_of(ids: Iterable[int]) -> Any:
    """As the library takes them."""
    listed = [int(i) for i in ids]
    if any(not 0 <= i < NONE for i in listed):
        raise misuse(f"a token is a number from 0 to {NONE - 1}")
    return ffi.new("uint32_t[]", listed)


class Generation:
    """Tokens that are being made: an iterator of Piece, one a token. Made by Model.generate and Model.chat; the next is made when it is
    asked for. Dropping it, or the end of a `with`, gives its place on the device back.

    texts and tokens, one of each a sequence, and ended_by ("length", "end", "context", None: it goes on) are what was made so far.
    """

    def __init__(self, model: Model, sequences: int, progress: Shown):
        self._model, self._handle, self._progress, self._sequences = model, model._handle, progress, sequences
        self._heard = Heard(self._handle.ears, sequences)
        self._ctx = ffi.new_handle(self._heard)
        self._out = ffi.new("pipectl_generation **")
        self._going = 1

    def _open(self, ask: Any, function: Any, *args: Any) -> None:
        ask(function, *args, self._out)
        key = self._handle.keep(self._out, lib.pipectl_generation_release)
        self._end = weakref.finalize(self, self._handle.give_back, key)

    @property
    def _pointer(self) -> Any:
        if self._out[0] == ffi.NULL:
            raise misuse("the generation is closed")
        return self._out[0]

    def __iter__(self) -> Iterator[Piece]:
        return self

    def __next__(self) -> Piece:
        while not self._heard.pieces and self._going:
            self._step()
        if self._heard.pieces:
            return self._heard.pieces.pop(0)
        raise StopIteration

    def _step(self) -> None:
        going = ffi.new("uint32_t *")
        with shown(self._progress) as told, self._handle.use(told) as ask:
            before = len(self._heard.pieces)
            try:
                ask(lib.pipectl_generation_step, self._pointer, going)
            except BaseException:
                self._going = 0
                del self._heard.pieces[before:]
                raise
            self._going = going[0]
        if not self._going:
            self._end_of_texts()

    def _end_of_texts(self) -> None:
        """What waited for the rest of a character."""
        for i, told in enumerate(self._heard.lengths):
            rest = self._sequence(i)["text"][told:]
            if rest:
                self._heard.pieces.append(Piece(rest, None, i))

    def _sequence(self, i: int) -> dict[str, Any]:
        s = new("pipectl_sequence")
        with self._handle.use() as ask:
            ask(lib.pipectl_generation_sequence, self._pointer, i, s)
            return {"tokens": list(ffi.unpack(s.tokens, s.n_tokens)) if s.n_tokens else [],
                    "text": bytes(ffi.buffer(s.text, s.n_bytes)).decode("utf-8"), "ended_by": text(s.ended_by)}

    @property
    def texts(self) -> list[str]:
        return [self._sequence(i)["text"] for i in range(self._sequences)]

    @property
    def tokens(self) -> list[list[int]]:
        return [self._sequence(i)["tokens"] for i in range(self._sequences)]

    @property
    def ended_by(self) -> list[str | None]:
        return [self._sequence(i)["ended_by"] for i in range(self._sequences)]

    def finish(self) -> Generation:
        """Make all that is left; the pieces can be had from the iterator afterwards, too."""
        with self._handle.whole():
            while self._going:
                self._step()
        return self

    @property
    def receipt(self) -> bytes:
        """The signed statement, of a finished generation that was asked for one."""
        out, n = ffi.new("const char **"), ffi.new("uint64_t *")
        with self._handle.use() as ask:
            ask(lib.pipectl_generation_receipt, self._pointer, out, n)
            return bytes(ffi.buffer(out[0], n[0]))

    def close(self) -> None:
        """Give its place back; twice is fine."""
        self._going = 0
        self._heard.pieces.clear()
        self._end()

    def __enter__(self) -> Generation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Model:
    """A language model: a GGUF file, or a folder of safetensors. As a context manager it is closed at the end.

    Files are read when it is made. Weights go to the device when logits, embeddings or tokens are first asked for.

    backend       a selector, or several in order of preference; none: the policy's order
    installation  None: one of its own, which is closed with it
    tokenizer     a tokenizer.json in place of the model's own
    family        of the chat template, by name; None: as the model's own template tells
    slots         sequences at a time: those of one generate, and of several that are under way
    chunk         tokens of a prompt in one step; context: positions of a sequence; 0: the library's choice
    verify        share of steps that the reference does again, 0 to 1; never less than the policy's
    memory_budget bytes of device memory, 0: what the device has; weights that do not fit come to the device in each step, and nothing else changes
    adapters      LoRA by name: a file or folder, (file, scale), or a list of these, which are added one behind another. None is used unless
                  logits, embed, generate, chat or replay name it
    """

    def __init__(self, path: str | os.PathLike[str], *, backend: Selectors = (), installation: Installation | None = None,
                 tokenizer: str | os.PathLike[str] | None = None, family: str | None = None, slots: int = 1, chunk: int = 0,
                 context: int = 0, verify: float = 0, memory_budget: int = 0, adapters: Mapping[str, Loras] | None = None):
        from pipectl._installation import Installation as Opened

        if not 0 <= verify <= 1:
            raise misuse(f"verify is a share of steps from 0 to 1, not {verify}")
        self._own = Opened() if installation is None else None
        self._installation = installation or self._own
        self._handle = self._installation._handle
        self._keep = Keep()
        self._engine_options = new("pipectl_engine_options", slots=slots, chunk=chunk, context=context, verify_ppm=round(verify * 1_000_000),
                                   memory_budget=memory_budget)
        self._engine_options.backends, self._engine_options.n_backends = self._keep.texts(backend)
        self._engine_options.loras, self._engine_options.n_loras = loras_of(self._keep, (adapters or {}).items())
        o = new("pipectl_model_options", tokenizer=self._keep.text(tokenizer), family=self._keep.text(family))
        self._out, self._engine = ffi.new("pipectl_model **"), ffi.new("pipectl_engine **")
        self._ends: list[Any] = []
        try:
            with self._handle.use() as ask:
                ask(lib.pipectl_model_open, self._installation._pointer, self._keep.text(path), o, self._out)
                self._end_with(self._out, lib.pipectl_model_release)
        except BaseException:
            if self._own is not None:
                self._own.close()
            raise
        self.tokenizer = Tokenizer(self)

    def _end_with(self, out: Any, release: Any) -> None:
        key = self._handle.keep(out, release)
        self._ends.append(weakref.finalize(self, self._handle.give_back, key))

    @property
    def _pointer(self) -> Any:
        if self._out[0] == ffi.NULL:
            raise misuse("the model is closed")
        return self._out[0]

    def _opened(self, ask: Any, adapter: str | None = None) -> Any:
        """The engine, opened when it is first needed, with that adapter for what is asked next."""
        if self._engine[0] == ffi.NULL:
            ask(lib.pipectl_engine_open, self._pointer, self._engine_options, self._engine)
            self._end_with(self._engine, lib.pipectl_engine_release)
        keep = Keep()
        ask(lib.pipectl_engine_adapter, self._engine[0], keep.text(adapter))
        return self._engine[0]

    # ---- files ----

    def describe(self) -> dict[str, Any]:
        """What the files say: family, sizes, scales, how rope is scaled; flags as truths."""
        f = new("pipectl_model_facts")
        with self._handle.use() as ask:
            ask(lib.pipectl_model_describe, self._pointer, f)
            return {**fields(f, ("flags",)), **{name: bool(f.flags & bit) for name, bit in FLAGS.items()}}

    def tensors(self, *, cids: bool = False) -> list[dict[str, Any]]:
        """Every tensor: name, role, dtype, shape, n_bytes, file, layer, expert; with cids=True read and named by its CID."""
        out, n = [], self.describe()["n_tensors"]
        t, cid = new("pipectl_model_tensor"), ffi.new("char[]", lib.PIPECTL_CID_SIZE)
        with self._handle.use() as ask:
            for i in range(n):
                ask(lib.pipectl_model_tensor_at, self._pointer, i, t)
                row = {**fields(t, ("dims", "rank")), "shape": tuple(t.dims[k] for k in range(t.rank))}
                if cids:
                    ask(lib.pipectl_model_tensor_cid, self._pointer, i, cid)
                    row["cid"] = text(cid)
                out.append(row)
        return out

    def check(self, *, progress: Shown = None) -> None:
        """Read everything; an Error tells what stands for nothing, or does not hold together."""
        with shown(progress) as told, self._handle.use(told) as ask:
            ask(lib.pipectl_model_check, self._pointer)

    def pipeline(self, *, batch: int = 1, chunk: int = 1, context: int = 0, unrolled: bool = False, all_logits: bool = False,
                 loras: list[Lora] | None = None) -> str:
        """The text of a pipeline file that runs the model, as `pipectl model pipeline` writes it; context 0: the model's, but at most 4,096.

        loras  adapters that are added, in this order: files, or (file, scale)
        """
        keep = Keep()
        plan = new("pipectl_model_plan", batch=batch, chunk=chunk, context=context)
        plan.loras, plan.n_loras = loras_of(keep, [(None, loras or [])])
        plan.flags = (lib.PIPECTL_MODEL_UNROLLED if unrolled else 0) | (lib.PIPECTL_MODEL_ALL_LOGITS if all_logits else 0)
        out = ffi.new("char **")
        with self._handle.use() as ask:
            try:
                ask(lib.pipectl_model_pipeline, self._pointer, plan, out)
                return text(out[0]) or ""
            finally:
                lib.pipectl_free(out[0])

    # ---- the device ----

    def _prompt(self, prompt: Prompt) -> Any:
        return tokens_of(self.tokenizer.encode(prompt) if isinstance(prompt, str) else prompt)

    def _floats(self, function: Any, prompt: Prompt, shape: Any, progress: Shown, adapter: str | None, *more: int) -> numpy.ndarray[Any, Any]:
        with self._handle.whole():
            ids = self._prompt(prompt)
            with shown(progress) as told, self._handle.use(told) as ask:
                engine = self._opened(ask, adapter)
                f = new("pipectl_engine_facts")
                ask(lib.pipectl_engine_describe, engine, f)
                out = numpy.empty(shape(f, len(ids)), numpy.float32)
                ask(function, engine, ids, len(ids), *more, ffi.from_buffer("float[]", out), out.size)
        return out

    def logits(self, ids: Prompt, *, all: bool = False, adapter: str | None = None, progress: Shown = None) -> numpy.ndarray[Any, Any]:
        """Logits behind the tokens, f32[n_vocab]; with all=True behind each of them, [n, n_vocab], token by token."""
        return self._floats(lib.pipectl_engine_logits, ids, lambda f, n: (n, f.n_vocab) if all else (f.n_vocab,), progress, adapter, int(all))

    def embed(self, ids: Prompt, *, adapter: str | None = None, progress: Shown = None) -> numpy.ndarray[Any, Any]:
        """The embedding of a text or of tokens, f32[n_embd]: the last token's features behind the last norm."""
        return self._floats(lib.pipectl_engine_embed, ids, lambda f, n: (f.n_embd,), progress, adapter)

    def generate(self, prompt: Prompt, *, tokens: int = 128, seed: int = 0, temperature: float = 0, top_k: int = 0, top_p: float = 1,
                 min_p: float = 0, repetition_penalty: float = 1, presence_penalty: float = 0, frequency_penalty: float = 0,
                 sequences: int = 1, ignore_end: bool = False, logits: bool = False, receipt: bool = False,
                 adapter: str | None = None, progress: Shown = None) -> Generation:
        """Tokens behind a text or tokens, as they are made. The same question has the same answer, on every device.

        tokens       of each sequence, at most
        temperature  0: the most probable token always; then seed, top_k, top_p and min_p change nothing
        sequences    so many answers, each by a stream of its own of the seed; not more than the model's slots
        ignore_end   go on behind a token that ends the text
        logits       each Piece has the logits that its token was chosen from
        receipt      a signed statement is made (Generation.receipt), which `replay` and `pipectl generate --replay` hold to
        adapter      the name of one of the model's; None: the model as it is
        """
        with self._handle.whole():
            ids = self._prompt(prompt)
            out = Generation(self, sequences, progress)
            o = new("pipectl_generate_options", prompt=ids, n_prompt=len(ids), n_tokens=tokens, sequences=sequences, seed=seed,
                    temperature=temperature, top_p=top_p, min_p=min_p, repetition_penalty=repetition_penalty,
                    presence_penalty=presence_penalty, frequency_penalty=frequency_penalty, top_k=top_k, ctx=out._ctx, token=hear_token)
            o.flags = ((lib.PIPECTL_GENERATE_ON if ignore_end else 0) | (lib.PIPECTL_GENERATE_LOGITS if logits else 0) |
                       (lib.PIPECTL_GENERATE_RECEIPT if receipt else 0))
            with self._handle.use() as ask:
                out._open(ask, lib.pipectl_generation_begin, self._opened(ask, adapter), o)
            return out

    def chat(self, messages: Messages, *, thinking: bool = True, **keywords: Any) -> Generation:
        """The assistant's answer to a conversation, by the model's chat template; keywords are those of `generate`."""
        with self._handle.whole():
            return self.generate(self.tokenizer.chat(messages, thinking=thinking), **keywords)

    def replay(self, receipt: bytes | os.PathLike[str], *, name: str = "receipt", signer: str | None = None,
               adapter: str | None = None, progress: Shown = None) -> None:
        """Make a generation again as its statement says; an Error (PC6292) tells the first token or the logits that differ.

        signer   the key that it must be by
        adapter  the name of what it was made with; an Error (PC6292) where the statement names other adapters, or scales
        """
        if isinstance(receipt, os.PathLike):
            name = os.fspath(receipt)
            with open(receipt, "rb") as f:
                receipt = f.read()
        keep = Keep()
        with shown(progress) as told, self._handle.use(told) as ask:
            ask(lib.pipectl_generation_replay, self._opened(ask, adapter), keep.text(name), ffi.from_buffer(receipt), len(receipt),
                keep.text(signer), ffi.NULL)

    @property
    def facts(self) -> dict[str, Any]:
        """The engine's: the model's CID, the device, bytes on it (and the most there were, and those that stream to it), steps and submissions so far."""
        f = new("pipectl_engine_facts")
        with self._handle.use() as ask:
            ask(lib.pipectl_engine_describe, self._opened(ask), f)
            return fields(f)

    def close(self) -> None:
        """Give everything back; twice is fine."""
        for end in reversed(self._ends):
            end()
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
