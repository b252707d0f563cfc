"""What a person looks at: a small typed record a page, which lives in the page's address, so that a link reopens it.

``fields``   the kinds of fields: how the text of each is read, and what is nonsense in it
``shared``   the fields that cross pages (run, alpha, score, policy for empty sets, compared runs), the base of the rest
``address``  from a link to a record and back
``session``  what a session remembers of each page, and the address of the page that is open

Each other file is the record of one page. New run and Doctor have none: nothing there is worth a link. A menu's links
carry no view, so the last view of each page is remembered for the session and written back into the address. Nonsense
in a link is named in one sentence and replaced by what was there before or by the default.

Streamlit binds a widget to the address by ``bind="query-params"``. The Tokens page uses that for its model and its
evaluations: no other page needs them, and their labels are their names. It does not serve the pages that have a
record, for four reasons, found with Streamlit 1.67:

- A bound widget writes the label that a person reads ("Equal mass"), and links hold a value that stays the same when
  a label is reworded ("mass"). Links of earlier versions would open another view.
- Nonsense is dropped without a word.
- The Alpha lab, the option bars, the jury and the temperature are components; only Streamlit's own widgets can be
  bound. Alpha is moved by a component on one page and by a slider on the next, and both need one source.
- A bound name can't be written by ``st.query_params``, and a write of the other names drops it from the address. So
  one page's address has to be all bound or all ours.
"""

from app.state.address import address_of
from app.state.session import change, choose_run, fresh, name_unknown, no_view, read_changes, taking, view

__all__ = [
    "address_of",
    "change",
    "choose_run",
    "fresh",
    "name_unknown",
    "no_view",
    "read_changes",
    "taking",
    "view",
]
