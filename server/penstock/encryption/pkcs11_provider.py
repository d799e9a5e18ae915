"""Keep the provider's keys in a hardware module, reached by PKCS #11 (OASIS 2015).

Every context has its own AES-256 keys on the token: private, sensitive, not extractable.  A wrapped
key is ``version | alg | key id | nonce | ciphertext and tag``: AES-GCM by the module, with the
first ten bytes and the context as additional data.  A key's label names its context by a digest;
its id is a count of the context's keys and four random bytes, so that the newest is the greatest.

The PIN is read from a file that nobody else may read.  One session is kept open, by the
process that opened it, and opened again after a failure.
"""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from penstock.encryption import private
from penstock.encryption.envelope import NONCE_SIZE, TAG_SIZE, RowIdentity, broken
from penstock.encryption.key import ID_SIZE, SIZE, Key
from penstock.encryption.providers import Health
from penstock.errors import IntegrityViolation, KeysUnavailable

if TYPE_CHECKING:
    from pkcs11 import Session

    # The library's own stubs do not know what the keys that it finds can do.
    SecretKey = Any

VERSION = 1
ALGORITHM = 2
"""AES-256-GCM under a key of the token."""

_PREFIX_SIZE = 2 + ID_SIZE
_WRAPPED_SIZE = _PREFIX_SIZE + NONCE_SIZE + SIZE + TAG_SIZE
_LABEL = "penstock "
_PROBE = b"probe"

T = TypeVar("T")


class Pkcs11:
    """Hold a ``KeyProvider`` over a token.

    ``module`` is the vendor's library, ``token`` the token's label, and ``pin_file`` a
    file of mode 0600 that holds the PIN.  Nothing is opened before the first call.
    """

    def __init__(self, module: Path, token: str, pin_file: Path) -> None:
        self._module = module
        self._token = token
        self._pin_file = pin_file
        self._lock = RLock()
        self._session: Session | None = None
        self._process = 0

    def wrap(self, key: Key, context: bytes) -> bytes:
        """Return ``key`` by the token, under the newest key of ``context``."""

        def act(session: "Session") -> bytes:
            newest = _newest(session, context) or _made(session, context)
            nonce = os.urandom(NONCE_SIZE)
            prefix = bytes((VERSION, ALGORITHM, *newest.id))
            return prefix + nonce + _encrypt(newest, key.material, nonce, prefix + context)

        return self._do(act)

    def unwrap(self, wrapped: bytes, context: bytes) -> Key:
        """Unwrap a key.  Raises ``KeysUnavailable`` if the token lacks its wrapping key."""
        return self._do(lambda session: self._unwrapped(session, wrapped, context))

    def rewrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Return the key wrapped under the context's newest; unchanged if it already is."""
        key = self.unwrap(wrapped, context)
        newest = self._do(lambda session: _newest(session, context))
        if newest is not None and wrapped[2:_PREFIX_SIZE] == newest.id:
            return wrapped
        return self.wrap(key, context)

    def renew(self, context: bytes) -> str:
        """Make a new key for ``context``, its newest from now on; return its public name."""
        return self._do(lambda session: _name(_made(session, context)))

    def keys_of(self, context: bytes) -> tuple[str, ...]:
        """Return the names of the keys of ``context``, the newest last."""
        return self._do(lambda session: tuple(map(_name, _keys(session, context))))

    def shared(self) -> tuple[str, ...]:
        """Return none: on a token every key belongs to a context."""
        return ()

    def drop(self, names: Collection[str]) -> tuple[str, ...]:
        """Delete keys by name."""
        return self._do(
            lambda session: _destroy([key for key in _all(session) if _name(key) in names])
        )

    def destroy(self, context: bytes) -> tuple[str, ...]:
        """Delete every key of ``context``."""
        return self._do(lambda session: _destroy(_keys(session, context)))

    def version(self) -> str:
        """Return the token's label: to look for a key there takes as long as to use it."""
        return self._token

    def health(self) -> Health:
        """Return the keys on the token now.  Raises ``KeysUnavailable`` if it cannot be used."""
        return Health("pkcs11", self._do(lambda session: tuple(map(_name, _all(session)))))

    def _unwrapped(self, session: "Session", wrapped: bytes, context: bytes) -> Key:
        if len(wrapped) != _WRAPPED_SIZE or wrapped[:2] != bytes((VERSION, ALGORITHM)):
            raise _violation(context, "is cut short, or belongs to another provider")
        prefix, nonce = wrapped[:_PREFIX_SIZE], wrapped[_PREFIX_SIZE:][:NONCE_SIZE]
        key = next((k for k in _keys(session, context) if k.id == prefix[2:]), None)
        if key is None:
            raise self._lacking(session, prefix[2:], context)
        ciphertext = wrapped[_PREFIX_SIZE + NONCE_SIZE :]
        try:
            return Key(_decrypt(key, ciphertext, nonce, prefix + context))
        except _failure():
            # Modules report a wrong tag and a failure of their own in the same way; decrypting what
            # was just encrypted distinguishes the two.
            probe = _encrypt(key, _PROBE, nonce := os.urandom(NONCE_SIZE), context)
            _decrypt(key, probe, nonce, context)
            raise _violation(context, "was altered or belongs to another row") from None

    def _lacking(self, session: "Session", name: bytes, context: bytes) -> Exception:
        if any(key.id == name for key in _all(session)):
            return _violation(context, "is wrapped for another row")
        return KeysUnavailable(
            f"The token {self._token!r} lacks key {name.hex()}, under which a stored key is"
            " wrapped. Connect the token that belongs to this database, or restore the database"
            " that belongs to this token."
        )

    def _do(self, act: "Callable[[Session], T]") -> T:
        with self._lock:
            kept = self._session is not None and self._process == os.getpid()
            try:
                return act(self._opened())
            except _failure() as failure:
                self._session = None
                if not kept:
                    raise self._unavailable(failure) from None
            try:
                return act(self._opened())  # the module may have been restarted meanwhile
            except _failure() as failure:
                self._session = None
                raise self._unavailable(failure) from None

    def _opened(self) -> "Session":
        """Return the session of this process; a child of it must not use its parent's."""
        if self._session is not None and self._process == os.getpid():
            return self._session
        import pkcs11  # imported late: an extra that other providers do without

        library = pkcs11.lib(str(self._module))
        if self._process not in (0, os.getpid()):
            library.reinitialize()
        token = library.get_token(token_label=self._token)
        try:
            session = token.open(rw=True, user_pin=private.read_text(self._pin_file))
        except pkcs11.UserAlreadyLoggedIn:
            session = token.open(rw=True)  # by another session of this process
        self._session, self._process = session, os.getpid()
        return session

    def _unavailable(self, failure: Exception) -> KeysUnavailable:
        return KeysUnavailable(
            f"The token {self._token!r} cannot be used ({type(failure).__name__}). Check"
            " PENSTOCK_PKCS11_MODULE, PENSTOCK_PKCS11_TOKEN, the PIN in"
            " PENSTOCK_PKCS11_PIN_FILE, and that the device is connected."
        )

    def __repr__(self) -> str:
        return f"Pkcs11({self._token!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session with a token is not serialized; open it again")


