"""Accept something once: a sign-in's state, or a provider's notice.

Its digest is stored until it expires, and from then on its time refuses it.
"""

import hashlib
from datetime import datetime

from sqlalchemy.exc import IntegrityError
from sqlmodel import col, delete, select

from penstock.persistence.dialects import duplicate
from penstock.persistence.protocol import Need
from penstock.persistence.tables.sessions import UsedOnce
from penstock.services.context import Server


def use(server: Server, kind: str, text: str, expires: datetime) -> bool:
    """Return True the first time that ``text`` of this kind is used, and False from then on."""
    digest = hashlib.sha256(f"penstock {kind}\0{text}".encode(errors="replace")).digest()
    try:
        with server.database.write_own_rows(need=Need.LITTLE) as session:
            session.exec(delete(UsedOnce).where(col(UsedOnce.expires_at) <= server.clock()))
            known = select(UsedOnce.id).where(col(UsedOnce.digest) == digest)
            if session.exec(known).first() is not None:
                return False
            session.add(UsedOnce(digest=digest, expires_at=expires))
            session.flush()
    except IntegrityError as problem:
        if not duplicate(problem):
            raise
        return False
    return True
