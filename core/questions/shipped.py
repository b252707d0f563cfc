"""The questions that ship with Hedge, as text that is what was shipped.

``assets/bank`` and ``assets/trivia`` are text files, which an installer or Git may write with other line ends. So their
digests are those of the text with line feeds.
"""

import hashlib
from pathlib import Path

from core.errors import InputError
from core.settings import ASSETS
from core.storage.sealed import DIGEST_BYTES, DamagedError, content_of

DIGESTS = {
    "bank/ci.jsonl": "3ab03fed26ea95442d672bf6951aa64e",
    "bank/drs.jsonl": "0a1264e49cfbcfaec30c37758d1cdf94",
    "bank/ds.jsonl": "27cc69be46acea4a626c22faba1564e9",
    "bank/qa.jsonl": "df02fbce4780dc60a8d29d894e1e3954",
    "bank/rc.jsonl": "38778a9c3ad15f5aeb3c2cb0149bddf8",
    "trivia/questions.jsonl": "377541badb4cf75b79d77d2c8fd56eb2",
}
"""BLAKE2b of each file's text by its path in ``assets``. A file that is made again gets its new one here."""


def shipped_lines(path: Path) -> list[str]:
    """The lines of a file of questions in ``assets``. Raises :class:`InputError` if it is missing, or is not the file
    that was shipped."""
    try:
        text = content_of(path).decode().replace("\r\n", "\n")
        digest = hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()
        if digest != DIGESTS[path.relative_to(ASSETS).as_posix()]:
            raise DamagedError("it is not the file that was shipped")
    except (OSError, UnicodeDecodeError, DamagedError) as error:
        reason = error if isinstance(error, DamagedError) else type(error).__name__
        raise InputError(f"{path} is missing or damaged ({reason}); install Hedge again") from error
    return text.splitlines()
