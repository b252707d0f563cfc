"""The state of each page: a small typed record, kept in the page's address, so that a link restores the view.

``fields``   the kinds of fields: how the text of each is read, and which texts are invalid
``shared``   the fields that pages share (run, alpha, score, policy for empty sets, compared runs), the base of the rest
``address``  converts between a link and a record
``session``  the last view of each page in a session, and the address of the open page

Each other file is the record of one page. Doctor has none, because it has no state that is worth a link. A menu's links
carry no view, so the last view of each page is kept for the session and written back into the address. An invalid value
in a link is reported in one sentence and replaced by the previous value or by the default.

Streamlit can bind a widget to the address by ``bind="query-params"``. The Tokens page uses that for its model and its
evaluations: no other page needs them, and their labels are their names. Binding does not suit the pages that have a
record, for four reasons, found with Streamlit 1.67:

- A bound widget writes the label that a person reads ("Equal mass"), but our links hold a value that stays the same
  if a label is reworded ("mass"). Links of earlier versions would open another view.
- A bound widget drops an invalid value silently.
- The Alpha lab, the option bars, the jury and the temperature are components, and only Streamlit's own widgets can be
  bound. Alpha is moved by a component on one page and by a slider on the next, and both need one source.
- ``st.query_params`` can't write a bound name, and writing other names drops it from the address. So either all names
  in a page's address are bound or none is.
"""

from app.state.address import address_of, linked
from app.state.session import (
    came_by_run_link,
    change,
    choose_run,
    fresh,
    is_linked,
    is_open,
    moved_names,
    name_unknown,
    no_view,
    read_changes,
    remembered,
    taking,
    until_next_action,
    view,
)

__all__ = [
    "address_of",
    "came_by_run_link",
    "change",
    "choose_run",
    "fresh",
    "is_linked",
    "is_open",
    "linked",
    "moved_names",
    "name_unknown",
    "no_view",
    "read_changes",
    "remembered",
    "taking",
    "until_next_action",
    "view",
]
