"""Make certificates of this machine for a test: signed by an authority, or by nobody else."""

import datetime
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HERE = "127.0.0.1"
_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    """Hold an authority: the file with its certificate, its name and its key."""

    path: Path
    name: x509.Name
    key: ec.EllipticCurvePrivateKey

    def certificate(self, folder: Path, address: str = HERE, *, until: int = 1) -> Path:
        """Write a certificate for an address with its key; it ends ``until`` days from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternative = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
        made = (
            _begun(_named(address), self.name, key, until)
            .add_extension(alternative, critical=False)
            .sign(self.key, hashes.SHA256())
        )
        path = folder / f"{address}-{until}.pem"
        path.write_bytes(_private(key) + made.public_bytes(serialization.Encoding.PEM))
        return path


def authority(folder: Path, called: str = "An authority of a test") -> Authority:
    """Make an authority that signs certificates, and write its own."""
    key, name = ec.generate_private_key(ec.SECP256R1()), _named(called)
    constraints = x509.BasicConstraints(ca=True, path_length=0)
    made = _begun(name, name, key, 1).add_extension(constraints, critical=True)
    path = folder / f"{called}.pem"
    signed = made.sign(key, hashes.SHA256())
    path.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    return Authority(path, name, key)


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, until: int
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 10 * _DAY)
        .not_valid_after(now + until * _DAY)
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
