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
    this.shown = { polynomial, gain, atol, coeffs, tails, wanted, degree, error: tails[degree], sweeps };
    Object.assign(this.shown, { impulse, largest, mass, angles });
  }

  /** Compute and draw. */
  update() {
    // on a screen with other pixels, which no size need tell
    if (this.picture.ratio !== window.devicePixelRatio) this.picture.resize(this.theme);
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
    const over = { polynomial, range: this.range(polynomial), zoom: state.zoom, lmax: laplacian.lmax };
    Object.assign(over, { frequencies, angles });
    drawUnrolled(element("unrolled"), theme, over);
    drawResponse(element("response"), theme, over);
    const norm = mass.norm || 1, relative = (x) => x / norm;
    const bounds = Array.from(mass.beyond, (_, k) => Math.min(1, relative(tails[Math.min(k, tails.length - 1)])));
    const proved = this.content.laplacian.guaranteed, tol = relative(shown.atol) || 1e-6;
    drawDecay(element("decay"), theme, { beyond: mass.beyond.map(relative), bounds, tol, proved });
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

  /** Put numbers into words, and the state into controls and address. */
  say() {
    const { state, shown, laplacian, frequencies } = this, words = sentences(shown, state, laplacian.n, frequencies);
    const note = `at vertex ${this.vertexName(state.vertex)}, value ${short(shown.impulse[state.vertex])} there`;
    for (const [id, text] of Object.entries({ ...words, "graph-note": note })) element(id).textContent = text;
    const labels = descriptions(shown, words, note);
    for (const [id, text] of Object.entries(labels)) element(id).setAttribute("aria-label", text);
    this.showControls();
    this.keepAddress();
  }

  vertexName(vertex) { return vertexName(this.content.labels, vertex); }

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
    put("coefficients-text", kind === "custom" ? state.text : writtenCoefficients(shown.polynomial));
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
    const parts = new URLSearchParams({ zoom, filter, order, vertex, tol, colours });
    if (filter === "custom") parts.set("c", text);
    const address = `#${parts}`;
    if (address !== this.address) {
      this.address = address;
      clearTimeout(this.later);  // browsers refuse addresses that change too often
      this.later = setTimeout(() => history.replaceState(null, "", address), 150);
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
  const { content, laplacian, frequencies } = explorer;
  const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });
  const filters = element("filter");
  content.filters.forEach((one, k) => filters.append(option(`own:${k}`, one.name)));
  Object.entries(content.presets).forEach(([name, preset]) => filters.append(option(name, preset.words)));
  filters.append(option("random", "random coefficients"), option("custom", "own coefficients"));
  for (const tol of TOLERANCES) element("tol").append(option(tol, short(Number(tol))));
  element("vertex").max = laplacian.n - 1;
  const words = introduction(content, frequencies);
  for (const [id, text] of Object.entries(words)) element(id).textContent = text;
}

/** Let the controls change the state. */
function connectControls(explorer) {
  const [low, high] = explorer.content.zooms, { n } = explorer.laplacian;
  // a control says what it changes, or null for what makes no sense
  const on = (id, event, change) => element(id).addEventListener(event, () => {
    const changes = change(element(id).value);
    element(id).setAttribute("aria-invalid", String(changes === null));
    if (changes) explorer.set(changes);
  });
  on("zoom", "input", (place) => ({ zoom: explorer.zoomAt(Number(place)) }));
  on("zoom-number", "input", (text) => (Number(text) >= low && Number(text) <= high ? { zoom: Number(text) } : null));
  on("order", "input", (order) => ({ order: Number(order) }));
  on("vertex", "input", (text) => (/^\d+$/.test(text) && Number(text) < n ? { vertex: Number(text) } : null));
  on("tol", "change", (tol) => ({ tol }));
  on("colours", "change", (colours) => ({ colours }));
  on("coefficients-text", "input", (text) => (parseCoefficients(text) ? { filter: "custom", text } : null));
  on("filter", "change", (value) => chosenFilter(explorer, value));
  element("draw").addEventListener("click", () => {
    explorer.set({ filter: `random:${Number(explorer.state.filter.split(":")[1]) + 1}` });
  });
  for (const id of ["zoom-number", "vertex", "coefficients-text"]) {
    element(id).addEventListener("blur", () => {
      element(id).setAttribute("aria-invalid", "false");
      explorer.showControls();
    });
  }
  element("controls").addEventListener("submit", (event) => event.preventDefault());
}

/** What a choice in the list of filters changes. */
function chosenFilter(explorer, value) {
  if (value === "random") return { filter: "random:1" };
  if (value === "custom") {
    element("coefficients").open = true;
    return { filter: "custom", text: writtenCoefficients(explorer.shown.polynomial) };
  }
  const own = explorer.content.filters[value.split(":")[1]];
  return own ? { filter: value, zoom: own.zoom } : { filter: value };
}

/** Let mouse, finger and arrow keys choose the vertex. */
function connectGraph(explorer) {
  const canvas = element("graph"), { picture } = explorer;
  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    return picture.nearest(event.clientX - box.left, event.clientY - box.top);
  };
  canvas.addEventListener("click", (event) => explorer.set({ vertex: under(event) }));
  canvas.addEventListener("pointermove", (event) => {
    const vertex = under(event);
    if (event.buttons === 1 && event.pointerType === "mouse") explorer.set({ vertex });
    const hops = explorer.hops[vertex], far = hops < 0 ? "not connected" : `${plural(hops, "hop")} away`;
    const value = short(explorer.shown.impulse[vertex]);
    element("pointer").textContent = `vertex ${explorer.vertexName(vertex)}: ${value}, ${far}`;
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
