// Pictures: numbers in, one canvas drawn.

const LEVELS = 24;  // colours of each sign
const DECADES = 3;  // of a logarithmic scale of colours
const FONT = '11.5px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

// From strongly negative over zero to strongly positive: blue and orange, told apart by every kind of eyes.
const RAMPS = {
  light: ["#08386b", "#0b6fb3", "#74b2d8", "#c3dbea", "#e2e2df", "#f3d3b0", "#eb9f57", "#cb5b0b", "#7c2d05"],
  dark: ["#cfeaff", "#7cc4f2", "#3a8ec7", "#2a5676", "#34393e", "#7a4f26", "#c87a2b", "#f5a957", "#ffe3c2"],
};

/** Colours of the page as they are now, light or dark. */
function currentTheme() {
  const style = getComputedStyle(document.documentElement);
  const theme = { dark: matchMedia("(prefers-color-scheme: dark)").matches };
  for (const name of ["ground", "panel", "ink", "soft", "line", "strong", "accent", "warm", "edge", "beyond"]) {
    theme[name] = style.getPropertyValue(`--${name}`).trim();
  }
  const numbers = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  const stops = RAMPS[theme.dark ? "dark" : "light"].map(numbers);
  theme.levels = Array.from({ length: 2 * LEVELS + 1 }, (_, k) => {
    const place = (k / (2 * LEVELS)) * (stops.length - 1), i = Math.min(Math.floor(place), stops.length - 2);
    const mix = stops[i].map((x, c) => Math.round(x + (place - i) * (stops[i + 1][c] - x)));
    return mix;
  });
  theme.outline = theme.dark ? [100, 107, 114] : [150, 154, 156];
  return theme;
}

/** The name that canvases take of a colour. */
const rgb = (color) => `rgb(${color.join()})`;

/** Return the colour of a value, relative to the largest, as an index of the theme's levels. */
function level(relative, logarithmic) {
  const size = Math.min(Math.abs(relative), 1);
  const part = logarithmic ? (size > 0 ? Math.max(0, 1 + Math.log10(size) / DECADES) : 0) : size;
  return LEVELS + Math.sign(relative) * Math.round(part * LEVELS);
}

/** Round numbers between two, about so many. */
function roundTicks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1), unit = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= raw * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}

/** Make the canvas as large as it is shown, in the pixels of the screen, and empty. */
function prepared(canvas) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = FONT;
  pen.lineJoin = "round";
  return { pen, width, height };
}

/** Write text at a place. */
function write(pen, text, x, y, color, align = "center", baseline = "middle") {
  pen.fillStyle = color;
  pen.textAlign = align;
  pen.textBaseline = baseline;
  pen.fillText(text, x, y);
}

/** Draw a line through points. */
function polyline(pen, points, color, width, dash = []) {
  pen.beginPath();
  points.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.strokeStyle = color;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.stroke();
  pen.setLineDash([]);
}

/** Many discs on one canvas, written into its pixels: far faster than as many paths. */
class Discs {
  constructor(canvas) {
    const { pen, width, height } = prepared(canvas);
    Object.assign(this, { pen, width, height, ratio: window.devicePixelRatio || 1 });
    this.image = pen.createImageData(Math.max(canvas.width, 1), Math.max(canvas.height, 1));
    this.words = new Uint32Array(this.image.data.buffer);
  }

  /** The pixels of a disc as steps from its middle: those within, those on its edge and how much of these it covers. */
  mask(radius) {
    const within = [], edge = [], cover = [], reach = Math.ceil(radius + 0.5);
    for (let y = -reach; y <= reach; y++) {
      for (let x = -reach; x <= reach; x++) {
        const part = radius + 0.5 - Math.hypot(x, y), step = y * this.image.width + x;
        if (part >= 1) within.push(step);
        else if (part > 0.02) { edge.push(step); cover.push(part); }
      }
    }
    return { within: Int32Array.from(within), edge: Int32Array.from(edge), cover: Float32Array.from(cover), reach };
  }

