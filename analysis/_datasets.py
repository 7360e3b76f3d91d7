"""Files of the paper's data sets: where they are looked for, and their download.

A file is looked for in the folder that the environment variable ``CAYLEYGSP_DATA`` names, then in the cache, and is
downloaded into the cache if it is in neither. Its checksum is compared wherever it comes from.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from pathlib import Path
from typing import Any

from cayleygsp._text import quoted

FOLDER_VARIABLE = "CAYLEYGSP_DATA"

_PLANETOID = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/"

_MGCNN = "https://raw.githubusercontent.com/fmonti/mgcnn/17e6d4f17d3166ac174fdc451d07d7fd151af70a/Data/"

_MNIST = "https://storage.googleapis.com/cvdf-datasets/mnist/"


@dataclasses.dataclass(frozen=True)
class DataFile:
    """A file that is known by its checksum.

    Attributes
    ----------
    sha256 : str
        Checksum in hexadecimal digits.
    url : str
        Where its publisher, or a mirror, has it.
    """

    sha256: str
    url: str


FILES: dict[str, DataFile] = {
    "cora/ind.cora.x": DataFile(
        "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab", _PLANETOID + "ind.cora.x"
    ),
    "cora/ind.cora.tx": DataFile(
        "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a", _PLANETOID + "ind.cora.tx"
    ),
    "cora/ind.cora.allx": DataFile(
        "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543", _PLANETOID + "ind.cora.allx"
    ),
    "cora/ind.cora.y": DataFile(
        "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1", _PLANETOID + "ind.cora.y"
    ),
    "cora/ind.cora.ty": DataFile(
        "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad", _PLANETOID + "ind.cora.ty"
    ),
    "cora/ind.cora.ally": DataFile(
        "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71", _PLANETOID + "ind.cora.ally"
    ),
    "cora/ind.cora.graph": DataFile(
        "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d", _PLANETOID + "ind.cora.graph"
    ),
    "cora/ind.cora.test.index": DataFile(
        "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875", _PLANETOID + "ind.cora.test.index"
    ),
    "mnist/train-images-idx3-ubyte.gz": DataFile(
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609", _MNIST + "train-images-idx3-ubyte.gz"
    ),
    "mnist/train-labels-idx1-ubyte.gz": DataFile(
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c", _MNIST + "train-labels-idx1-ubyte.gz"
    ),
    "mnist/t10k-images-idx3-ubyte.gz": DataFile(
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6", _MNIST + "t10k-images-idx3-ubyte.gz"
    ),
    "mnist/t10k-labels-idx1-ubyte.gz": DataFile(
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6", _MNIST + "t10k-labels-idx1-ubyte.gz"
    ),
    "movielens/split_1.mat": DataFile(
        "a8c053a1d697b82c341cb2ad593af2495db7b50f721ae51af5534cc7b217747e", _MGCNN + "movielens/split_1.mat"
    ),
}


def data_file(name: str) -> Path:
    """Return the path of a file, which is downloaded if it is not there.

    Parameters
    ----------
    name : str
        A name of :data:`FILES`.

    Raises
    ------
    ValueError
        If the name is not known, or if a file has another checksum; nothing is overwritten then.
    OSError
        If it cannot be downloaded.

    Examples
    --------
    >>> from analysis._datasets import data_file
    >>> data_file("mnist/labels")
    Traceback (most recent call last):
    ValueError: `name` must be one of cora/ind.cora.x, ..., movielens/split_1.mat, got 'mnist/labels'
    """
    path = find_file(name)
    return _download(name) if path is None else path


def find_file(name: str) -> Path | None:
    """Return the path of a file if it is in the folder or in the cache, else None.

    Parameters
    ----------
    name : str
        A name of :data:`FILES`.

    Raises
    ------
    ValueError
        As :func:`data_file`.
    """
    if name not in FILES:
        raise ValueError(f"`name` must be one of {', '.join(FILES)}, got {name!r}")
    for folder in data_folders():
        path = folder / name
        if path.is_file():
            check_file(path, name)
            return path
    return None


def cache_folder() -> Path:
    """Return where downloaded files are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cayleygsp"


def data_folders() -> list[Path]:
    """Return where files are looked for: the folder that ``CAYLEYGSP_DATA`` names, then the cache."""
    given = os.environ.get(FOLDER_VARIABLE)
    return [Path(given), cache_folder()] if given else [cache_folder()]


def check_file(path: Path, name: str) -> None:
    """Reject a file that stands in the place of a known one with another checksum.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    name : str
        Its name; one that is not in :data:`FILES` has no known checksum and passes.

    Raises
    ------
    ValueError
        If the checksum is another one.
    """
    if name not in FILES:
        return
    sha256, checksum = FILES[name].sha256, hashlib.sha256(path.read_bytes()).hexdigest()
    if checksum != sha256:
        raise ValueError(
            f"{quoted(path)} must have the SHA-256 checksum {sha256}, got {checksum}; move it away to use another copy"
        )


def _download(name: str) -> Path:
    """Fetch a file into the cache; pooch compares the checksum before the file gets its name."""
    try:
        import pooch
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{name} is not in {FOLDER_VARIABLE} nor in {quoted(cache_folder())}; its download needs pooch: "
            "install it with `pip install pooch`"
        ) from error
    path, file = cache_folder() / name, FILES[name]
    downloader = pooch.HTTPDownloader(progressbar=_Bar(name))
    try:
        pooch.retrieve(file.url, f"sha256:{file.sha256}", path.name, path.parent, downloader=downloader)
    except ValueError as error:
        raise ValueError(f"{file.url} must have the SHA-256 checksum {file.sha256}: {error}") from None
    except OSError as error:
        raise OSError(
            f"cannot download {file.url} ({error}); put the file into a folder as {name}, and set {FOLDER_VARIABLE} "
            "to that folder"
        ) from None
    return path


class _Bar:
    """A bar of rich with the methods that pooch calls."""

    def __init__(self, name: str) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self.total: Any = None
        self._bar = Progress(console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(name, total=None)

    def update(self, n_bytes: int) -> None:
        self._bar.start()
        self._bar.update(self._task, total=self.total, advance=n_bytes)

    def reset(self) -> None:
        self._bar.reset(self._task)

    def close(self) -> None:
        self._bar.stop()
