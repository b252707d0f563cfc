"""A work to cite."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A work to cite: BibTeX's ``key`` and ``kind``, its authors as BibTeX takes them (``Last, First and …``), title,
    year, the ``venue`` it was published in, and its number on arXiv, DOI or address, "" if it has none."""

    key: str
    kind: str
    authors: str
    title: str
    year: int
    venue: str = ""
    arxiv: str = ""
    doi: str = ""
    url: str = ""
