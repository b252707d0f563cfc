"""Messages to a person in a class, with the status of their HTTP response."""

from core.errors import InputError


class ClassRefusal(InputError):
    """A code, a seat, a name or an answer that a class does not take. ``status`` is that of the HTTP answer, and after
    ``wait_s`` seconds, unless they are 0, asking again can help."""

    def __init__(self, sentence: str, status: int = 400, *, wait_s: int = 0) -> None:
        super().__init__(sentence)
        self.status, self.wait_s = status, wait_s


def no_class(code: str) -> ClassRefusal:
    """There is no class with this code."""
    return ClassRefusal(f"there is no class {code} on this server; read the code again on the projector", 404)


def over(code: str) -> ClassRefusal:
    """The class has ended."""
    return ClassRefusal(f"the class {code} is over; ask the lecturer for the code of a new one", 410)
