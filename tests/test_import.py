"""What importing the package loads, seen in a fresh interpreter."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

import cayleygsp as cg


def loaded_after(code):
    program = f"import sys\n{code}\nprint(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    )


def test_import_loads_no_heavy_package():
    loaded = loaded_after("import cayleygsp")
    for heavy in ("torch", "matplotlib", "numba", "pygsp", "networkx", "pyamg", "rich", "dask", "distributed"):
        assert heavy not in loaded, heavy


def test_import_alone_loads_nothing_but_the_standard_library():
    loaded = loaded_after("import cayleygsp")
    assert "numpy" not in loaded
    assert {name for name in loaded if name.startswith("cayleygsp.")} == set()


def test_modules_can_be_reached_without_an_import_of_their_own():
    assert "cayleygsp.laplacians" in loaded_after("import cayleygsp as cg; cg.laplacians")
    assert set(cg.__all__) <= set(dir(cg))


def test_filtering_loads_no_pictures():
    loaded = loaded_after(
        "import cayleygsp as cg; cg.CayleyFilter(cg.gallery.ring(8), cg.CayleyPolynomial([0, 1], 1.0)) @ ([1.0] * 8)"
    )
    assert "matplotlib" not in loaded
    assert "pygsp" not in loaded
    assert "dask" not in loaded


def test_pictures_and_the_pygsp_face_are_loaded_when_asked_for():
    assert "matplotlib" in loaded_after("import cayleygsp as cg; cg.plotting")
    assert "pygsp" in loaded_after("import cayleygsp as cg; cg.pygsp_filters")


def test_every_public_name_exists():
    for name in cg.__all__:
        if name != "nn" or find_spec("torch") is not None:
            assert hasattr(cg, name), name
    with pytest.raises(AttributeError, match="module 'cayleygsp' has no attribute 'nothing'"):
        _ = cg.nothing
