"""The command ``site``."""

from argparse import Namespace

from hedge.commands.answer import CommandResult


def site(arguments: Namespace) -> CommandResult:
    """Write the static site into a folder."""
    from docs.site import write_site

    front, *others = write_site(arguments.folder, repository=arguments.repository)
    size = sum(path.stat().st_size for path in (front, *others))
    values = {"front": str(front), "files": 1 + len(others), "bytes": size, "front_bytes": front.stat().st_size}
    text = (
        f"{front}: the first page, {front.stat().st_size / 1e6:.1f} MB; with the others {values['files']} files, "
        f"{size / 1e6:.1f} MB. Put the folder on any web space, or look at it with "
        f"`python -m http.server --directory {front.parent}`."
    )
    return CommandResult(values, text)
