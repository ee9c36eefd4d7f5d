"""What may wait for the disk, beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

from miles_tui.ingest.files.away import DISK

P = ParamSpec("P")
T = TypeVar("T")


async def aside(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `function` gives, called in a thread that nobody waits for: quitting would, for those of `to_thread`."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def give(result: T | None, error: BaseException | None) -> None:
        if answer.done():  # nobody waits any more
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)  # type: ignore[arg-type]  # of a function that gives None it is None

    def run() -> None:
        result, error = None, None
        try:
            result = function(*args, **kwargs)
        except Exception as raised:  # noqa: BLE001  # raised again where it is awaited
            error = raised
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(give, result, error)

    threading.Thread(target=run, name=DISK, daemon=True).start()
    return await answer
