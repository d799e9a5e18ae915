"""Define what a home is asked after each kill, as it was left: nobody cleans up."""

from collections.abc import Sequence

from tests.faults.findings import NOTHING, examine, served_otherwise
from tests.faults.reports import Reported
from tests.faults.rules import broken_rules, unproven_values
from tests.faults.snapshot import altered, history, snapshot

from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.verification.verification import verify


class Aftermath:
    """Compare a home after a kill with what was known of it before."""

    def __init__(self, server: Server) -> None:
        self._history = history(snapshot(server))

    def complaints(self, server: Server, answers: Sequence[Reported] = ()) -> list[str]:
        """Return what is wrong now; ``answers`` are those given since the last comparison."""
        now = snapshot(server)
        before, self._history = self._history, history(now)
        found = [f"{table} was altered" for table in altered(before, self._history)]
        found += broken_rules(server, now)
        stored = {row["public_id"] for row in now["release"]}
        placed = {row["hash"].hex() for row in now["leaf"] if row["index"] is not None}
        found += [
            f"release {told.release} is lost" for told in answers if told.release not in stored
        ]
        found += [
            f"the log has no place for release {told.release}"
            for told in answers
            if told.release in stored and told.leaf_hash not in placed
        ]
        found += [server.sequencer.suspended] if server.sequencer.suspended else []
        if not found and (count := served_otherwise(server, answers)):
            found.append(f"{count} readers are told something else now")
        return found

    def final_complaints(self, server: Server, answers: Sequence[Reported]) -> list[str]:
        """Return what is wrong in the end, with every value opened and every answer asked again."""
        found = self.complaints(server, answers) + unproven_values(server)
        found += verify(server, OPERATOR).problems
        findings = examine(server, answers, is_traced=False)
        return found if findings == NOTHING else [*found, str(findings)]
