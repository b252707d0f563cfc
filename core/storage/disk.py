"""The disk space that files take."""

from pathlib import Path


def disk_use(place: Path) -> int:
    """Bytes that a file or a folder's files take on the disk, links not followed; 0 if there is nothing."""
    paths = (place, *place.rglob("*"))
    return sum(path.lstat().st_size for path in paths if path.is_file() or path.is_symlink())
