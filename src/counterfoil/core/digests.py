"""Digests of bytes, each with the name of what made it."""

from hashlib import sha256


def tagged_digest(content: bytes) -> str:
    """Return `sha256:` and the digest of `content`, in hexadecimal."""
    return f"sha256:{sha256(content).hexdigest()}"


def digest_hex(digest: str) -> str:
    """Return the hexadecimal part of a tagged digest: fit for the name of a file.

    >>> digest_hex("sha256:0a1b")
    '0a1b'
    """
    return digest.partition(":")[2]
