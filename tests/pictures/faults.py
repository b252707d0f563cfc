"""Visual faults of a page that a script can find."""

from pathlib import Path

from playwright.sync_api import Page, TimeoutError

SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8").split("\n", 1)[1].rstrip("; \n")


def faults(page: Page) -> list[str]:
    """One sentence for each fault of the page as it is shown: sideways scrolling, cut text, overlapping words or
    controls, exceptions."""
    problems: list[str] = page.evaluate(SCRIPT)
    return problems


def lasting_faults(page: Page, *, but: str, within_ms: int = 10_000) -> list[str]:
    """The faults that do not hold ``but`` and are still there when the page had time to settle."""
    none = f"but => ({SCRIPT})().every(fault => fault.includes(but))"
    try:
        page.wait_for_function(none, arg=but, polling=200, timeout=within_ms)
    except TimeoutError:
        return [fault for fault in faults(page) if but not in fault]
    return []
