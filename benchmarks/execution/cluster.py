"""Cells on the workers of a dask cluster.  The cluster is given; nothing here starts or ends its
processes.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Final

from ...engine.base.errors import HebbariumError, InputError
from .missing import Finished, Results, Way, Work, called, pack
from .setup import versions
from .sources import ConversationReference
from .spec import RunSpec

CONNECT_SECONDS: Final = 10.0  # wait for the scheduler, and for the first worker
INSTALL: Final = "pip install 'hebbarium[dask]'"
SAME: Final = "install the same release of hebbarium and of its libraries, on the same Python, on every worker, and start the workers again"
START: Final = "start `dask scheduler` and `dask worker ADDRESS --nthreads 1`, and give the address that the scheduler prints"
_ALONE = threading.Lock()  # a worker with several threads runs one cell at a time

Lost = Callable[[Any, tuple[Any, ...], str], Finished]


@dataclass(frozen=True)
class Cluster:
    """A connection to a scheduler; `workers` were there when it was made, later ones are used,
    too.
    """

    address: str
    client: Any
    workers: int

    @classmethod
    @contextmanager
    def joined(cls, address: str) -> Iterator[Cluster]:
        """Connect to the scheduler at an address such as tcp://host:8786.

        Raises InputError without the library, without a scheduler there, or if it has no worker.
        """
        try:
            import distributed
        except ImportError as error:
            raise InputError(
                "cells on a cluster need the library dask", where="--dask", cure=INSTALL
            ) from error
        library: Any = distributed
        logs = [logging.getLogger(f"distributed.{name}") for name in ("client", "comm", "core")]
        levels = [log.level for log in logs]
        # a scheduler that ends is an error of this command, told once
        for log in logs:
            log.setLevel(logging.CRITICAL)
        try:
            try:
                client = library.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
            except (OSError, ValueError, TypeError, ImportError) as error:
                raise InputError(
                    "no scheduler of dask answers", where=f"--dask {address}", cure=START
                ) from error
            with closing(client):
                try:
                    client.wait_for_workers(1, timeout=CONNECT_SECONDS)
                except TimeoutError as error:
                    raise InputError(
                        "the cluster has no worker", where=f"--dask {address}", cure=START
                    ) from error
                yield cls(address, client, len(client.scheduler_info(n_workers=-1)["workers"]))
        finally:
            for log, level in zip(logs, levels, strict=True):
                log.setLevel(level)

    def require(self, spec: RunSpec, data: Sequence[ConversationReference]) -> None:
        """Raises HebbariumError, which names the worker, if one has other code or cannot read
        the data.
        """
        for worker, provided in sorted(
            self.client.run(_problem, spec, tuple(data), on_error="return").items()
        ):
            if isinstance(provided, BaseException):  # the function itself is not found there
                raise HebbariumError(
                    f"the worker cannot run hebbarium ({type(provided).__name__}: {provided})",
                    where=worker,
                    cure=SAME,
                )
            if provided:
                raise HebbariumError(
                    provided[0],
                    where=f"{worker}, {provided[1]}" if provided[1] else worker,
                    cure=provided[2],
                )

    def way(self, lost: Lost) -> Way:
        """Calls by the workers; results as they end.

        lost  gives the result of a call whose workers ended again and again, from what calls share,
              its arguments, and what happened
        """

        def results(work: Work, shared: Any, calls: Sequence[tuple[Any, ...]]) -> Results:
            import distributed

            library: Any = distributed
            run = uuid.uuid4().hex  # two runs on one cluster share nothing
            # made again if its workers end
            packed = self.client.submit(
                _same, pack(shared), key=f"hebbarium-shared-{run}", pure=False
            )
            futures = {
                self.client.submit(
                    _alone, work, packed, call, key=f"hebbarium-{run}-{number}", pure=False
                ): call
                for number, call in enumerate(calls)
            }
            try:
                for future in library.as_completed(list(futures), loop=self.client.loop):
                    call = futures.pop(future)
                    try:
                        outcome = future.result()
                    except library.KilledWorker:
                        outcome = lost(
                            shared, call, "the worker process ended each time that it ran this cell"
                        )
                    except (ImportError, AttributeError) as error:
                        raise HebbariumError(
                            f"a worker cannot run hebbarium ({error})",
                            where=self.address,
                            cure=SAME,
                        ) from error
                    future.release()
                    yield outcome
            finally:
                self.client.cancel([packed, *futures], force=True)

        return results


def _same(packed: bytes) -> bytes:
    return packed


def _alone(work: Work, packed: bytes, call: tuple[Any, ...]) -> Finished:
    """One call in a worker of the cluster."""
    with _ALONE:
        return called(work, packed, call)


def _problem(spec: RunSpec, data: Sequence[ConversationReference]) -> tuple[str, str, str] | None:
    """In a worker: what, where and cure of the reason that it cannot run cells; None if it can."""
    try:
        require_same_code(spec)
        for dataset in data:
            dataset.checked()
    except HebbariumError as error:
        return error.what, str(error.where), str(error.cure)
    return None


def require_same_code(spec: RunSpec) -> None:
    """In a worker: raises HebbariumError if its code, or a library whose numbers enter a result,
    is another than that of the record.
    """
    mine = versions()
    odd = [
        f"{name} {mine.get(name, 'missing')}, expected {wanted}"
        for name, wanted in {**spec.versions, "hebbarium": spec.code}.items()
        if mine.get(name) != wanted
    ]
    if odd:
        raise HebbariumError(
            f"a worker has other code: {'; '.join(odd[:3])}",
            where=f"process {os.getpid()} on {socket.gethostname()}",
            cure=SAME,
        )
