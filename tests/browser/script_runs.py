"""How often a page has its script run until it is still, as the messages of its websocket say."""

import time

from playwright.sync_api import Page, WebSocket

from app.serving.messages import message_type

STILL_MS = 2000
"""A page that has not changed for this long, with no script running and nothing being computed, is still."""
WORKING = """() => document.querySelector('.computing, .checking, [data-testid=stSkeleton], [data-stale=true]') !== null
  || document.querySelector('.stApp[data-test-script-state=notRunning]') === null"""
CHANGES = """addEventListener('DOMContentLoaded', () => {
  const changed = () => window.lastChange = performance.timeOrigin + performance.now();
  new MutationObserver(changed).observe(document, { childList: true, subtree: true });
})"""


class ScriptRuns:
    """Counts a page's script runs. Make it before the page is opened; fragments count, too."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.runs: list[str] = []
        self._last_message = 0.0
        page.add_init_script(CHANGES)
        page.on("websocket", self._connected)

    def until_still(self, address: str) -> float:
        """Open the address, and return the seconds from there to the last change before the page is still."""
        begun = time.time()
        self.runs.clear()
        self.page.goto(address)
        while True:
            last = max(self.page.evaluate("window.lastChange") / 1000, self._last_message)
            if time.time() - last > STILL_MS / 1000 and not self.page.evaluate(WORKING):
                return last - begun
            self.page.wait_for_timeout(50)

    def _connected(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._received)

    def _received(self, content: bytes | str) -> None:
        self._last_message = time.time()
        if isinstance(content, bytes):
            message = message_type("ForwardMsg").FromString(content)
            if message.HasField("new_session"):
                self.runs.append("fragment" if message.metadata.run.fragment_ids else "page")
