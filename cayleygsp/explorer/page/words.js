// Words: what the numbers mean, as text.

const MARKED = 15;  // lowest frequencies that stand out, as in the paper's first figure

const count = (k) => k.toLocaleString("en-US");
const plural = (k, word) => `${count(k)} ${word}${k === 1 ? "" : "s"}`;

/** Return a number in few letters: 0.0123, 1,234, 1.2·10⁻⁵. */
function short(x, digits = 3) {
  if (x === 0) return "0";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x), minus = (text) => text.replace("-", "−");
  if (size >= 1e-3 && size < 1e5) return minus(x.toLocaleString("en-US", { maximumSignificantDigits: digits }));
  const [front, power] = x.toExponential(digits - 1).split("e");
  const raised = [...power.replace("+", "")].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("");
  const times = { 1: "", "-1": "-" }[Number(front)] ?? `${Number(front)}·`;
  return minus(`${times}10${raised}`);
}

/** A whole number, all digits of it unless it is huge. */
const whole = (k) => (k < 1e7 ? count(k) : short(k));

/** A vertex, with its label if it has one. */
function vertexName(labels, vertex) {
  return labels ? `${vertex} (label ${labels[vertex]})` : String(vertex);
}

/** Coefficients as they are typed: 0.5, -0.25, 0.1+0.2i. */
function writtenCoefficients({ real, imag }) {
  const digits = (x) => String(Number(x.toPrecision(6)));
  const second = (y) => (y ? `${y < 0 ? "" : "+"}${digits(y)}i` : "");
  return real.map((x, j) => digits(x) + second(imag[j])).join(", ");
}

/** What the page is about; `content` is all that it was told. */
function introduction(content, frequencies) {
  const { n_vertices: n, n_edges: edges, kind, lmax, guaranteed } = content.laplacian;
  const size = n === 1 ? "1 vertex" : `${count(n)} vertices`;
  const spectrum = `λ ≤ ${short(lmax, 4)}${guaranteed ? "" : " (estimated)"}`;
  return {
    facts: `${size} · ${plural(edges, "edge")} · ${kind} Laplacian · ${spectrum}`,
    made: content.frequencies.certificate === "exact"
      ? "The frequencies are all eigenvalues."
      : `Of ${count(n)} frequencies the lowest are computed; of the others an estimate is drawn, from the spectral `
        + `density, ${count(frequencies.length)} points in all.`,
  };
}

/** What stands beside the pictures. */
function sentences(shown, state, n, frequencies) {
  const { wanted, degree, error, gain, sweeps, polynomial, mass, angles } = shown;
  const tolerance = `${short(Number(state.tol))} of the largest response`, products = polynomial.order * (sweeps + 1);
  const lowest = Math.min(MARKED, frequencies.length), share = 1 + angles[lowest - 1] / Math.PI;
  const reach = mass.beyond.findIndex((x) => x <= 0.01 * mass.norm);
  return {
    degree: `degree ${count(wanted)}`,
    "degree-note": degree < wanted
      ? `more than this page keeps: drawn with degree ${count(degree)}, `
        + `an error of at most ${short(error / (gain || 1))} of the largest response`
      : `${plural(wanted, "real product")} with Δ for an error of at most ${tolerance}`,
    sweeps: sweeps === null ? "out of reach" : `${whole(sweeps)} sweep${sweeps === 1 ? "" : "s"}`,
    "sweeps-note": sweeps === null
      ? `the bound does not fall below ${tolerance}, however many sweeps are made`
      : `for each power, ${whole(products)} complex products in all, by the sharp bound`,
    share: `${short(100 * share)} %`,
    "share-note": `holds the lowest ${lowest} of ${count(n)} frequencies, up to λ = ${short(frequencies[lowest - 1])}`,
    reach: reach < 0 ? "everywhere" : plural(reach, "hop"),
    "reach-note": "hold all but 1 % of the norm of the filtered impulse",
  };
}

/** The pictures for those who do not see them. */
function descriptions(shown, words, note) {
  return {
    graph: `The graph, coloured by the filtered impulse ${note}. Arrow keys move it.`,
    legend: `Colours from −${short(shown.largest)} to ${short(shown.largest)}`,
    circle: `Frequencies on the half circle: ${words.share} ${words["share-note"]}`,
    unrolled: "The response over the angle of C(hλ)",
    response: `The response over frequency, at most ${short(shown.gain)}`,
    decay: `What is outside k hops: ${words.reach} ${words["reach-note"]}`,
  };
}