  /** Discs of one size, with an outline if one is given. */
  brush(radius, outline) {
    const size = radius * this.ratio;
    if (!outline) return [{ mask: this.mask(size), color: null }];
    return [{ mask: this.mask(size), color: outline }, { mask: this.mask(size - 0.8 * this.ratio), color: null }];
  }

  /** Add a disc; one that reaches beyond the canvas is left out. */
  add(x, y, brush, color) {
    const left = Math.round(x * this.ratio), top = Math.round(y * this.ratio);
    for (const layer of brush) this.stamp(left, top, layer.mask, layer.color ?? color);
  }

  stamp(x, y, { within, edge, cover, reach }, color) {
    const { words, image } = this, { data, width, height } = image, middle = y * width + x;
    if (!(x >= reach && y >= reach && x + reach < width && y + reach < height)) return;
    const [red, green, blue] = color, word = (255 << 24) | (blue << 16) | (green << 8) | red;
    for (let m = 0; m < within.length; m++) words[middle + within[m]] = word;
    for (let m = 0; m < edge.length; m++) {
      const place = 4 * (middle + edge[m]), there = data[place + 3], part = there ? cover[m] : 1;
      data[place] += part * (red - data[place]);
      data[place + 1] += part * (green - data[place + 1]);
      data[place + 2] += part * (blue - data[place + 2]);
      if (255 * cover[m] > there) data[place + 3] = 255 * cover[m];
    }
  }

  /** Show them; what is drawn afterwards lies above them. */
  show() { this.pen.putImageData(this.image, 0, 0); }
}

/** The graph: edges drawn once, vertices whenever their colours change. */
class GraphPicture {
  constructor(edgeCanvas, canvas, places, laplacian) {
    Object.assign(this, { edgeCanvas, canvas, laplacian, n: laplacian.n });
    this.unitsX = unpacked(places.x, Float32Array);
    this.unitsY = unpacked(places.y, Float32Array);
    this.x = new Float32Array(this.n);
    this.y = new Float32Array(this.n);
  }

  /** Find the places of the vertices on the canvas as large as it is now, and draw the edges. */
  resize(theme) {
    const { pen, width, height } = prepared(this.edgeCanvas);
    this.ratio = window.devicePixelRatio;
    const most = (units) => units.reduce((a, b) => Math.max(a, b), 0);
    const spanX = most(this.unitsX) || 1, spanY = most(this.unitsY) || 1, margin = 14;
    const scale = Math.min((width - 2 * margin) / spanX, (height - 2 * margin) / spanY);
    const left = (width - scale * spanX) / 2, bottom = height - (height - scale * spanY) / 2;
    for (let i = 0; i < this.n; i++) {
      this.x[i] = left + scale * this.unitsX[i];
      this.y[i] = bottom - scale * this.unitsY[i];
    }
    const area = Math.max(scale * scale * spanX * spanY, 0.15 * width * height);
    this.radius = Math.min(Math.max(0.33 * Math.sqrt(area / this.n), 1.3), 7);
    const { rows, columns } = this.laplacian;
    pen.beginPath();
    for (let e = 0; e < rows.length; e++) {
      pen.moveTo(this.x[rows[e]], this.y[rows[e]]);
      pen.lineTo(this.x[columns[e]], this.y[columns[e]]);
    }
    pen.globalAlpha = Math.min(Math.max(26 / Math.sqrt(rows.length || 1), 0.12), 0.7);
    pen.strokeStyle = theme.edge;
    pen.lineWidth = 0.7;
    pen.stroke();
    pen.globalAlpha = 1;
  }

  /** Draw the vertices in the colours of the signal, strong ones above weak ones. */
  draw(theme, signal, largest, logarithmic, vertex) {
    const groups = Array.from({ length: LEVELS + 1 }, () => []), levels = new Uint8Array(this.n);
    for (let i = 0; i < this.n; i++) {
      levels[i] = largest > 0 ? level(signal[i] / largest, logarithmic) : LEVELS;
      groups[Math.abs(levels[i] - LEVELS)].push(i);
    }
    const discs = new Discs(this.canvas), brush = discs.brush(this.radius, this.radius > 3 ? theme.outline : null);
    for (const group of groups) for (const i of group) discs.add(this.x[i], this.y[i], brush, theme.levels[levels[i]]);
    discs.show();
    const { pen } = discs;
    pen.lineWidth = 2;
    pen.strokeStyle = theme.ink;
    pen.beginPath();
    pen.arc(this.x[vertex], this.y[vertex], this.radius + 4, 0, 2 * Math.PI);
    pen.stroke();
  }

