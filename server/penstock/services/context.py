"""Hold everything that a use case needs and must not obtain by itself."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from penstock.encryption.providers import KeyProvider
from penstock.encryption.secrets import Secrets, SecretsFile
from penstock.persistence.chunks.choice import chunk_store
from penstock.persistence.chunks.store import ChunkStore
from penstock.persistence.database import Database
from penstock.services.computing import Computing, Here
from penstock.services.kept import Kept
from penstock.services.kept_keys import KeptKeys
from penstock.settings import Settings
from penstock.transparency_log.logged_time import LoggedTime
from penstock.transparency_log.sequencer import Sequencer

if TYPE_CHECKING:
    from penstock.connectors.connections import Connections
    from penstock.connectors.sources import Sources
    from penstock.openid.issuer import Issuer
    from penstock.openid.relying_party import RelyingParty
    from penstock.randomness.stream import Stream


@dataclass(frozen=True)
class Server:
    """Hold one server's database, log, keys, clock and entropy, passed to every use case.

    ``clock`` returns the time in UTC, never earlier than the log's last signature; ``randomness`` a
    freshly keyed stream, once per release; ``drawing`` is entered while noise is drawn, and left
    afterwards, with nothing that was drawn.  ``issuer`` is the trusted OpenID provider, if there is
    one, and ``relying_party`` signs people in there; ``computing`` runs long computations.
    ``stored`` has the secrets, which may be rotated while the server runs.  ``kept`` has queries as
    earlier requests read them, and ``clearances`` what users had at their last request; both are
    compared with the database before use.  ``signed_in`` has the rows of tokens and users at their
    last request, by the token's prefix.  ``counted`` has what users were handed lately
    (``releases.quota.Counted``).  ``keys`` are those that were unwrapped lately.
    ``earlier_hashes`` has by dataset the hashes of statistics that earlier versions stored under
    others than theirs today.
    """

    settings: Settings
    database: Database
    sequencer: Sequencer
    provider: KeyProvider
    stored: SecretsFile
    clock: LoggedTime
    randomness: "Callable[[], Stream]"
    drawing: "Callable[[], AbstractContextManager[None]]" = nullcontext
    issuer: "Issuer | None" = None
    relying_party: "RelyingParty | None" = None
    computing: Computing = field(default_factory=Here)
    kept: Kept[Any] = field(default_factory=Kept)
    clearances: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
    signed_in: dict[str, Any] = field(default_factory=dict)
    counted: dict[int, Any] = field(default_factory=dict)
    keys: KeptKeys = field(default_factory=KeptKeys)
    earlier_hashes: dict[int, Mapping[str, str]] = field(default_factory=dict)

    @cached_property
    def chunks(self) -> ChunkStore:
        """Return where the chunks of long vectors are.  Raises ``Unavailable``."""
        settings = self.settings
        return chunk_store(settings.chunks_folder, settings.home, lambda: settings.room_reserve)

    @property
    def connections(self) -> "Connections":
        """Return the credentials that the operator names, for connectors alone."""
        from penstock.connectors.connections import Connections

        return Connections(self.settings.connections)

    @property
    def sources(self) -> "Sources":
        """Return from where connectors may read on behalf of this server."""
        from penstock.connectors.sources import Sources

        # Names of files are checked and made absolute before they are stored.
        return Sources(
            connections=self.connections, statement_timeout=self.settings.statement_timeout
        )

    @property
    def secrets(self) -> Secrets:
        """Return the present secrets from their file.  Raises ``KeysUnavailable``."""
        return self.stored.now