def _failure() -> type[Exception]:
    """Return the exception class of the module."""
    try:
        import pkcs11
    except ImportError as error:
        raise KeysUnavailable(
            "Tokens need the package python-pkcs11: run `pip install 'penstock[pkcs11]'`."
        ) from error
    return pkcs11.PKCS11Error


def _name(key: "SecretKey") -> str:
    return bytes(key.id).hex()


def _label(context: bytes) -> str:
    return _LABEL + hashlib.sha256(context).hexdigest()[:32]


def _all(session: "Session") -> "list[SecretKey]":
    from pkcs11 import Attribute, ObjectClass

    secret_keys: Iterable[SecretKey] = session.get_objects(
        {Attribute.CLASS: ObjectClass.SECRET_KEY}
    )
    return [key for key in secret_keys if key.label.startswith(_LABEL)]


def _keys(session: "Session", context: bytes) -> "list[SecretKey]":
    """Return the keys of a context, the newest last."""
    from pkcs11 import Attribute, ObjectClass

    secret_keys: Iterable[SecretKey] = session.get_objects(
        {Attribute.CLASS: ObjectClass.SECRET_KEY, Attribute.LABEL: _label(context)}
    )
    return sorted(secret_keys, key=lambda key: key.id)


def _newest(session: "Session", context: bytes) -> "SecretKey | None":
    return next(reversed(_keys(session, context)), None)


def _made(session: "Session", context: bytes) -> "SecretKey":
    from pkcs11 import Attribute, KeyType

    newest = _newest(session, context)
    count = int.from_bytes(newest.id[:4], "big") + 1 if newest is not None else 1
    return session.generate_key(
        KeyType.AES,
        8 * SIZE,
        id=count.to_bytes(4, "big") + os.urandom(ID_SIZE - 4),
        label=_label(context),
        store=True,
        template={
            Attribute.PRIVATE: True,
            Attribute.SENSITIVE: True,
            Attribute.EXTRACTABLE: False,
            Attribute.ENCRYPT: True,
            Attribute.DECRYPT: True,
            Attribute.WRAP: False,
            Attribute.UNWRAP: False,
        },
    )


def _destroy(keys: "Iterable[SecretKey]") -> tuple[str, ...]:
    names = []
    for key in keys:
        names.append(_name(key))
        key.destroy()
    return tuple(names)


def _encrypt(key: "SecretKey", plaintext: bytes, nonce: bytes, data: bytes) -> bytes:
    from pkcs11 import GCMParams, Mechanism

    parameters = GCMParams(nonce, data, 8 * TAG_SIZE)
    return bytes(key.encrypt(plaintext, mechanism=Mechanism.AES_GCM, mechanism_param=parameters))


def _decrypt(key: "SecretKey", ciphertext: bytes, nonce: bytes, data: bytes) -> bytes:
    from pkcs11 import GCMParams, Mechanism

    parameters = GCMParams(nonce, data, 8 * TAG_SIZE)
    return bytes(key.decrypt(ciphertext, mechanism=Mechanism.AES_GCM, mechanism_param=parameters))


def _violation(context: bytes, what: str) -> IntegrityViolation:
    return broken(RowIdentity(table="key", dataset=context.hex(), length=1, type="kek"), what)
