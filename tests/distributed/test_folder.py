"""Parts on disk: written, built from edges in pieces, and rejected where they are not those of one graph."""

import json
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import cayleygsp as cg
from cayleygsp.distributed import DistributedLaplacian, cut_edges
from cayleygsp.distributed.folder import FolderStore, checksum, opened
from tests.strategies import weighted_graphs

PARTITIONS = ["auto", "metis", "order", "streaming"]


def load(folder, kind="combinatorial", **options):
    return DistributedLaplacian.from_folder(folder, kind, client="synchronous", **options)


def write_edges(folder, W, n_pieces, *, both=False, weights=True):
    """Write the edges of a matrix to text files, scattered over them; return the files."""
    rows, columns = np.nonzero(W if both else np.triu(W))
    texts = [[] for _ in range(n_pieces)]
    for k, (u, v) in enumerate(zip(rows, columns, strict=True)):
        texts[k % n_pieces].append(f"{u} {v} {float(W[u, v])!r}\n" if weights else f"{u}, {v} # an edge\n")
    files = [folder / f"{k}.txt" for k in range(n_pieces)]
    for file, text in zip(files, texts, strict=True):
        file.write_text("".join(text))
    return files


@given(
    weighted_graphs(max_vertices=20),
    st.integers(1, 6),
    st.sampled_from(PARTITIONS),
    st.booleans(),
    st.sampled_from(["combinatorial", "normalized"]),
)
@settings(max_examples=40)
def test_edges_in_pieces_make_the_same_laplacian(tmp_path_factory, W, n_parts, partition, both, kind):
    folder = tmp_path_factory.mktemp("edges")
    files = write_edges(folder, W, 3, both=both)
    cut_edges(files, folder / "parts", n_parts, partition=partition, n_vertices=len(W))
    dL, L = load(folder / "parts", kind), cg.laplacian(W, kind)
    assert (dL.lmax, dL.rounding_norm, dL.n_edges) == (L.lmax, L.rounding_norm, L.n_edges)
    np.testing.assert_array_equal(dL.degrees, L.degrees)
    f = np.random.default_rng(0).standard_normal(len(W))
    heat = cg.responses.Heat(0.2)
    y = cg.KernelFilter(dL, heat, tol=1e-8) @ f
    np.testing.assert_allclose(y, cg.KernelFilter(L, heat, method="chebyshev", tol=1e-8) @ f, atol=1e-12)


def test_a_graph_written_by_its_parts_is_read_again(tmp_path):
    graph = cg.gallery.communities(rng=0)
    DistributedLaplacian.from_graph(graph, 4, client="synchronous", folder=tmp_path / "parts")
    dL, L = load(tmp_path / "parts", "normalized"), cg.laplacian(graph, "normalized")
    assert (dL.n_parts, dL.n_edges, dL.lmax_lower) == (4, L.n_edges, L.lmax_lower)
    manifest = json.loads((tmp_path / "parts" / "manifest.json").read_text())
    assert (manifest["format"], manifest["version"]) == ("cayleygsp-parts", 1)


def test_parquet_and_text_together(tmp_path):
    table = pa.table({"source": [0, 1], "target": [1, 2], "weight": [0.5, 2.0]})
    parquet.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "b.txt").write_text("% a comment\n2;3;1.5\n\n")
    cut_edges([tmp_path / "a.parquet", tmp_path / "b.txt"], tmp_path / "parts", 2, partition=[0, 1, 1, 0])
    np.testing.assert_array_equal(load(tmp_path / "parts").degrees, [0.5, 2.5, 3.5, 1.5])


