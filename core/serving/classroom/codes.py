"""The code that phones join a class by, and the hashes that seats' tokens are kept as."""

import hashlib
import re
import secrets

from core.serving.classroom.refusals import ClassRefusal

LETTERS = "BCDFGHJKMNPQRTVWXZ"
"""No vowels, so that a code is no word, and none of I, L, O, S and Y, which are misread on a projector."""
LENGTH = 6
CODE = re.compile(f"[{LETTERS}]{{{LENGTH}}}")
TOKEN = re.compile(r"[0-9a-f]{32}")
"""128 random bits, which a phone draws itself, so that joining twice by an accident of the network takes one seat."""


def new_code() -> str:
    """A random code, one of 34 million."""
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def read_code(text: str) -> str:
    """The code as a person typed it, in capitals and without spaces and dashes.

    Raises :class:`ClassRefusal` if no class can have it.

    >>> read_code("bcd-fgh ")
    'BCDFGH'
    """
    code = re.sub(r"[\s-]", "", text[:40]).upper()
    if not CODE.fullmatch(code):
        raise ClassRefusal(
            f"{text[:20]!r} is not the code of a class: a code has {LENGTH} letters; read it again on the projector",
            404,
        )
    return code


def hash_of(token: str) -> str:
    """The hash that a token is kept as.

    Raises :class:`ClassRefusal` if it is no token.
    """
    if not TOKEN.fullmatch(token):
        raise ClassRefusal("this phone has no seat in the class; join it with the code on the projector", 401)
    return hashlib.sha256(token.encode()).hexdigest()