  /** The vertex that is drawn nearest to a place. */
  nearest(x, y) {
    let best = 0, least = Infinity;
    for (let i = 0; i < this.n; i++) {
      const distance = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (distance < least) { least = distance; best = i; }
    }
    return best;
  }

  /** The nearest vertex in a direction from another, or that one itself. */
  towards(vertex, dx, dy) {
    let best = vertex, least = Infinity;
    for (let i = 0; i < this.n; i++) {
      const ahead = (this.x[i] - this.x[vertex]) * dx + (this.y[i] - this.y[vertex]) * dy;
      const aside = Math.abs((this.x[i] - this.x[vertex]) * dy - (this.y[i] - this.y[vertex]) * dx);
      if (ahead > 0 && aside <= ahead && ahead + 2 * aside < least) { least = ahead + 2 * aside; best = i; }
    }
    return best;
  }
}

/** The scale of colours and its values. */
function drawLegend(canvas, theme, largest, logarithmic) {
  const { pen, width } = prepared(canvas);
  const span = Math.min(width - 70, 420), left = (width - span) / 2, colors = theme.levels.length, top = 2, height = 12;
  for (let k = 0; k < colors; k++) {
    pen.fillStyle = rgb(theme.levels[k]);
    pen.fillRect(left + (k * span) / colors, top, span / colors + 0.6, height);
  }
  for (const part of [-1, -0.5, 0, 0.5, 1]) {
    const size = logarithmic ? Math.pow(10, -DECADES * (1 - Math.abs(part))) : Math.abs(part);
    const sign = part < 0 ? "−" : part === 0 && logarithmic ? "±" : "";
    const x = left + (span + part * (span - span / colors)) / 2;
    polyline(pen, [[x, top + height], [x, top + height + 4]], theme.strong, 1);
    write(pen, sign + short(largest * size, 2), x, top + height + 13, theme.soft);
  }
}

/** Frequencies where the Cayley transform puts them, coloured by the response. */
function drawHalfCircle(canvas, theme, data) {
  const discs = new Discs(canvas), { pen, width, height } = discs, { angles, values, gain } = data;
  const radius = Math.min((width - 56) / 2, height - 58), cx = width / 2, cy = (height - radius - 24) / 2 + 20;
  const place = (angle, r) => [cx + r * Math.cos(angle), cy - r * Math.sin(angle)];
  const color = (k) => theme.levels[gain > 0 ? level(values[k] / gain, false) : LEVELS];
  const brush = discs.brush(angles.length > 600 ? 2.8 : 3.6, theme.outline);
  const dots = [];  // those that lie on another are left out
  for (let k = angles.length - 1, last = Infinity; k >= MARKED; k--) {
    if ((last - angles[k]) * radius < 0.4) continue;
    last = angles[k];
    dots.push([...place(last, radius), color(k)]);
  }
  // all outlines below all discs: where these lie close together, their colours are seen
  for (const layer of brush) for (const [x, y, shade] of dots) discs.add(x, y, [layer], shade);
  discs.show();
  for (let k = Math.min(MARKED, angles.length) - 1; k >= 0; k--) {
    const [x, y] = place(angles[k], radius), r = 5;
    pen.beginPath();
    for (const [dx, dy] of [[0, -r], [r, 0], [0, r], [-r, 0]]) pen.lineTo(x + dx, y + dy);
    pen.closePath();
    pen.fillStyle = rgb(color(k));
    pen.fill();
    pen.strokeStyle = theme.ink;
    pen.lineWidth = 1;
    pen.stroke();
  }
  pen.globalCompositeOperation = "destination-over";  // below what is there
  pen.beginPath();
  pen.arc(cx, cy, radius, 0, Math.PI);
  pen.strokeStyle = theme.line;
  pen.lineWidth = 1.5;
  pen.stroke();
  pen.globalCompositeOperation = "source-over";
  for (const [angle, text] of [[-Math.PI, "λ = 0"], [0, "λ = ∞"]]) {
    const [x, y] = place(angle, radius);
    polyline(pen, [[x, y - 3], [x, y - 8]], theme.strong, 1);
    write(pen, text, x, y - 15, theme.soft);
  }
  polyline(pen, [place(-Math.PI / 2, radius + 3), place(-Math.PI / 2, radius + 8)], theme.strong, 1);
  write(pen, "λ = 1/h", cx, cy + radius + 17, theme.soft);
  write(pen, `h = ${short(data.zoom)}`, cx, cy + 0.32 * radius, theme.ink);
  write(pen, `◆ lowest ${Math.min(MARKED, angles.length)}   ● others`, cx, cy + 0.32 * radius + 18, theme.soft);
}

/** The frame of a chart: a box to draw in, ticks and their lines; `place` maps values into the box. */
function drawFrame(pen, theme, width, height, y, ticks, name, top = 8) {
  const box = { left: 44, right: width - 8, top, bottom: height - 34 };
  const placeY = (value) => box.bottom - ((value - y[0]) / (y[1] - y[0])) * (box.bottom - box.top);
  for (const [value, text] of ticks) {
    polyline(pen, [[box.left, placeY(value)], [box.right, placeY(value)]], theme.line, 0.7);
    write(pen, text, box.left - 6, placeY(value), theme.soft, "right");
  }
  write(pen, name, (box.left + box.right) / 2, height - 8, theme.soft);
  return { ...box, placeY };
}

/** Ticks below the box. */
function drawTicks(pen, theme, box, ticks) {
  for (const [x, text] of ticks) {
    polyline(pen, [[x, box.bottom], [x, box.bottom + 4]], theme.strong, 1);
    write(pen, text, x, box.bottom + 12, theme.soft);
  }
}

/** Frequencies as thin lines at the bottom of a box, the lowest ones darker. */
function drawRug(pen, theme, box, places) {
  const top = box.bottom - 0.16 * (box.bottom - box.top);
  const lines = (from, to, color, width, alpha) => {
    pen.beginPath();
    for (let k = from; k < to; k++) { pen.moveTo(places[k], box.bottom); pen.lineTo(places[k], top); }
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.globalAlpha = alpha;
    pen.stroke();
    pen.globalAlpha = 1;
  };
  lines(MARKED, places.length, theme.strong, 0.5, Math.min(1, 250 / Math.max(places.length, 1) + 0.25));
  lines(0, Math.min(MARKED, places.length), theme.ink, 1, 1);
}

const responseTicks = ([low, high]) => roundTicks(low, high, 4).map((v) => [v, short(v)]);

/** The response over frequency. */
function drawResponse(canvas, theme, data) {
  const { pen, width, height } = prepared(canvas), { lmax, range, polynomial } = data;
  const box = drawFrame(pen, theme, width, height, range, responseTicks(range), "frequency λ");
  const end = lmax || 1, placeX = (x) => box.left + (x / end) * (box.right - box.left);
  drawTicks(pen, theme, box, roundTicks(0, end, 5).map((v) => [placeX(v), short(v)]));
  drawRug(pen, theme, box, data.frequencies.map(placeX));
  // half of the points evenly, half of them where the zoom is
  const first = -Math.PI, last = cayleyAngle(data.zoom * end), points = [];
  for (let m = 0; m <= 400; m++) {
    points.push((end * m) / 400);
    const angle = first + ((last - first) * m) / 400;
    points.push(Math.min(Math.max(-1 / Math.tan(angle / 2) / data.zoom, 0), end));
  }
  points.sort((a, b) => a - b);
  polyline(pen, points.map((x) => [placeX(x), box.placeY(polynomial.at(x))]), theme.accent, 2);
}

/** Round frequencies whose labels keep clear of each other on the axis of angles. */
function angleTicks(zoom, least) {
  const decade = Math.floor(Math.log10(1 / zoom)), taken = [-Math.PI, 0], ticks = [];
  // from the middle of the circle outwards, the rounder ones first
  for (const m of [1, 5, 2, 3]) {
    for (const k of [0, -1, 1, -2, 2, 3]) {
      const value = Number(`${m}e${decade + k}`), angle = cayleyAngle(zoom * value);
      if (taken.some((other) => Math.abs(angle - other) < least)) continue;
      taken.push(angle);
      ticks.push(value);
    }
  }
  return ticks;
}

/** The response over the unrolled half circle: the same curve for every zoom, and the frequencies move below it. */
function drawUnrolled(canvas, theme, data) {
  const { pen, width, height } = prepared(canvas), { range, polynomial, zoom } = data;
  const end = cayleyAngle(zoom * data.lmax);
  const box = drawFrame(pen, theme, width, height, range, responseTicks(range), "frequency λ, at its angle");
  const placeX = (angle) => box.left + (1 + angle / Math.PI) * (box.right - box.left);
  pen.fillStyle = theme.beyond;
  pen.fillRect(placeX(end), box.top, box.right - placeX(end), box.bottom - box.top);
  if (box.right - placeX(end) > 80) {
    const high = polynomial.atAngle(end / 2) > (range[0] + range[1]) / 2;  // where the curve is not
    write(pen, "beyond λmax", (placeX(end) + box.right) / 2, high ? box.bottom - 12 : box.top + 12, theme.soft);
  }
  const ticks = angleTicks(zoom, (42 * Math.PI) / (box.right - box.left));
  const labels = ticks.map((value) => [placeX(cayleyAngle(zoom * value)), short(value)]);
  drawTicks(pen, theme, box, [[box.left, "0"], ...labels, [box.right - 3, "∞"]]);
  drawRug(pen, theme, box, data.angles.map(placeX));
  const curve = Array.from({ length: 401 }, (_, m) => -Math.PI + (Math.PI * m) / 400);
  polyline(pen, curve.map((angle) => [placeX(angle), box.placeY(polynomial.atAngle(angle))]), theme.accent, 2);
}

/** The mass outside k hops, measured and proved, on a logarithmic scale. */
function drawDecay(canvas, theme, data) {
  const { pen, width, height } = prepared(canvas), { beyond, bounds, tol } = data;
  const low = Math.log10(tol) - 1, high = 0.3, last = Math.max(beyond.length - 1, 1);
  const powers = roundTicks(Math.ceil(low), 0, 4).filter((p) => Number.isInteger(p));
  const ticks = powers.map((power) => [power, short(Math.pow(10, power))]);
  const box = drawFrame(pen, theme, width, height, [low, high], ticks, "hops k", 22);
  const placeX = (k) => box.left + 4 + (k / last) * (box.right - box.left - 10);
  drawTicks(pen, theme, box, roundTicks(0, last, 6).filter(Number.isInteger).map((k) => [placeX(k), short(k)]));
  const point = (value, k) => [placeX(k), box.placeY(Math.log10(Math.max(value, 1e-300)))];
  pen.save();
  pen.beginPath();
  pen.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  pen.clip();
  const level = box.placeY(Math.log10(tol));
  polyline(pen, [[box.left, level], [box.right, level]], theme.soft, 1, [2, 3]);
  polyline(pen, Array.from(bounds, point), theme.warm, 1.5, [6, 4]);
  const measured = Array.from(beyond, point);
  polyline(pen, measured, theme.accent, 1.5);
  if (measured.length <= 60) {
    pen.fillStyle = theme.accent;
    for (const [x, y] of measured) {
      pen.beginPath();
      pen.arc(x, y, 2.6, 0, 2 * Math.PI);
      pen.fill();
    }
  }
  pen.restore();
  const bound = data.proved ? "proved" : "series";
  let x = 2;
  const lines = [["outside k hops", theme.accent, []], [bound, theme.warm, [6, 4]], ["tolerance", theme.soft, [2, 3]]];
  for (const [text, color, dash] of lines) {
    polyline(pen, [[x, 7], [x + 18, 7]], color, 1.6, dash);
    write(pen, text, x + 23, 7, theme.soft, "left");
    x += 23 + pen.measureText(text).width + 12;
  }
}
