"""A folder that cannot be written, also where the tests run as root."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_NOBODY = 65534  # user id without rights


@contextmanager
def read_only_folder(fill: Callable[[Path], object]) -> Iterator[Path]:
    """Yield a folder that `fill` has filled; inside, neither it nor its files can be changed (POSIX only)."""
    top = Path(tempfile.mkdtemp())  # not pytest's folder: only its owner may enter that
    folder = top / "只读 资料"
    folder.mkdir()
    is_root = os.geteuid() == 0
    try:
        fill(folder)
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        top.chmod(0o555)
        if is_root:
            os.seteuid(_NOBODY)
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        top.chmod(0o755)
        folder.chmod(0o755)
        shutil.rmtree(top)
