"""One browser for all tests of the page."""

from __future__ import annotations

import pytest

from tests.explorer.browser import MISSING, Browser, programs


@pytest.fixture(scope="session")
def chromium():
    """Return a browser, or skip the test with the reason."""
    found = programs()
    if found is None:
        pytest.skip(MISSING)
    browser = Browser(*found)
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium):
    """Return the browser in a window of usual size; after the test, its console must be empty."""
    chromium.resize(1280, 900)
    chromium.console()
    yield chromium
    assert chromium.console() == []
