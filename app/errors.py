"""Errors as a person reads them: one sentence that says what to do, never a traceback."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from app.caches import run_cache
from app.formatting import plain, sentence
from core import extras
from core.errors import HedgeError, UnreadableRunError
from core.storage import names

LOG = logging.getLogger(__name__)


@contextmanager
def spoken() -> Iterator[None]:
    """Show an error raised in the block as one sentence. An unexpected error is also written to the server's log.

    A fragment reruns without the page around it, so the body of each fragment needs a block of its own.
    """
    try:
        with extras.missing_packages_explained():
            yield
    except UnreadableRunError as error:
        if run_cache.set_aside(error):
            st.rerun()  # every page names such a run, and shows what it would show without it
        st.error(plain(sentence(str(error))))
    except HedgeError as error:
        st.error(plain(sentence(str(error))))
    except Exception as error:
        if problem := names.problem(error):
            st.error(plain(sentence(problem)))
            return
        LOG.exception("a page failed")
        st.error(
            f"Something unexpected went wrong ({type(error).__name__}). Reload the page. If it happens again, the "
            "server's log has the details."
        )
