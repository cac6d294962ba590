"""An opened installation and what was made of it, for one thread at a time: the lock, the callbacks, Ctrl-C, and releases in
an order that the library takes whatever the garbage collector's.

The collector may give something back in any thread, in the middle of a call of the same handle. What is given back is
therefore only written down; whoever has the lock, or gets it without waiting, releases it."""
from __future__ import annotations

import collections
import contextlib
import os
import threading
from typing import Any, Callable, Iterator

from pipectl._errors import Diagnostic, cancelled, diagnostic, failure, misuse
from pipectl._library import ffi, lib
from pipectl._progress import Progress, progress

OnProgress = Callable[[Progress], object]
OnDiagnostic = Callable[[Diagnostic], object]


class Ears:
    """What the callbacks of one handle hear and answer. A callback that raises ends the call under way; what it raised is
    raised again where the call was made. So does Ctrl-C, which Python raises inside of whatever callback comes next."""

    def __init__(self, on_diagnostic: OnDiagnostic | None):
        self.on_diagnostic = on_diagnostic
        self.cancelled = False
        self.begin(None)

    def begin(self, on_progress: OnProgress | None) -> None:
        self.on_progress = on_progress
        self.said: list[Diagnostic] = []
        self.raised: BaseException | None = None


def keep_raised(_type, value, trace):
    ears = ffi.from_handle(trace.tb_frame.f_locals["ctx"])
    ears.raised = ears.raised or value


@ffi.callback("void(void *, const pctl_diag *)", onerror=keep_raised)
def hear(ctx, d):
    ears = ffi.from_handle(ctx)
    ears.said.append(diagnostic(d))
    if ears.on_diagnostic is not None and ears.raised is None:
        ears.on_diagnostic(ears.said[-1])


@ffi.callback("void(void *, const pipectl_progress *)", onerror=keep_raised)
def tell(ctx, p):
    ears = ffi.from_handle(ctx)
    if ears.on_progress is not None and ears.raised is None:
        ears.on_progress(progress(p))


@ffi.callback("uint32_t(void *)", error=1, onerror=keep_raised)
def ask_cancel(ctx):
    ears = ffi.from_handle(ctx)
    return int(ears.cancelled or ears.raised is not None)


class Handle:
    """A pipectl *. `made` holds, by key and in order, what was made of it: where the pointer stands, and its release."""

    def __init__(self, on_diagnostic: OnDiagnostic | None):
        self.ears = Ears(on_diagnostic)
        self.ctx = ffi.new_handle(self.ears)
        self.out = ffi.new("pipectl **")
        self.lock = threading.Lock()
        self.owner: int | None = None
        self.inside = False
        self.pid = os.getpid()
        self.made: dict[int, tuple[Any, Callable[[Any], None]]] = {}
        self.n_made = 0
        self.given_back: collections.deque[int] = collections.deque()
        self.closing = False

    def open(self, options: Any) -> None:
        """`options` without callbacks; what it points to stays the caller's."""
        options.ctx, options.diagnostic, options.progress, options.cancel = self.ctx, hear, tell, ask_cancel
        with self.alone(None) as ask:
            ask(lib.pipectl_open, options, self.out)

    # ---- calls ----

    @contextlib.contextmanager
    def whole(self) -> Iterator[None]:
        """What is one call to the user, of however many parts (alone): no other thread comes between them, and a cancel ends it in
        whichever part, or between which, it comes."""
        if self.pid != os.getpid():
            raise misuse("an installation that was opened before fork is used after it", "open one in each process")
        if self.owner == threading.get_ident():
            if self.inside:
                raise misuse("a callback calls the installation that called it")
            yield
            return
        try:
            with self.lock:
                try:
                    self.owner, self.inside = threading.get_ident(), False
                    self.ears.cancelled = False
                    yield
                finally:
                    self.owner = None
                    self.release()
        finally:
            self.settle()

    @contextlib.contextmanager
    def alone(self, on_progress: OnProgress | None) -> Iterator[Callable[..., None]]:
        with self.whole():
            try:
                self.inside = True
                self.ears.begin(on_progress)
                if self.ears.cancelled:
                    raise cancelled()
                yield self.ask
            finally:
                self.inside = False

    @contextlib.contextmanager
    def use(self, on_progress: OnProgress | None = None) -> Iterator[Callable[..., None]]:
        """The open handle, this thread's alone; gives a function that calls the library and raises what came of it."""
        with self.alone(on_progress) as ask:
            if self.closing or self.out[0] == ffi.NULL:
                raise misuse("the installation is closed")
            yield ask

    def ask(self, function: Callable[..., int], *args: Any) -> None:
        status = function(*args)
        raised, self.ears.raised = self.ears.raised, None
        if raised is not None:
            raise raised
        # A second Ctrl-C can take the first one's exception away.
        if status == lib.PCTL_E_CANCELLED and not self.ears.cancelled:
            raise KeyboardInterrupt
        if status != lib.PCTL_OK:
            raise failure(status, self.ears.said)

    def cancel(self) -> None:
        self.ears.cancelled = True

    # ---- what was made, and its end ----

    def keep(self, out: Any, release: Callable[[Any], None]) -> int:
        """What will stand in `out` is released by give_back, or before the handle."""
        self.n_made += 1
        self.made[self.n_made] = (out, release)
        return self.n_made

    def give_back(self, key: int) -> None:
        self.given_back.append(key)
        self.settle()

    def close_when_free(self) -> None:
        self.closing = True
        self.settle()

    def close(self) -> None:
        if self.owner == threading.get_ident():
            raise misuse("a callback closes the installation that called it")
        self.closing = True
        if self.pid == os.getpid():
            with self.lock:
                self.release()

    def settle(self) -> None:
        """Release, unless another call is under way, whose end does it. In a child after fork, what there is is the parent's."""
        while (self.given_back or (self.closing and self.out[0] != ffi.NULL)) and self.pid == os.getpid():
            if not self.lock.acquire(blocking=False):
                return
            try:
                self.release()
            finally:
                self.lock.release()

    def release(self) -> None:
        """With the lock."""
        while self.given_back:
            self.release_one(self.given_back.popleft())
        if self.closing:
            for key in reversed(list(self.made)):
                self.release_one(key)
            p, self.out[0] = self.out[0], ffi.NULL
            lib.pipectl_close(p)

    def release_one(self, key: int) -> None:
        out, release = self.made.pop(key, (None, None))
        if out is not None:
            pointer, out[0] = out[0], ffi.NULL
            release(pointer)
