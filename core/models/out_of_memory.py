"""Running out of memory: how to recognise the error, and the sentence that a person reads. Loads no torch."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out, on any device.

    >>> is_out_of_memory(RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"))
    True
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":  # the latter is torch's
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("out of memory" in text or "can't allocate memory" in text)


def out_of_memory(tokens: int | None = None) -> str:
    """The sentence. ``tokens`` is the length of the question that did not fit, if it was a single one.

    >>> out_of_memory()
    'there was not enough memory; choose a smaller model, 16-bit precision, or fewer shots'
    >>> out_of_memory(512).partition(";")[0]
    'there was not enough memory on a single question of 512 tokens'
    """
    where = "" if tokens is None else f" on a single question of {tokens:,} tokens"
    return f"there was not enough memory{where}; choose a smaller model, 16-bit precision, or fewer shots"
