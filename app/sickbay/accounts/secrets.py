"""Random secrets, and the hash that is stored in their place."""

import hashlib
import secrets

SECRET_BYTES = 32
"""256 bits: beyond guessing, so no rate limit carries the weight."""


def fresh() -> str:
    """Return a new secret, 43 characters that are safe in a URL."""
    return secrets.token_urlsafe(SECRET_BYTES)


def hashed(secret: str) -> bytes:
    """Return the SHA-256 under which a secret is stored."""
    return hashlib.sha256(secret.encode("utf-8", errors="replace")).digest()
