"""The page in a browser: what it computes, what it shows, and that keyboard, mouse, finger and address move it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.cli import main
from cayleygsp.explorer import NamedFilter, write_explorer

SHOWN = """
const { impulse, degree, error, sweeps, gain, atol, polynomial, mass } = explorer.shown;
return { impulse: Array.from(impulse), degree, error, sweeps, gain, atol, real: polynomial.real, imag: polynomial.imag,
         zoom: polynomial.zoom, norm: mass.norm, beyond: Array.from(mass.beyond) };
"""


def show(browser, **state):
    """Choose something and return the numbers of the page."""
    browser.run("Object.assign(explorer.state, arguments[0]); explorer.update();", state)
    shown = browser.run(SHOWN)
    coeffs = np.array(shown["real"]) + 1j * np.array(shown["imag"])
    return shown | {"polynomial": cg.CayleyPolynomial(coeffs, shown["zoom"]), "impulse": np.array(shown["impulse"])}


def pixels(browser, *names):
    """Return the pictures on some canvases."""
    return [browser.run("return document.getElementById(arguments[0]).toDataURL()", name) for name in names]


def position(browser, vertex):
    """Return where a vertex is in the window, scrolled there first."""
    script = """
    const canvas = document.getElementById("graph"), { x, y } = explorer.picture;
    canvas.scrollIntoView({ block: "center", behavior: "instant" });
    const box = canvas.getBoundingClientRect();
    return [box.left + x[arguments[0]], box.top + y[arguments[0]]];
    """
    return browser.run(script, vertex)


@pytest.fixture(scope="module")
def communities():
    return cg.gallery.communities(rng=0)


@pytest.fixture(scope="module")
def page(communities, tmp_path_factory):
    return write_explorer(tmp_path_factory.mktemp("explorer") / "communities.html", communities)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
@pytest.mark.parametrize("name", ["communities", "sensor"])
def test_impulse_is_that_of_the_filter_for_ten_zooms(browser, tmp_path, communities, name, kind):
    graph = communities if name == "communities" else cg.gallery.sensor(300, rng=0)
    L = cg.laplacian(graph, kind)
    browser.open(write_explorer(tmp_path / "page.html", graph, laplacian=L))
    choices = itertools.cycle(["low", "band", "random:3", "heat", "high"])
    for zoom, kind_of_filter in zip(np.geomspace(0.1, 1e4, 10) / L.lmax, choices, strict=False):
        shown = show(browser, zoom=zoom, filter=kind_of_filter, tol="1e-6", vertex=17)
        g = cg.CayleyFilter(L, shown["polynomial"], method="exact")
        expected = g.localize(17)
        assert np.abs(shown["impulse"] - expected).max() <= 1e-5
        assert np.linalg.norm(shown["impulse"] - expected) <= 2e-6 * shown["gain"]
        outside = cg.localization.mass_outside(g, 17) * np.linalg.norm(expected)
        np.testing.assert_allclose(shown["beyond"], outside, atol=2e-6)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_degree_and_sweeps_are_those_of_the_bounds(browser, tmp_path, communities, kind):
    L = cg.laplacian(communities, kind)
    browser.open(write_explorer(tmp_path / "page.html", communities, laplacian=L))
    for k, (zoom, tol) in enumerate(itertools.product(np.geomspace(0.2, 5e3, 4) / L.lmax, ["1e-1", "1e-4", "1e-6"])):
        shown = show(browser, zoom=zoom, filter=["low", "band", "random:1", "heat"][k % 4], order=1 + k, tol=tol)
        p = shown["polynomial"]
        lam = np.append(np.tan(np.linspace(0, np.arctan(zoom * L.lmax), 5000)) / zoom, np.linspace(0, L.lmax, 5000))
        assert shown["gain"] == pytest.approx(np.abs(p(lam)).max(), rel=1e-3)
        assert shown["atol"] == pytest.approx(float(tol) * shown["gain"])
        assert shown["degree"] == cg.bounds.series_degree(L, p, shown["atol"])
        assert shown["error"] <= shown["atol"]
        assert shown["sweeps"] == pytest.approx(cg.bounds.jacobi_sweeps(L, p, shown["atol"]), rel=1e-6)


def test_sweeps_out_of_reach_are_said_to_be(browser, page):
    browser.open(page)
    assert browser.run("return jacobiSweeps({ factor: 1, rate: 1 }, [0.5, 0.25], 1e-3)") is None
    browser.run("explorer.decay = { factor: 1, rate: 1, zoom: explorer.state.zoom }; explorer.update()")
    assert browser.run("return document.getElementById('sweeps').textContent") == "out of reach"


def test_a_series_too_long_for_the_page_is_cut_and_its_error_said(browser, page, communities):
    browser.open(page, "#tol=1e-6&vertex=2")
    L = cg.laplacian(communities)
    browser.run("explorer.terms.mostDegree = 30; explorer.update()")
    shown = browser.run(SHOWN)
    p = cg.CayleyPolynomial(np.array(shown["real"]) + 1j * np.array(shown["imag"]), shown["zoom"])
    assert shown["degree"] == 30
    assert shown["error"] == pytest.approx(cg.bounds.series_bound(L, p, 30).value, rel=1e-6)
    error = np.linalg.norm(np.array(shown["impulse"]) - cg.CayleyFilter(L, p, method="exact").localize(2))
    assert 0.001 * shown["error"] < error <= shown["error"]
    assert "drawn with degree 30" in browser.run("return document.getElementById('degree-note').textContent")


def test_moving_the_slider_changes_the_half_circle_and_the_coloured_graph(browser, page):
    browser.open(page)
    names = ("circle", "graph", "response", "unrolled", "decay", "legend")
    before, zoom = pixels(browser, *names), browser.run("return explorer.state.zoom")
    angles = browser.run("return explorer.shown.angles")
    browser.press("#zoom", *["right"] * 40)
    assert browser.run("return explorer.state.zoom") > 1.5 * zoom
    assert (np.array(browser.run("return explorer.shown.angles"))[1:] > np.array(angles)[1:]).all()
    assert all(old != new for old, new in zip(before, pixels(browser, *names), strict=True))
    browser.press("#zoom", "home")
    low, high = browser.run("return explorer.content.zooms")
    assert browser.run("return explorer.state.zoom") == pytest.approx(low)
    browser.press("#zoom", "end")
    assert browser.run("return explorer.state.zoom") == pytest.approx(high)


def test_a_vertex_is_chosen_by_mouse_finger_and_arrow_keys(browser, page, communities):
    browser.open(page)
    for vertex, kind in ((200, "mouse"), (77, "touch")):
        browser.click(*position(browser, vertex), kind)
        assert browser.run("return explorer.state.vertex") == vertex
        assert browser.run("return document.getElementById('vertex').value") == str(vertex)
    browser.press("#graph", "right")
    moved = browser.run("return explorer.state.vertex")
    assert moved != 77
    assert communities.coords[moved, 0] > communities.coords[77, 0]
    shown = show(browser, tol="1e-6")
    g = cg.CayleyFilter(communities, shown["polynomial"], method="exact")
    assert np.abs(shown["impulse"] - g.localize(moved)).max() <= 1e-5


def test_the_address_restores_the_state(browser, page):
    browser.open(page, "#zoom=2.5&filter=custom&c=0.5,-0.25,0.1%2B0.2i&vertex=33&tol=1e-3&colours=linear")
    state = browser.run("return explorer.state")
    assert state["zoom"] == 2.5
    assert (state["filter"], state["vertex"], state["tol"], state["colours"]) == ("custom", 33, "1e-3", "linear")
    shown = browser.run(SHOWN)
    assert (shown["real"], shown["imag"]) == ([0.5, -0.25, 0.1], [0, 0, 0.2])
    browser.press("#zoom", "right", "right")
    browser.run("explorer.set({ filter: 'random:7', order: 5 })")
    browser.settle()
    kept = browser.run("return explorer.address")
    before = browser.run(SHOWN)
    browser.open(page, kept)
    assert browser.run(SHOWN) == before


def test_a_saved_layer_is_a_filter_of_the_page(browser, tmp_path):
    torch = pytest.importorskip("torch")
    from cayleygsp.nn import CayleyConv

    layer = CayleyConv(1, 2, order=3, zoom=0.7)
    torch.save(layer.state_dict(), tmp_path / "layer.pt")
    path = tmp_path / "page.html"
    call = ["explore", "@ring:40", "--laplacian", "normalized", "--layer", str(tmp_path / "layer.pt"), "-o", str(path)]
    assert main([*call, "--quiet"]) == 0
    browser.open(path, "#filter=own:1&vertex=5&tol=1e-6")
    option = "return document.querySelector('option[value=\"own:1\"]').textContent"
    assert browser.run(option) == "learned, channel 0 to 1"
    shown = browser.run(SHOWN)
    assert shown["zoom"] == pytest.approx(0.7)
    g = layer.to_filter(cg.laplacian(cg.gallery.ring(40), "normalized"), 0, 1)
    assert np.abs(np.array(shown["impulse"]) - g.localize(5)).max() <= 1e-5


@pytest.mark.parametrize(
    "fragment",
    [
        "#zoom=-1&vertex=999999&order=0",
        "#zoom=x&filter=constructor&tol=2",
        "#filter=own:3",
        "#filter=custom&c=<b>",
        "#%%",
    ],
)
def test_an_address_that_makes_no_sense_is_ignored(browser, page, fragment):
    browser.open(page)
    expected = browser.run(SHOWN)
    browser.open(page, fragment)
    assert browser.run(SHOWN) == expected


def test_coefficients_can_be_written(browser, page):
    browser.open(page)
    type_in = """
    const field = document.getElementById("coefficients-text");
    field.value = arguments[0];
    field.dispatchEvent(new Event("input"));
    """
    browser.run(type_in, "0.5, 0.25-1e-2i, -i")
    browser.settle()
    shown = browser.run(SHOWN)
    assert (shown["real"], shown["imag"]) == ([0.5, 0.25, 0], [0, -0.01, -1])
    for nonsense in ("", "1", "1,", "i, 1", "1, 2+", "1, 1e999", "1, <b>"):
        browser.run(type_in, nonsense)
        browser.settle()
        assert browser.run("return document.getElementById('coefficients-text').getAttribute('aria-invalid')") == "true"
        assert browser.run(SHOWN) == shown


def test_names_with_html_in_them_are_harmless(browser, tmp_path):
    evil = '</script><img src=x onerror="window.hacked=1"><script>window.hacked=2</script>'
    ring = cg.gallery.ring(12)
    graph = cg.Graph(ring.W, coords=ring.coords, labels=[evil] * 12, name=evil)
    own = NamedFilter(evil, cg.CayleyPolynomial([0.5, -0.25], 1.0))
    browser.open(write_explorer(tmp_path / "evil.html", graph, filters=[own]))
    browser.click(*position(browser, 3))
    assert browser.run("return window.hacked") is None
    assert browser.run("return document.querySelectorAll('img, script').length") == 2
    assert browser.run("return document.querySelector('h1').textContent") == evil
    assert browser.run("return document.querySelector('#filter option').textContent") == evil
    assert "</script>" in browser.run("return document.getElementById('graph-note').textContent")


ODD = {
    "one vertex": np.zeros((1, 1)),
    "no edges": np.zeros((4, 4)),
    "one edge": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "two parts": np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)),
    "wild weights": np.array([[0, 1e-8, 0, 0], [1e-8, 0, 1, 0], [0, 1, 0, 1e6], [0, 0, 1e6, 0]]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_graphs_are_shown(browser, tmp_path, name):
    browser.open(write_explorer(tmp_path / "odd.html", ODD[name]))
    shown = show(browser, tol="1e-6", filter="high")
    g = cg.CayleyFilter(ODD[name], shown["polynomial"], method="exact")
    assert np.abs(shown["impulse"] - g.localize(browser.run("return explorer.state.vertex"))).max() <= 1e-5
    words = browser.run("return document.body.innerText")
    assert not [word for word in ("NaN", "undefined", "Infinity") if word in words]


def test_the_page_fits_a_narrow_and_a_wide_window_light_and_dark(browser, page):
    browser.open(page)
    light = pixels(browser, "circle", "graph")
    browser.emulate("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.settle()
    assert all(old != new for old, new in zip(light, pixels(browser, "circle", "graph"), strict=True))
    browser.emulate("Emulation.setEmulatedMedia", features=[])
    for width in (400, 800, 1280):
        browser.emulate(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=2, mobile=False
        )
        browser.settle()
        assert browser.run("return [innerWidth, document.documentElement.scrollWidth]") == [width, width]
        sizes = browser.run(
            "return Array.from(document.querySelectorAll('canvas'), (c) => [c.width, 2 * c.clientWidth])"
        )
        assert all(abs(drawn - shown) <= 1 for drawn, shown in sizes)
    browser.emulate("Emulation.clearDeviceMetricsOverride")


def test_edges_are_drawn_again_with_the_rest_where_only_the_density_of_pixels_changes(browser, page):
    browser.open(page)
    for ratio in (1, 3, 2):
        metrics = {"width": 800, "height": 800, "deviceScaleFactor": ratio, "mobile": False}
        browser.emulate("Emulation.setDeviceMetricsOverride", **metrics)
        browser.run("explorer.update()")
        drawn, shown = browser.run("const c = document.getElementById('edges'); return [c.width, c.clientWidth]")
        assert abs(drawn - ratio * shown) <= 1
    browser.emulate("Emulation.clearDeviceMetricsOverride")


def test_a_graph_of_five_thousand_vertices_moves(browser, tmp_path, monkeypatch):
    monkeypatch.setattr("cayleygsp.explorer.content.shown_frequencies", lambda L, rng: np.linspace(0, 12, 1000))
    path = write_explorer(tmp_path / "sensor.html", cg.gallery.sensor(5000, rng=0))
    assert path.stat().st_size < 5e6
    browser.open(path)
    # analysis.benchmark_explorer measures how fast it is on a machine that does nothing else
    assert browser.run("return explorer.measure(10)") > 0.2
