"""Progress: shows the done part of a sweep, its speed and the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from tf_opdiff.harness.system.terminal import bare, safe

#: Seconds between the lines that replace the bar if the output is no terminal.
EVERY = 10.0


@contextmanager
def shown(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yields a function to call with the number of newly done elements; shows a bar on a terminal, else lines."""
    began = time.monotonic()
    done = 0
    console = Console(file=bare(sys.stderr))
    if console.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[rate]}"),
        )
        left = TimeRemainingColumn()
        # without these two, printed text would go to the bar's console, not through `guarded`
        with Progress(*columns, left, console=console, redirect_stdout=False, redirect_stderr=False) as bar:
            task = bar.add_task(escape(safe(name)), total=total, rate="")

            def step(n: int) -> None:
                nonlocal done
                done += n
                bar.update(task, advance=n, rate=f"{done / (time.monotonic() - began) / 1e6:.1f} M/s")

            yield step
        return
    last = began

    def line(n: int) -> None:
        nonlocal done, last
        done += n
        now = time.monotonic()
        if now - last >= EVERY or done == total:
            last = now
            rate = done / (now - began)
            left = f"{(total - done) / rate:.0f} s left"
            print(f"{name}: {done / total:.1%}, {rate / 1e6:.1f} M/s, {left}", file=sys.stderr, flush=True)

    yield line
