"""Run functions at the same time, in threads."""

import threading
from collections.abc import Callable, Sequence

from sqlalchemy.exc import IntegrityError
from tests.databases.homes import PATIENCE

from penstock.errors import PenstockError


def together(acts: Sequence[Callable[[], object]]) -> list[str]:
    """Run all at the same time; what each came to: ``done``, or the name of its error."""
    outcomes = [""] * len(acts)
    barrier = threading.Barrier(len(acts), timeout=PATIENCE)

    def run(place: int) -> None:
        barrier.wait()
        try:
            acts[place]()
        except (PenstockError, IntegrityError) as error:
            outcomes[place] = type(error).__name__
        else:
            outcomes[place] = "done"

    threads = [threading.Thread(target=run, args=(place,)) for place in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes
