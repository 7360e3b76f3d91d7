// The page: what is chosen, what follows from it, and the controls.

const TOLERANCES = ["1e-1", "1e-2", "1e-3", "1e-4", "1e-5", "1e-6"];
const element = (id) => document.getElementById(id);

class Explorer {
  constructor(content) {
    this.content = content;
    this.laplacian = new Laplacian(content.laplacian);
    this.frequencies = Array.from(unpacked(content.frequencies.values, Float64Array));
    this.picture = new GraphPicture(element("edges"), element("graph"), content.places, this.laplacian);
    this.standard = { ...content.start, tol: "1e-4", colours: "log", text: "" };
    this.state = { ...this.standard };
    this.shown = {};
    this.waiting = false;
  }

  /** Coefficients of the filter that is chosen. */
  coefficients() {
    const { filter, order, text } = this.state, [kind, number] = filter.split(":");
    if (kind === "own") return this.content.filters[number];
    if (kind === "custom") return parseCoefficients(text);
    if (kind === "random") return randomCoefficients(order, Number(number));
    return { real: this.content.presets[kind].real[order - 1], imag: this.content.presets[kind].imag[order - 1] };
  }

  /** Compute everything that the state asks for. */
  compute() {
    const { laplacian, state } = this, { lmin, lmax } = laplacian, { real, imag } = this.coefficients();
    const polynomial = new CayleyPolynomial(real, imag, state.zoom);
    const gain = polynomial.gain(lmax), atol = Number(state.tol) * gain;
    const { coeffs, tails } = polynomial.series(lmin, lmax, atol);
    if (this.terms?.vertex !== state.vertex) {
      this.terms = Object.assign(new Terms(laplacian, state.vertex), { vertex: state.vertex });
      this.hops = laplacian.hops(state.vertex);
    }
    if (this.decay?.zoom !== state.zoom) this.decay = { ...jacobiDecay(laplacian, state.zoom), zoom: state.zoom };
    const wanted = gain > 0 ? seriesDegree(tails, atol) : 0, degree = Math.min(wanted, this.terms.mostDegree);
    const impulse = this.terms.sum(coeffs, degree), mass = massBeyond(impulse, this.hops);
    const sweeps = gain > 0 ? jacobiSweeps(this.decay, polynomial.sizes, atol) : 0;
    const angles = this.frequencies.map((lambda) => cayleyAngle(state.zoom * lambda));
    const largest = impulse.reduce((most, y) => Math.max(most, Math.abs(y)), 0);
    const error = tails[degree];
    this.shown = { polynomial, gain, atol, coeffs, tails, wanted, degree, error, sweeps, impulse, largest, mass, angles };
  }

  /** Compute and draw. */
  update() {
    this.compute();
    this.draw();
    this.say();
  }

