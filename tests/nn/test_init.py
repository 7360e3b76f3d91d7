"""Importing the layers."""

import subprocess
import sys

import pytest

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")


def test_without_torch_the_message_says_what_to_install():
    code = (
        "import sys\nsys.modules['torch'] = None\nimport cayleygsp\n"
        "try:\n    import cayleygsp.nn\nexcept ImportError as error:\n    print(error)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert 'pip install ".[nn]"' in output
