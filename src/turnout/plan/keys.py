"""Keys of the flow hash."""

from hashlib import blake2b


def hash_key(master: bytes, name: str) -> bytes:
    """16 bytes: BLAKE2b of the key's name under the master secret (b"" where there is none), so
    that one file serves all pools and gives none of their keys away to another."""
    return blake2b(name.encode(), digest_size=16, key=master, person=b"turnout hash").digest()