  /** Update before the next frame, once. */
  schedule() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.update(); });
  }

  /** Choose something else. */
  set(changes) {
    Object.assign(this.state, changes);
    this.schedule();
  }

  draw() {
    const { theme, state, shown, frequencies, laplacian } = this, { polynomial, gain, angles, tails, mass } = shown;
    const logarithmic = state.colours === "log", values = angles.map((angle) => polynomial.atAngle(angle));
    this.picture.draw(theme, shown.impulse, shown.largest, logarithmic, state.vertex);
    drawLegend(element("legend"), theme, shown.largest, logarithmic);
    drawHalfCircle(element("circle"), theme, { angles, values, gain, zoom: state.zoom });
    const over = { polynomial, range: this.range(polynomial), zoom: state.zoom, lmax: laplacian.lmax, frequencies, angles };
    drawUnrolled(element("unrolled"), theme, over);
    drawResponse(element("response"), theme, over);
    const norm = mass.norm || 1, relative = (x) => x / norm;
    const bounds = Array.from(mass.beyond, (_, k) => Math.min(1, relative(tails[Math.min(k, tails.length - 1)])));
    drawDecay(element("decay"), theme, { beyond: mass.beyond.map(relative), bounds, tol: relative(shown.atol) || 1e-6, proved: this.content.laplacian.guaranteed });
  }

  /** The least and the largest response on the half circle, which no zoom changes, with some room. */
  range(polynomial) {
    let low = 0, high = 0;
    for (let m = 0; m <= 512; m++) {
      const value = polynomial.atAngle((-Math.PI * m) / 512);
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const room = 0.08 * (high - low || 1);
    return [low < 0 ? low - room : -0.25 * room, high + room];
  }

  /** Put numbers into words. */
  say() {
    const { state, shown, laplacian } = this, { order } = shown.polynomial, count = (k) => k.toLocaleString("en-US");
    const tolerance = `${short(Number(state.tol))} of the largest response`, plural = (k, word) => `${count(k)} ${word}${k === 1 ? "" : "s"}`;
    element("degree").textContent = `degree ${count(shown.wanted)}`;
    element("degree-note").textContent = shown.degree < shown.wanted
      ? `more than this page keeps: drawn with degree ${count(shown.degree)}, an error of at most ${short(shown.error / (shown.gain || 1))} of it`
      : `${plural(shown.wanted, "real product")} with Δ for an error of at most ${tolerance}`;
    const { sweeps } = shown, products = order * (sweeps + 1);
    element("sweeps").textContent = sweeps === null ? "out of reach" : `${sweeps < 1e7 ? count(sweeps) : short(sweeps)} sweep${sweeps === 1 ? "" : "s"}`;
    element("sweeps-note").textContent = sweeps === null
      ? `the bound does not fall below ${tolerance}, however many sweeps are made`
      : `for each power, ${products < 1e7 ? count(products) : short(products)} complex products in all, by the sharp bound`;
    const lowest = Math.min(MARKED, this.frequencies.length), share = 1 + shown.angles[lowest - 1] / Math.PI;
    element("share").textContent = `${short(100 * share)} %`;
    element("share-note").textContent = `holds the lowest ${lowest} of ${count(laplacian.n)} frequencies, up to λ = ${short(this.frequencies[lowest - 1])}`;
    const reach = shown.mass.beyond.findIndex((x) => x <= 0.01 * shown.mass.norm);
    element("reach").textContent = reach < 0 ? "everywhere" : plural(reach, "hop");
    element("reach-note").textContent = "hold all but 1 % of the norm of the filtered impulse";
    const note = `at vertex ${this.vertexName(state.vertex)}, value ${short(shown.impulse[state.vertex])} there`;
    element("graph-note").textContent = note;
    element("graph").setAttribute("aria-label", `The graph, coloured by the filtered impulse ${note}. Arrow keys move it.`);
    element("legend").setAttribute("aria-label", `Colours from −${short(shown.largest)} to ${short(shown.largest)}`);
    element("circle").setAttribute("aria-label", `Frequencies on the half circle: the lowest ${lowest} take ${short(100 * share)} % of it`);
    element("unrolled").setAttribute("aria-label", "The response over the angle of C(hλ)");
    element("response").setAttribute("aria-label", `The response over frequency, at most ${short(shown.gain)}`);
    element("decay").setAttribute("aria-label", `Mass outside k hops: all but 1 % within ${reach < 0 ? "no number of" : reach} hops`);
    this.showControls();
    this.keepAddress();
  }

  vertexName(i) {
    const label = this.content.labels?.[i];
    return label === undefined ? String(i) : `${i} (label ${label})`;
  }

  /** Bring the controls to the state, but not the one that is being typed into. */
  showControls() {
    const { state, shown } = this, [kind] = state.filter.split(":"), free = kind !== "own" && kind !== "custom";
    const put = (id, value) => { if (document.activeElement !== element(id)) element(id).value = value; };
    element("zoom").value = this.sliderPlace(state.zoom);
    element("zoom").setAttribute("aria-valuetext", `h = ${short(state.zoom)}`);
    put("zoom-number", Number(state.zoom.toPrecision(4)));
    element("filter").value = kind === "random" ? "random" : state.filter;
    element("draw").hidden = kind !== "random";
    element("order").disabled = !free;
    element("order").value = shown.polynomial.order;
    element("order-value").textContent = shown.polynomial.order;
    put("vertex", state.vertex);
    element("tol").value = state.tol;
    element("colours").value = state.colours;
    const { real, imag } = shown.polynomial, digits = (x) => String(Number(x.toPrecision(6)));
    put("coefficients-text", kind === "custom" ? state.text : real.map((x, j) => digits(x) + (imag[j] ? `${imag[j] < 0 ? "" : "+"}${digits(imag[j])}i` : "")).join(", "));
  }

  sliderPlace(zoom) {
    const [low, high] = this.content.zooms;
    return (1000 * Math.log(zoom / low)) / Math.log(high / low);
  }

  zoomAt(place) {
    const [low, high] = this.content.zooms;
    return low * Math.pow(high / low, place / 1000);
  }

  /** Write the state into the address. */
  keepAddress() {
    const { zoom, filter, order, vertex, tol, colours, text } = this.state;
    const parts = { zoom: String(zoom), filter, order, vertex, tol, colours, ...(filter === "custom" ? { c: text } : {}) };
    const address = `#${new URLSearchParams(Object.entries(parts))}`;
    if (address !== this.address) {
      this.address = address;
      clearTimeout(this.later);  // browsers refuse addresses that change too often
      this.later = setTimeout(() => { if (location.hash !== address) history.replaceState(null, "", address); }, 150);
    }
  }

  /** Take the state from the address, as far as it makes sense. */
  readAddress() {
    const given = new URLSearchParams(location.hash.slice(1)), state = { ...this.standard };
    const whole = (name, low, high) => {
      const value = given.get(name) === null ? NaN : Number(given.get(name));
      return Number.isInteger(value) && value >= low && value <= high ? value : state[name];
    };
    const zoom = Number(given.get("zoom")), [low, high] = this.content.zooms;
    if (zoom >= low && zoom <= high) state.zoom = zoom;
    state.order = whole("order", 1, 16);
    state.vertex = whole("vertex", 0, this.laplacian.n - 1);
    if (TOLERANCES.includes(given.get("tol"))) state.tol = given.get("tol");
    if (["log", "linear"].includes(given.get("colours"))) state.colours = given.get("colours");
    const filter = given.get("filter") ?? "", text = given.get("c") ?? "";
    if (Object.hasOwn(this.content.presets, filter) || /^random:\d{1,9}$/.test(filter)) state.filter = filter;
    if (/^own:\d{1,4}$/.test(filter) && Number(filter.slice(4)) < this.content.filters.length) state.filter = filter;
    if (filter === "custom" && parseCoefficients(text)) Object.assign(state, { filter, text });
    this.state = state;
  }

  /** Look at sizes and colours again, and draw. */
  refresh() {
    this.theme = currentTheme();
    this.picture.resize(this.theme);
    this.schedule();
  }

  /** Return how many updates per second there are at zooms all over the slider, drawing finished each time. */
  measure(count) {
    const probe = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const zoom = this.state.zoom, start = performance.now();
    for (let k = 0; k < count; k++) {
      this.state.zoom = this.zoomAt((1000 * k) / count);
      this.update();
      probe.drawImage(element("graph"), 0, 0, 1, 1);
      probe.getImageData(0, 0, 1, 1);
    }
    const rate = (1000 * count) / (performance.now() - start);
    this.set({ zoom });
    return rate;
  }
}