def test_long_texts_are_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("cayleygsp.distributed.building._TEXT_BYTES", 7)
    files = write_edges(tmp_path, cg.gallery.ring(12).W.toarray(), 2, weights=False)
    cut_edges(files, tmp_path / "parts", 3, partition="streaming")
    assert load(tmp_path / "parts").n_edges == 12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 1\n1 0 2\n", "every edge one weight, got 1 and 2 for the edge between 0 and 1"),
        ("0 1\n1\n", "two vertices as whole numbers and an optional weight in every line"),
        ("0 1.5\n", "two vertices as whole numbers"),
        ("a b\n", "two vertices as whole numbers"),
        ("0 1 -2\n", "edge 1: expected vertices from 0 on and a finite weight of at least 0, got 0 1 -2"),
        ("0 1 inf\n", "a finite weight"),
        ("-1 1\n", "vertices from 0 on"),
        ("0 1000000000000000\n", "up to vertex 1,000,000,000,000,000, vertices from 0 on, would need about"),
        ("\n", "at least one edge, or `n_vertices` must be given"),
    ],
)
def test_pieces_that_are_no_edges_leave_nothing_behind(tmp_path, text, message):
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(ValueError, match=message):
        cut_edges([tmp_path / "a.txt"], tmp_path / "parts", 2, partition="order")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_invalid_arguments(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("0 1\n")
    with pytest.raises(FileNotFoundError, match="`pieces` must be files"):
        cut_edges([tmp_path / "none.txt"], tmp_path / "parts", 2)
    with pytest.raises(TypeError, match="`pieces` must be a list of files"):
        cut_edges(file, tmp_path / "parts", 2)
    with pytest.raises(ValueError, match="`pieces` must hold at least one file"):
        cut_edges([], tmp_path / "parts", 2)
    with pytest.raises(ValueError, match="`partition` must be one of"):
        cut_edges([file], tmp_path / "parts", 2, partition="magic")
    with pytest.raises(ValueError, match="below `n_vertices` = 1, got 1"):
        cut_edges([file], tmp_path / "parts", 2, n_vertices=1)
    with pytest.raises(FileExistsError, match="`folder` must be new or empty"):
        cut_edges([file], tmp_path, 2)
    (tmp_path / "b.parquet").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is not a parquet file"):
        cut_edges([tmp_path / "b.parquet"], tmp_path / "parts", 2)
    parquet.write_table(pa.table({"from": [0], "to": [1]}), tmp_path / "c.parquet")
    with pytest.raises(ValueError, match="must have columns 'source' and 'target'"):
        cut_edges([tmp_path / "c.parquet"], tmp_path / "parts", 2)
    with pytest.raises(FileNotFoundError, match=r"there is no manifest.json"):
        load(tmp_path)


@pytest.fixture
def parts(tmp_path):
    """A ring of 8 vertices in two parts."""
    DistributedLaplacian.from_graph(cg.gallery.ring(8), 2, client="synchronous", folder=tmp_path / "parts")
    return tmp_path / "parts"


def change(parts, p, name, make):
    """Change an array of a part, and its checksum."""
    file = parts / f"part-{p:05d}" / f"{name}.npy"
    np.save(file, make(np.load(file)))
    manifest = json.loads((parts / "manifest.json").read_text())
    manifest["parts"][p]["files"][f"{name}.npy"] = checksum(file)
    (parts / "manifest.json").write_text(json.dumps(manifest))


def set_first(value):
    def make(array):
        array[0] = value
        return array

    return make


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("vertices", lambda a: np.arange(4, 8), "parts must not overlap, got vertex 4 in another part too"),
        ("vertices", lambda a: a[::-1].copy(), "vertices must increase and be from 0 to 7"),
        ("vertices", lambda a: a[:-1], "must be int64 of length 4 as the manifest says"),
        ("weights", lambda a: 2 * a, "`degrees` must be the sums of the weights"),
        ("weights", lambda a: a.astype(np.float32), "must be float64 of length 12"),
        ("weights", lambda a: a - 3, "`weights` must be finite and at least 0"),
        ("columns", set_first(99), "`columns` must be from 0 to 7"),
        ("columns", lambda a: np.full_like(a, 2), "one entry for the vertex itself"),
        ("indptr", lambda a: a[::-1].copy(), "`indptr` must rise from 0"),
        ("degrees", lambda a: a + 1, "`degrees` must be the sums of the weights"),
    ],
)
def test_parts_that_are_not_those_of_one_graph(parts, name, make, message):
    change(parts, 0, name, make)
    with pytest.raises(ValueError, match=message):
        load(parts)


def test_halves_of_an_edge_that_differ_in_two_parts(parts):
    change(parts, 0, "weights", lambda a: 2 * a)
    change(parts, 0, "degrees", lambda a: 2 * a)
    manifest = json.loads((parts / "manifest.json").read_text())
    (parts / "manifest.json").write_text(json.dumps(manifest | {"max_degree": 4.0}))
    with pytest.raises(ValueError, match="edges between part 0 and part 1 must be the same in both"):
        load(parts)


def test_a_missing_vertex(parts):
    change(parts, 0, "vertices", lambda a: np.array([0, 1, 2, 2]) if a[0] == 0 else a)
    with pytest.raises(ValueError, match="vertices must increase"):
        load(parts)


def test_files_that_are_not_those_of_the_manifest(parts):
    file = parts / "part-00001" / "weights.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"part-00001'/weights.npy is not the file that the manifest names"):
        load(parts)
    assert load(parts, check=False).n_parts == 2  # not looked at
    np.save(file, np.array([{}]), allow_pickle=True)
    with pytest.raises(ValueError, match="is not an array that the manifest names"):
        FolderStore(parts)
    file.unlink()
    with pytest.raises(ValueError, match="is not an array that the manifest names"):
        FolderStore(parts)


def test_a_folder_is_sent_by_its_name_and_must_not_change(parts):
    store = FolderStore(parts)
    sent = pickle.dumps(store)
    assert len(sent) < 400
    assert pickle.loads(sent).token == store.token
    (parts / "manifest.json").write_text((parts / "manifest.json").read_text().replace("2.0", "2.5"))
    changed = FolderStore(parts)
    assert pickle.loads(pickle.dumps(changed)).token != store.token
    opened.cache_clear()
    with pytest.raises(ValueError, match="has changed since it was opened"):
        pickle.loads(sent)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "must be of format 'cayleygsp-parts', version 1, got 'cayleygsp-parts', 2"),
        ({"n_vertices": 9}, "vertices add up to `n_vertices`, 9"),
        ({"parts": []}, "vertices add up"),
        ({"parts": [{}]}, "is not a manifest of parts: KeyError"),
    ],
)
def test_manifests_that_are_not_valid(parts, change, message):
    manifest = json.loads((parts / "manifest.json").read_text())
    (parts / "manifest.json").write_text(json.dumps(manifest | change))
    with pytest.raises(ValueError, match=message):
        FolderStore(parts)
    manifest["parts"][0]["folder"] = "../outside"
    (parts / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="must name folders beside it"):
        FolderStore(parts)
