"""Data sets: known files are found where they are looked for, and nothing with another checksum is used or kept."""

from __future__ import annotations

import hashlib
import http.server
import logging
import subprocess
import sys
import threading

import pytest

from analysis import _datasets
from analysis._datasets import FILES, DataFile, data_file, find_file

NAME = "small/numbers.txt"
CONTENT = b"1 2 3\n"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/numbers.txt" else 404)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    """Serve one file on this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def places(monkeypatch, tmp_path, address):
    """Know one small file, and have an empty folder and an empty cache."""
    logging.getLogger("pooch").setLevel(logging.ERROR)
    known = DataFile(hashlib.sha256(CONTENT).hexdigest(), address + "numbers.txt")
    monkeypatch.setitem(FILES, NAME, known)
    monkeypatch.setenv("CAYLEYGSP_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return tmp_path / "data" / NAME, tmp_path / "cache" / "cayleygsp" / NAME


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_folder_comes_before_cache_and_cache_before_download(places, monkeypatch):
    folder, cached = places
    assert find_file(NAME) is None
    assert data_file(NAME) == cached  # downloaded
    assert cached.read_bytes() == CONTENT
    monkeypatch.setitem(FILES, NAME, DataFile(FILES[NAME].sha256, "http://127.0.0.1:1/"))
    assert data_file(NAME) == cached
    write(folder, CONTENT)
    assert data_file(NAME) == find_file(NAME) == folder


@pytest.mark.parametrize("where", [0, 1])
def test_other_checksum_is_refused_by_name_and_stays(places, where):
    write(places[where], b"something else")
    with pytest.raises(ValueError, match=r"numbers\.txt.* must have the SHA-256 checksum .*, got .*; move it away"):
        data_file(NAME)
    assert places[where].read_bytes() == b"something else"
    assert not places[1 - where].exists()


def test_download_with_other_checksum_leaves_nothing(places, monkeypatch):
    monkeypatch.setitem(FILES, NAME, DataFile("0" * 64, FILES[NAME].url))
    with pytest.raises(ValueError, match=r"numbers\.txt must have the SHA-256 checksum 0000"):
        data_file(NAME)
    assert not [path for path in places[1].parent.glob("*") if path.is_file()]


def test_failed_download_says_where_to_put_the_file(places, monkeypatch, address):
    monkeypatch.setitem(FILES, NAME, DataFile("0" * 64, address + "missing"))
    with pytest.raises(OSError, match=r"cannot download .*/missing .*put the file into a folder as small/numbers\.txt"):
        data_file(NAME)


def test_missing_pooch_is_named(places, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match="its download needs pooch"):
        data_file(NAME)


def test_pooch_is_loaded_for_a_download_alone():
    code = "import sys, analysis._datasets; assert 'pooch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_registry_is_well_formed():
    for name, file in FILES.items():
        assert len(file.sha256) == 64
        assert int(file.sha256, 16)
        assert file.url.startswith("https://")
        assert file.url.endswith("/" + name.rpartition("/")[2])
    with pytest.raises(ValueError, match=r"`name` must be one of .*, got 'cora'"):
        _datasets.data_file("cora")
