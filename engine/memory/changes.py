"""Changes of one memory: whole or not at all, and noted in the log of its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..base.errors import HebbariumError, SnapshotError
from ..contract.columns import Phase
from ..contract.vocabulary import LANGUAGE_MODEL
from ..saving.call_log import Call
from ..saving.snapshot import Snapshot
from ..state.event_log import Erased
from .assembly import Assembly

Repeated = Mapping[str, Callable[..., object]]  # calls that a log may hold, by name


class Changes:
    """What every change of a memory goes through.  After a failed change the memory refuses every
    further call, so that a half-made change is neither continued nor saved.

    snapshot  the file; None: there is none, or it is closed
    ended     why the memory refuses calls; "" while it accepts them
    begun     changes begun so far: equal numbers mean an equal state
    """

    def __init__(self, assembly: Assembly, *, models: bool) -> None:
        """models: whether the memory has a language model."""
        self.snapshot: Snapshot | None = None
        self.ended, self.begun = "", 0
        self._assembly = assembly
        # phases that would ask a model anew if they were repeated
        self._asking = frozenset(
            phase
            for phase, nodes in assembly.phases.items()
            if models and any(LANGUAGE_MODEL in node.sees for node in nodes)
        )

    def require(self, doing: str) -> None:
        """Raises HebbariumError if the memory has ended."""
        if self.ended:
            raise HebbariumError(
                f"this memory {self.ended}",
                where=doing,
                cure="make a new memory; with the path of a snapshot file it continues with what was told before",
            )

    def _end(self, why: str) -> None:
        """Refuse every further call; earlier reasons are kept."""
        if why not in self.ended:
            self.ended = f"{self.ended} and {why}" if self.ended else why

    @contextmanager
    def unsaved(self, doing: str) -> Iterator[None]:
        """Around a change that must be finished once begun, and that neither log nor file needs:
        an exception inside ends the memory.  A SnapshotError does not, for it changes a file only.
        """
        self.require(doing)
        self.begun += 1
        try:
            yield
        except SnapshotError:
            raise
        except BaseException:
            self._end(f"broke off in {doing}")
            raise

    @contextmanager
    def whole(self, doing: str) -> Iterator[None]:
        """As `unsaved`, around a change after which `save` is called."""
        with self._noted(None), self.unsaved(doing):
            yield

    @contextmanager
    def logged(self, name: str, phase: Phase, *values: Any, doing: str = "") -> Iterator[None]:
        """Around a change that runs a phase, and that the log keeps as a call.  One whose phase
        asks a language model is saved instead: it cannot be repeated.

        doing  what errors call it; "": its name
        """
        asks = phase in self._asking
        with self._noted(None if asks else (name, values)), self.unsaved(doing or name):
            yield
            self._assembly.clock.changed()
        if asks:
            self.save()

    @contextmanager
    def small(self, name: str, *values: Any) -> Iterator[None]:
        """Around a change that raises before it changes anything, or does not raise; the log
        keeps it as a call.
        """
        with self._noted((name, values)):
            yield
            self.begun += 1
            self._assembly.clock.changed()

    def _noted(self, call: Call | None) -> AbstractContextManager[None]:
        """The present stands with the call, for a wall clock lets it pass without one."""
        if self.snapshot is None:
            return nullcontext()
        return self.snapshot.changing(call and (call[0], (self._assembly.clock.now, *call[1])))

    def save(self, erased: Erased | None = None) -> None:
        """Bring the file up to date, if there is one.  Raises SnapshotError, which says so if the
        memory has erased what the file still holds.
        """
        if not self.snapshot:
            return
        try:
            self.snapshot.save(erased=erased)
        except SnapshotError as error:
            if erased is None:
                raise
            raise SnapshotError(
                f"{error.what}; the memory has erased the texts, and the file holds them until the next save",
                where=error.where,
                cure=f"call save() when there is room, or the disk works again; {error.cure}",
            ) from error

    def close(self) -> None:
        """Save and close the file, and refuse every further call.  Raises SnapshotError if it
        cannot be saved; file and memory then stay open.
        """
        if self.snapshot:
            self.snapshot.close(save=not self.ended)
            self.snapshot = None
        self._end("is closed")

    def take_up(self, snapshot: Snapshot, repeated: Repeated, at: Callable[[float], None]) -> None:
        """Continue from a file: repeat the calls in its log, with no language model, as calls that
        asked one were saved.  Closes the file if that fails.

        at  sets the present

        Raises SnapshotError, and what the embedder raises.
        """
        self.snapshot, assembly = snapshot, self._assembly
        try:
            with snapshot.repeating() as calls, assembly.language_model.silent():
                assembly.embed_ahead([values[1] for name, values in calls if name == "encode"])
                for number, (name, (now, *values)) in enumerate(calls, 1):
                    if now == now and now != assembly.clock.now:
                        at(now)
                    with self._repeating(name, f"{snapshot.path}, call {number} of its log"):
                        repeated[name](*values)
        except BaseException:
            snapshot.close(save=False)
            raise

    @contextmanager
    def _repeating(self, name: str, where: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if isinstance(error, OSError) or not (
                self.ended or isinstance(error, HebbariumError | KeyError)
            ):
                raise  # of the embedder: nothing is wrong with file or memory
            raise SnapshotError(
                f"the call {name!r} cannot be repeated: {error}",
                where=where,
                cure="open the file with the version, the packages of mechanisms and the options that wrote it",
            ) from error
