"""Everything that a use case needs and must not reach for by itself."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.encryption import KeyProvider, Secrets, SecretsFile
from penstock.openid.issuer import Issuer
from penstock.persistence import Database
from penstock.services.computing import Computing, Here
from penstock.settings import Settings
from penstock.transparency_log.logged_time import LoggedTime
from penstock.transparency_log.sequencer import Sequencer

if TYPE_CHECKING:
    from penstock.randomness import Stream


@dataclass(frozen=True)
class Server:
    """One server's database, log, keys, clock and entropy, passed to every use case.

    ``clock`` answers the time in UTC, never before the log was signed last; ``randomness`` a
    freshly keyed stream, asked once for every release.  ``issuer`` is the OpenID provider that is
    believed, where there is one, ``computing`` works out what is long.  ``stored`` are the secrets,
    of which newer ones are made while this runs.
    """

    settings: Settings
    database: Database
    sequencer: Sequencer
    provider: KeyProvider
    stored: SecretsFile
    clock: LoggedTime
    randomness: "Callable[[], Stream]"
    issuer: Issuer | None = None
    computing: Computing = field(default_factory=Here)

    @property
    def secrets(self) -> Secrets:
        """The secrets as their file has them now.  Raises ``KeysUnavailable``."""
        return self.stored.now
