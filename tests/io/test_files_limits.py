"""Files that ask for more than they hold, or than there is, are refused before anything is allocated."""

import gzip
import io
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from scipy import sparse

from cayleygsp.io import files, read_graph, read_signal
from cayleygsp.io.edge_lists import read_edge_list
from cayleygsp.io.files import check_memory, check_room, check_vertices
from tests.io.helpers import mat_element, mat_file, mat_matrix, peak_memory, refusal, write

SMALL = 8 * 2**20  # bytes that refusing a file may take


def mtx(header, body, kind="coordinate real general"):
    return f"%%MatrixMarket matrix {kind}\n{header}\n{body}"


def npz(file, **arrays):
    """Write an archive as scipy does, also of arrays that scipy would not make."""
    np.savez_compressed(file, **arrays)
    return file


def one_entry(kind, n):
    """Return the arrays of a matrix of n vertices with next to no content."""
    zero = np.zeros(1, dtype=np.int64)
    arrays = {
        "coo": {"row": zero, "col": zero},
        "dia": {"offsets": zero},
        "csr": {"indices": zero, "indptr": np.array([0, 1])},
        "csc": {"indices": zero, "indptr": np.array([0, 1])},
        "bsr": {"indices": zero, "indptr": np.array([0, 1])},
    }[kind]
    data = np.ones((1, 1, 1)) if kind == "bsr" else np.ones((1, 1)) if kind == "dia" else np.ones(1)
    return {"format": np.array(kind), "shape": np.array([n, n]), "data": data, **arrays}


