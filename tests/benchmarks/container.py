"""Build the image of the Dockerfile without a container engine: its steps, one by one, on a bare Debian root.

    debootstrap --variant=minbase bookworm ROOT http://deb.debian.org/debian
    python -m tests.benchmarks.container ROOT --target tests --arg TORCH_INDEX=https://download.pytorch.org/whl
    python -m tests.benchmarks.container ROOT --run          # the image's own command, as its own user
    python -m tests.benchmarks.container ROOT --run --user 12345   # as a user whom the image does not know

Needs root, for chroot. Folders that ``--bind`` names are mounted into the root as they are here, such as one of wheels.
The root's own file system is read-only for ``--run``, but for the volumes, /tmp and what ``--bind`` names.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.settings import ROOT


class Image:
    """A root file system that a Dockerfile's steps are done in."""

    def __init__(self, root: Path, arguments: dict[str, str]) -> None:
        self.root = root
        self.arguments = arguments
        self.variables: dict[str, str] = {}
        self.folder, self.user = "/", "root"
        self.command: list[str] = []
        self.entry: list[str] = []

    def step(self, word: str, rest: str, *, build: bool) -> None:
        """Do one step; without ``build`` only what the image remembers of it."""
        if word == "ARG":
            name, _, value = rest.partition("=")
            self.arguments.setdefault(name, value)
        elif word == "ENV":
            self.variables |= dict(pair.split("=", 1) for pair in shlex.split(rest))
        elif word == "WORKDIR":
            self.folder = rest
            (self.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "USER":
            self.user = rest
        elif word in ("CMD", "ENTRYPOINT"):
            setattr(self, "command" if word == "CMD" else "entry", json.loads(rest))
        elif build and word == "RUN":
            self.run(["sh", "-c", rest])
        elif build and word == "COPY":
            self.copy(rest.split())

    def copy(self, words: Sequence[str]) -> None:
        """Copy what git holds, as a clone would; a name or the whole folder."""
        *sources, target = words
        place = self.root / self.folder.lstrip("/") / target
        place.mkdir(parents=True, exist_ok=True)
        listed = subprocess.run(
            ["git", "ls-files", "-z", *sources], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, place / name)

    def run(self, command: Sequence[str], *, sealed: bool = False) -> None:
        """Run a command in the root, by the image's user and in its folder."""
        inner = f"cd {shlex.quote(self.folder)} && exec {shlex.join(command)}"
        groups = "--clear-groups" if self.user.isdigit() else "--init-groups"
        as_user = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", groups, "sh", "-c", inner]
        words = as_user if self.user != "root" else ["sh", "-c", inner]
        variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        passed = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "SSL_", "HEDGE_REAL"))}
        enter = ["chroot", str(self.root), *words]
        if sealed:
            root = shlex.quote(str(self.root))
            seal = f"mount --rbind {root} {root} && mount -o remount,bind,ro {root} && mount -t proc proc {root}/proc"
            places = [f"{root}{volume}" for volume in ("/tmp", "/data")]  # with the rights that they have in the image
            tmpfs = " && ".join(f"mount -t tmpfs -o mode=$(stat -c %a {place}) tmpfs {place}" for place in places)
            # Nothing of this is seen outside, and whatever is left is killed with the command.
            apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c"]
            enter = [*apart, f"{seal} && {tmpfs} && exec {shlex.join(enter)}"]
        subprocess.run(enter, env=variables | passed | self.arguments | self.variables, check=True)


def steps(text: str, target: str) -> Iterator[tuple[str, str]]:
    """The steps of the stage ``target`` (empty: the last) and of those that it is built on."""
    stages: dict[str, list[tuple[str, str]]] = {}
    name = ""
    for line in re.sub(r"\\\n", " ", re.sub(r"(?m)^\s*#.*\n", "", text)).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            base, _, alias = rest.partition(" AS ")
            name = alias or "last"
            stages[name] = list(stages.get(base, []))
        elif word:
            stages[name].append((word, " ".join(rest.split())))
    yield from stages[target or name]


def main() -> None:
    """Build, or run what was built."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--target", default="")
    parser.add_argument("--arg", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--bind", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--run", action="store_true", help="run the image's command, not build it")
    parser.add_argument("--user", help="run as this user, as `docker run --user` does", metavar="UID")
    parser.add_argument("command", nargs="*", help="another command to run")
    given = parser.parse_args()
    image = Image(given.root.resolve(), dict(pair.split("=", 1) for pair in given.arg))
    mounted = [image.root / "proc", image.root / "dev", *(image.root / name.lstrip("/") for name in given.bind)]
    for place, source in zip(mounted, ["proc", "/dev", *given.bind], strict=True):
        place.mkdir(parents=True, exist_ok=True)
        kind = ["-t", "proc", "proc"] if source == "proc" else ["--rbind", source]
        subprocess.run(["mount", *kind, str(place)], check=True)
    shutil.copy("/etc/resolv.conf", image.root / "etc" / "resolv.conf")
    try:
        for word, rest in steps((ROOT / "Dockerfile").read_text(encoding="utf-8"), given.target):
            start = time.monotonic()
            image.step(word, rest, build=not given.run)
            if not given.run:
                print(f"{time.monotonic() - start:7.1f} s  {word} {rest[:100]}", flush=True)
        if given.run:
            image.user = given.user or image.user
            image.run(given.command or [*image.entry, *image.command], sealed=True)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    finally:
        for place in reversed(mounted):
            subprocess.run(["umount", "--lazy", str(place)], check=False)


if __name__ == "__main__":
    main()