/** Fill the lists and the words that do not change. */
function fillPage(explorer) {
  const { content, laplacian, frequencies } = explorer, count = (k) => k.toLocaleString("en-US");
  const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });
  content.filters.forEach((one, k) => element("filter").append(option(`own:${k}`, one.name)));
  Object.entries(content.presets).forEach(([name, preset]) => element("filter").append(option(name, preset.words)));
  element("filter").append(option("random", "random coefficients"), option("custom", "own coefficients"));
  for (const tol of TOLERANCES) element("tol").append(option(tol, short(Number(tol))));
  element("vertex").max = laplacian.n - 1;
  const spectrum = `λ ≤ ${short(laplacian.lmax, 4)}${content.laplacian.guaranteed ? "" : " (estimated)"}`;
  element("facts").textContent = `${count(laplacian.n)} vertices · ${count(content.laplacian.n_edges)} edges · ${laplacian.kind} Laplacian · ${spectrum}`;
  element("made").textContent = content.frequencies.certificate === "exact"
    ? "All frequencies are eigenvalues."
    : `Of ${count(laplacian.n)} frequencies the lowest are computed; the others are drawn as ${count(frequencies.length)} in all, an estimate from the spectral density.`;
}

/** Let the controls change the state. */
function connectControls(explorer) {
  const on = (id, event, change) => element(id).addEventListener(event, () => { const changes = change(element(id).value); if (changes) explorer.set(changes); });
  const checked = (id, value, good) => { element(id).setAttribute("aria-invalid", String(!good)); return good ? value : null; };
  const [low, high] = explorer.content.zooms;
  on("zoom", "input", (place) => ({ zoom: explorer.zoomAt(Number(place)) }));
  on("zoom-number", "input", (text) => checked("zoom-number", { zoom: Number(text) }, Number(text) >= low && Number(text) <= high));
  on("order", "input", (order) => ({ order: Number(order) }));
  on("vertex", "input", (text) => checked("vertex", { vertex: Number(text) }, text !== "" && Number.isInteger(Number(text)) && Number(text) >= 0 && Number(text) < explorer.laplacian.n));
  on("tol", "change", (tol) => ({ tol }));
  on("colours", "change", (colours) => ({ colours }));
  on("coefficients-text", "input", (text) => checked("coefficients-text", { filter: "custom", text }, parseCoefficients(text) !== null));
  element("filter").addEventListener("change", () => chooseFilter(explorer, element("filter").value));
  element("draw").addEventListener("click", () => explorer.set({ filter: `random:${Number(explorer.state.filter.split(":")[1]) + 1}` }));
  for (const id of ["zoom-number", "vertex", "coefficients-text"]) {
    element(id).addEventListener("blur", () => { element(id).setAttribute("aria-invalid", "false"); explorer.showControls(); });
  }
  element("controls").addEventListener("submit", (event) => event.preventDefault());
}