def npy_header(shape, dtype="<f8"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def hostile(name, file):
    """Write a small file that declares a lot."""
    huge = 2_000_000_000
    if name == "npz header":
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as stream:
            for part, array in one_entry("csr", 1).items():
                content = io.BytesIO()
                np.save(content, array)
                body = npy_header((10**10,)) + b"\0" * 8 if part == "data" else content.getvalue()
                stream.writestr(f"{part}.npy", body)
        return write(file, archive.getvalue())
    if name.startswith("npz "):
        return npz(file, **one_entry(name.split()[1], huge))
    packed = zlib.compress(mat_element(14, b"\0" * 10_000_000)[:8])
    return write(
        file,
        {
            "mtx": mtx(f"{huge} {huge} 1", "1 1 1\n"),
            "mtx rows": mtx(f"{huge} 1 1", "1 1 1\n"),
            "mtx entries": mtx(f"3 3 {huge}", "1 1 1\n"),
            "mtx array": mtx("100000 100000", "1\n", "array real general"),
            "mtx digits": mtx(f"{10**30} {10**30} 1", "1 1 1\n"),
            "npy": npy_header((40_000, 40_000)) + b"\0" * 8,
            "npy negative": npy_header((-1, -8)) + b"\0" * 8,
            "mat dense": mat_file(mat_matrix(6, (40_000, 40_000), (9, b"\0" * 8))),
            "mat sparse": mat_file(mat_matrix(5, (huge, huge), (5, b""), (5, b"\0" * 8), (9, b""))),
            "mat tag": mat_file(struct.pack("<2I", 14, 2**31)),
            "mat packed": mat_file(struct.pack("<2I", 15, len(packed)) + packed),
            "mat 4": struct.pack("<5i", 0, 40_000, 40_000, 0, 2) + b"W\0" + b"\0" * 8,
            "names": "".join(f"v{i} w\n" for i in range(20_000)) + "x" * 100_000 + " y\n",
        }[name],
    )


HOSTILE = {
    "mtx": (".mtx", "declares 2,000,000,000 vertices, and the limit for 76 bytes of content is 1,000,000"),
    "mtx rows": (".mtx", "declares 2,000,000,000 vertices"),
    "mtx entries": (".mtx", "it declares 2,000,000,000 entries and has room for 1"),
    "mtx array": (".mtx", "entries and has room for 1"),
    "mtx digits": (".mtx", "Integer out of range"),
    "npz coo": (".npz", "declares 2,000,000,000 vertices, and the limit for 52 bytes of content"),
    "npz dia": (".npz", "declares 2,000,000,000 vertices"),
    "npz csr": (".npz", "declares 2,000,000,000 vertices"),
    "npz csc": (".npz", "declares 2,000,000,000 vertices"),
    "npz bsr": (".npz", "declares 2,000,000,000 vertices"),
    "npz header": (".npz", "it declares 80,000,000,000 bytes of numbers and has room for 8"),
    "npy": (".npy", "it declares 12,800,000,000 bytes of numbers and has room for 8"),
    "npy negative": (".npy", "cannot be read as an array"),
    "mat dense": (".mat", "it declares 1,600,000,000 numbers and has room for 64"),
    "mat sparse": (".mat", "declares 2,000,000,000 vertices"),
    "mat tag": (".mat", "it declares 2,147,483,648 bytes in an element and has room for 0"),
    "mat packed": (".mat", "it declares 10,000,000 bytes in a packed element and has room for 16,512"),
    "mat 4": (".mat", "it declares 1,600,000,000 numbers and has room for 1"),
    "names": (".txt", "20,003 names of up to 100,000 characters"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_small_file_that_declares_a_lot_is_refused_in_little_memory(tmp_path, name, monkeypatch):
    # A machine with 16 TiB: what the file can hold must be enough to refuse it.
    monkeypatch.setattr(files, "available_memory", lambda: 2**44)
    ending, message = HOSTILE[name]
    file = hostile(name, tmp_path / f"bomb{ending}")
    text, peak = peak_memory(refusal, file)
    assert message in text
    assert peak < SMALL + 30 * file.stat().st_size


def test_gzip_that_expands_a_thousandfold_is_refused_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FREE_TEXT", 2**20)
    file = tmp_path / "bomb.txt.gz"
    file.write_bytes(gzip.compress(b"0 1\n" * 2**24, 1))
    limit = max(2**20, files.TEXT_RATIO * file.stat().st_size)
    text, peak = peak_memory(refusal, file)
    assert "is too large: its content is more than" in text
    assert peak < 3 * limit + SMALL


def test_gzip_stops_where_the_graph_would_not_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "available_memory", lambda: 50 * 2**20)
    file = tmp_path / "bomb.txt.gz"
    file.write_bytes(gzip.compress(b"0 1\n" * 2**22, 1))
    text, peak = peak_memory(refusal, file)
    assert "its content is more than 1 MiB" in text
    assert peak < SMALL


def test_gzip_within_the_limit_is_read(tmp_path):
    graph = read_graph(write(tmp_path / "a.txt.gz", "0 1\n" * 10_000))
    assert graph.n_edges == 1


def test_packed_arrays_that_do_not_fit_are_refused(tmp_path, monkeypatch):
    file = npz(tmp_path / "zeros.npz", **(one_entry("csr", 1) | {"data": np.zeros(4 * 2**20)}))
    assert file.stat().st_size < 100_000
    monkeypatch.setattr(files, "available_memory", lambda: 16 * 2**20)
    text, peak = peak_memory(refusal, file)
    assert "of memory, and the limit is 8 MiB, half of what is available" in text
    assert peak < SMALL


def test_packed_mat_that_does_not_fit_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "zeros.mat"
    scipy.io.savemat(file, {"W": np.zeros((1500, 1500))}, do_compression=True)
    monkeypatch.setattr(files, "available_memory", lambda: 16 * 2**20)
    text, peak = peak_memory(refusal, file)
    assert "of memory, and the limit is 8 MiB" in text
    assert peak < SMALL


@pytest.mark.parametrize("sparse_matrix", [False, True])
def test_hdf5_that_declares_more_than_it_stores_is_refused(tmp_path, monkeypatch, sparse_matrix):
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr(files, "available_memory", lambda: 2**44)
    file = tmp_path / "bomb.mat"
    with h5py.File(file, "w", userblock_size=512) as root:
        if sparse_matrix:
            group = root.create_group("W")
            group.attrs["MATLAB_sparse"] = np.uint64(2_000_000_000)
            group["jc"] = np.zeros(2, dtype=np.uint64)
        else:
            root.create_dataset("W", shape=(40_000, 40_000), dtype="f8", chunks=(100, 100))
    text, peak = peak_memory(refusal, file)
    assert ("no square matrix" if sparse_matrix else "it declares 12,800,000,000 bytes of numbers") in text
    assert peak < SMALL


def test_hdf5_does_not_follow_links_to_other_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "secret.h5", "w") as root:
        root["W"] = np.ones((3, 3))
    (tmp_path / "raw").write_bytes(np.ones(9).tobytes())
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as root:
        root["W"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "W")
    assert "no square matrix" in refusal(tmp_path / "a.mat")
    with h5py.File(tmp_path / "b.mat", "w", userblock_size=512) as root:
        root.create_dataset("W", (3, 3), "f8", external=[(str(tmp_path / "raw"), 0, 72)])
    assert "cannot be read" in refusal(tmp_path / "b.mat")


def test_hdf5_groups_that_contain_themselves_end(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as root:
        group = root.create_group("g")
        for k in range(60):
            group[f"g{k}"] = group
        group["W"] = np.ones((2, 2))
    assert read_graph(tmp_path / "a.mat").n_vertices == 2


def test_vertices_without_edges_are_allowed_within_reason(tmp_path):
    graph = read_graph(write(tmp_path / "a.mtx", mtx("1000000 1000000 1", "1 1 1\n")))
    assert graph.n_vertices == 1_000_000
    file = npz(tmp_path / "a.npz", **one_entry("coo", 50_000))
    assert read_graph(file).n_vertices == 50_000


def test_plain_files_that_need_more_memory_than_there_is_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "available_memory", lambda: 100_000)
    text = "".join(f"{i} {i + 1}\n" for i in range(1000))
    for name, content in (
        ("a.txt", text),
        ("a.mtx", mtx("2000 2000 1000", "1 1 1\n" * 1000)),
        ("a.graphml", "<graphml>" + " " * 2000 + "</graphml>"),
    ):
        assert "the limit is 48.8 KiB, half of what is available" in refusal(write(tmp_path / name, content))
    np.save(tmp_path / "a.npy", np.zeros((100, 100)))
    assert "an array of shape (100, 100) would need" in refusal(tmp_path / "a.npy")


def test_streams_are_read_up_to_the_limit_only(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "available_memory", lambda: 50 * 2**20)

    class Endless:
        def read(self, n):
            return b"0 1\n" * (n // 4)

    with pytest.raises(ValueError, match=r"'standard input' is too large: its content is more than 1 MiB"):
        read_edge_list(Path("standard input"), None, Endless())


def test_signals_obey_the_same_rule(tmp_path, monkeypatch):
    graph = read_graph(write(tmp_path / "g.txt", "0 1\n"))
    signal = write(tmp_path / "f.npy", npy_header((2, 10**9)) + b"\0" * 8)
    with pytest.raises(ValueError, match=r"f\.npy' is damaged or cut short: it declares 16,000,000,000 bytes"):
        read_signal(signal, graph)
    monkeypatch.setattr(files, "available_memory", lambda: 100_000)
    with pytest.raises(ValueError, match=r"f\.csv' is too large: its content would need about .* of memory"):
        read_signal(write(tmp_path / "f.csv", "1\n" * 10_000), graph)
    with pytest.raises(ValueError, match=r"f\.csv' is too large: its content would need about .* of memory"):
        read_signal(write(tmp_path / "f.csv", "j\n" * 1_000), graph)


def test_rules_name_file_size_and_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "available_memory", lambda: 2**31)
    file = tmp_path / "a"
    check_memory(file, "it", 2**30)
    with pytest.raises(
        ValueError, match=r"a' is too large: it would need about 1\.5 GiB of memory, and the limit is 1 GiB"
    ):
        check_memory(file, "it", 3 * 2**29)
    check_room(file, "things", 3, 3)
    with pytest.raises(ValueError, match="declares 4 things and has room for 3"):
        check_room(file, "things", 4, 3)
    check_vertices(file, 64 * 20_000, 20_000)
    with pytest.raises(
        ValueError, match=r"declares 1,280,001 vertices, and the limit for 19\.5 KiB of content is 1,280,000"
    ):
        check_vertices(file, 64 * 20_000 + 1, 20_000)


def test_dense_zeros_in_a_packed_file_are_no_bomb(tmp_path):
    W = np.zeros((1200, 1200))
    W[0, 1] = W[1, 0] = 1
    scipy.io.savemat(tmp_path / "a.mat", {"W": W}, do_compression=True)
    assert W.nbytes / (tmp_path / "a.mat").stat().st_size > 500
    assert read_graph(tmp_path / "a.mat").n_edges == 1
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(np.ones((600, 600))))
    assert read_graph(tmp_path / "a.npz").n_vertices == 600
