"""Without a cluster, one is started inside this process: in a plain script, and without a word."""

import subprocess
import sys
from pathlib import Path

import cayleygsp

PROGRAM = """
import numpy as np
import cayleygsp as cg
from cayleygsp.distributed import DistributedLaplacian

graph = cg.gallery.grid(30)
dL = DistributedLaplacian.from_graph(graph, 3, kind="normalized")
p = cg.CayleyPolynomial([0.5, -0.25], 4.0)
f = np.random.default_rng(0).standard_normal(900)
y, info = cg.CayleyFilter(dL, p, tol=1e-9).filter(f, return_info=True)
z = cg.CayleyFilter(cg.laplacian(graph, "normalized"), p, method="chebyshev", tol=1e-9) @ f
assert np.abs(y - z).max() < 1e-13
assert info.converged and "3 parts on" in info.reason, info
"""


def test_a_plain_script_needs_no_set_up(tmp_path):
    (tmp_path / "script.py").write_text(PROGRAM)
    command = [sys.executable, "-W", "error", "script.py"]
    environment = {"PYTHONPATH": str(Path(cayleygsp.__file__).parents[1]), "PATH": ""}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
