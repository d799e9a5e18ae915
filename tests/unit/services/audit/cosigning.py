"""Provide a cosigner whose key is known."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from penstock.encryption import notes


class Cosigner:
    """Act as somebody with a key of their own."""

    def __init__(self, number: int) -> None:
        self.key = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
        public = self.key.public_key().public_bytes_raw()
        self.verifier = notes.Verifier(f"cosigner.example/{number}", notes.COSIGNATURE, public)

    def signed(self, note: str, at: int, *, of: str | None = None) -> str:
        """Return the note with their line; over ``of`` where that is another text."""
        said = of or note.rpartition("\n\n")[0] + "\n"
        signature = at.to_bytes(8, "big") + self.key.sign(notes.cosigned(said, at))
        return note + notes.line(self.verifier.name, self.verifier.id, signature)


ONE, TWO, STRANGER = Cosigner(1), Cosigner(2), Cosigner(3)
