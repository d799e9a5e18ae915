"""Encrypt the stored state, and bind every record to its row.

* ``key``        a 256-bit key that is never printed
* ``envelope``   authenticated encryption bound to the identity of a row
* ``vectors``    integer vectors in envelopes
* ``hierarchy``  a key for each query, under a key for each dataset, under the provider's
* ``providers``  the interface of a key provider
* ``keyring``    the provider that keeps its keys in a file
* ``ring_file``  the layout of that file
* ``pkcs11_provider`` the one whose keys never leave a hardware module
* ``signing``    the key that signs the log's checkpoints
* ``notes``      signed notes, and cosignatures of checkpoints
* ``secrets``    the keys of HMACs, in a file of their own
* ``private``    files that nobody else may read

A row that was altered, cut, copied or swapped does not open: ``IntegrityViolation``.
"""

from penstock.encryption.envelope import RowIdentity, open_envelope, seal
from penstock.encryption.hierarchy import (
    dataset_context,
    new_dataset_kek,
    new_query_dek,
    unwrap_dataset_kek,
    unwrap_query_dek,
    wrapping_key,
)
from penstock.encryption.key import Key
from penstock.encryption.keyring import KeyRing
from penstock.encryption.pkcs11_provider import Pkcs11
from penstock.encryption.providers import Health, KeyProvider
from penstock.encryption.secrets import Secrets, SecretsFile
from penstock.encryption.signing import SigningKey, signing_context

__all__ = [
    "Health",
    "Key",
    "KeyProvider",
    "KeyRing",
    "Pkcs11",
    "RowIdentity",
    "Secrets",
    "SecretsFile",
    "SigningKey",
    "dataset_context",
    "new_dataset_kek",
    "new_query_dek",
    "open_envelope",
    "seal",
    "signing_context",
    "unwrap_dataset_kek",
    "unwrap_query_dek",
    "wrapping_key",
]