function chooseFilter(explorer, value) {
  if (value === "random") return explorer.set({ filter: "random:1" });
  if (value === "custom") {
    element("coefficients").open = true;
    return explorer.set({ filter: "custom", text: element("coefficients-text").value });
  }
  const own = value.startsWith("own:") ? { zoom: explorer.content.filters[value.slice(4)].zoom } : {};
  return explorer.set({ filter: value, ...own });
}

/** Let mouse, finger and arrow keys choose the vertex. */
function connectGraph(explorer) {
  const canvas = element("graph"), { picture } = explorer;
  const under = (event) => { const box = canvas.getBoundingClientRect(); return picture.nearest(event.clientX - box.left, event.clientY - box.top); };
  canvas.addEventListener("click", (event) => explorer.set({ vertex: under(event) }));
  canvas.addEventListener("pointermove", (event) => {
    const vertex = under(event);
    if (event.buttons === 1 && event.pointerType === "mouse") explorer.set({ vertex });
    const hops = explorer.hops[vertex];
    element("pointer").textContent = `vertex ${explorer.vertexName(vertex)}: ${short(explorer.shown.impulse[vertex])}, ${hops < 0 ? "not connected" : `${hops} hop${hops === 1 ? "" : "s"} away`}`;
  });
  canvas.addEventListener("pointerleave", () => { element("pointer").textContent = ""; });
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    explorer.set({ vertex: picture.towards(explorer.state.vertex, ...steps[event.key]) });
  });
}

const explorer = new Explorer(JSON.parse(element("content").textContent));
fillPage(explorer);
explorer.readAddress();
connectControls(explorer);
connectGraph(explorer);
explorer.theme = currentTheme();
explorer.picture.resize(explorer.theme);
explorer.update();
window.explorer = explorer;
const asked = Number(new URLSearchParams(location.hash.slice(1)).get("measure"));
if (asked > 0 && asked <= 1000) document.documentElement.dataset.updatesPerSecond = explorer.measure(asked);
window.addEventListener("hashchange", () => { explorer.readAddress(); explorer.schedule(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => explorer.refresh());
new ResizeObserver(() => explorer.refresh()).observe(element("stack"));
