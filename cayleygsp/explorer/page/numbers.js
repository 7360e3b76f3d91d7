// Numbers: the Laplacian, Cayley polynomials, their Chebyshev series, and bounds. Nothing here knows the page.
// The names in brackets are the functions of the Python package that compute the same.

// Terms T_k δ are kept in single precision, up to so many bytes and terms; beyond, a series is cut and its error said.
const TERM_BYTES = 160e6, MOST_TERMS = 20000;

/** Return the typed array that `packed` wrote. */
function unpacked(box, Wide) {
  if (box.type === "constant") return new Wide(box.length).fill(box.data);
  const text = atob(box.data);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const types = { uint16: Uint16Array, uint32: Uint32Array, float32: Float32Array, float64: Float64Array };
  return Wide.from(new types[box.type](bytes.buffer));
}

/** A symmetric matrix: its diagonal, and the other entries row by row. */
class Laplacian {
  constructor(box) {
    const rows = unpacked(box.rows, Uint32Array), columns = unpacked(box.columns, Uint32Array);
    const upper = unpacked(box.values, Float64Array);
    const n = box.n_vertices;
    Object.assign(this, { n, rows, columns, kind: box.kind, lmin: box.lmin, lmax: box.lmax });
    Object.assign(this, { rowRounding: box.row_rounding, offDiagonalNorm: box.off_diagonal_norm });
    this.diagonal = unpacked(box.diagonal, Float64Array);
    const start = new Uint32Array(n + 1);
    for (let e = 0; e < rows.length; e++) { start[rows[e] + 1]++; start[columns[e] + 1]++; }
    for (let i = 0; i < n; i++) start[i + 1] += start[i];
    const next = start.slice(0, n);
    this.start = start;
    this.neighbours = new Uint32Array(start[n]);
    this.entries = new Float64Array(start[n]);
    const put = (i, j, value) => { this.neighbours[next[i]] = j; this.entries[next[i]++] = value; };
    for (let e = 0; e < rows.length; e++) put(columns[e], rows[e], upper[e]);
    for (let e = 0; e < rows.length; e++) put(rows[e], columns[e], upper[e]);
  }

  /** Σ Δ_ij x_j over the neighbours j of i. */
  offDiagonal(i, x) {
    const { start, neighbours, entries } = this, end = start[i + 1];
    let sum = 0;
    for (let e = start[i]; e < end; e++) sum += entries[e] * x[neighbours[e]];
    return sum;
  }

  /** Write a (Δ x)_i + b x_i + c z_i to out. */
  combine(a, x, b, c, z, out) {
    for (let i = 0; i < this.n; i++) {
      out[i] = a * (this.diagonal[i] * x[i] + this.offDiagonal(i, x)) + b * x[i] + c * z[i];
    }
  }

  /** Return distances in hops, -1 where there is no way [localization.hops]. */
  hops(vertex) {
    const distance = new Int32Array(this.n).fill(-1), queue = new Uint32Array(this.n);
    distance[vertex] = 0;
    queue[0] = vertex;
    for (let first = 0, last = 1; first < last; first++) {
      const i = queue[first];
      for (let e = this.start[i]; e < this.start[i + 1]; e++) {
        const j = this.neighbours[e];
        if (distance[j] < 0) { distance[j] = distance[i] + 1; queue[last++] = j; }
      }
    }
    return distance;
  }
}

/** The terms T_k(Δ̃) δ of one vertex, computed as far as they are asked for [engine.recurrence]. */
class Terms {
  constructor(laplacian, vertex) {
    this.laplacian = laplacian;
    this.before = new Float64Array(laplacian.n);
    this.last = new Float64Array(laplacian.n);
    this.last[vertex] = 1;
    this.kept = [Float32Array.from(this.last)];
    this.mostDegree = Math.min(Math.max(Math.floor(TERM_BYTES / (4 * laplacian.n)), 2), MOST_TERMS) - 1;
  }

  /** Compute the terms up to a degree: T_1 = Δ̃ T_0, T_{k+1} = 2 Δ̃ T_k - T_{k-1}. */
  extend(degree) {
    const { lmin, lmax } = this.laplacian, scale = 2 / (lmax - lmin);
    while (this.kept.length <= degree) {
      const factor = this.kept.length === 1 ? 1 : 2;
      const next = this.before;
      this.laplacian.combine(factor * scale, this.last, -factor * (1 + scale * lmin), 1 - factor, this.before, next);
      this.before = this.last;
      this.last = next;
      this.kept.push(Float32Array.from(next));
    }
  }

  /** Return Σ a_k T_k δ up to a degree, four terms at a time. */
  sum(a, degree) {
    this.extend(degree);
    const n = this.laplacian.n, y = new Float64Array(n), zero = this.kept[0];
    for (let k = 0; k <= degree; k += 4) {
      const [t0, t1, t2, t3] = [0, 1, 2, 3].map((m) => (k + m <= degree ? this.kept[k + m] : zero));
      const [a0, a1, a2, a3] = [0, 1, 2, 3].map((m) => (k + m <= degree ? a[k + m] : 0));
      for (let i = 0; i < n; i++) y[i] += a0 * t0[i] + a1 * t1[i] + a2 * t2[i] + a3 * t3[i];
    }
    return y;
  }
}

/** The angle of C(x), from -π at 0 to 0 at infinity [cayley_angle]. */
const cayleyAngle = (x) => -2 * Math.atan2(1, x);

/** c_0 + 2 Re Σ c_j C(hλ)^j with the zoom h [CayleyPolynomial]. */
class CayleyPolynomial {
  constructor(real, imag, zoom) {
    Object.assign(this, { real, imag, zoom, order: real.length - 1 });
    this.sizes = real.map((x, j) => Math.hypot(x, imag[j]));
  }

  /** The response where C has a given angle, by Horner's rule. */
  atAngle(angle) {
    const { real, imag, order } = this, x = Math.cos(angle), y = Math.sin(angle);
    let u = 0, v = 0;
    for (let j = order; j > 0; j--) {
      const p = u + real[j], q = v + imag[j];
      u = p * x - q * y;
      v = p * y + q * x;
    }
    return real[0] + 2 * u;
  }

  at(lambda) { return this.atAngle(cayleyAngle(this.zoom * lambda)); }

  /** The largest |g| on [0, λmax], seen at 2049 angles. */
  gain(lmax) {
    const last = cayleyAngle(this.zoom * lmax);
    let most = 0;
    for (let m = 0; m <= 2048; m++) {
      most = Math.max(most, Math.abs(this.atAngle(-Math.PI + ((last + Math.PI) * m) / 2048)));
    }
    return most;
  }

  /** A number of samples beyond which the series is worth less than a hundredth of atol [degree_bound]. */
  degreeBound(lmin, lmax, atol) {
    const length = lmax - lmin, total = this.sizes.reduce((sum, size) => sum + size, 0);
    if (!(length > 0) || total === 0) return 0;
    const eps = 2 / (this.zoom * length), t = (-2 * lmin) / length;
    const near = Math.hypot(t, eps) + t, far = Math.hypot(2 - t, eps) + 2 - t;
    const alpha = (eps / 2) * (eps / near + eps / far);
    const largest = alpha + Math.sqrt(alpha) * Math.sqrt(alpha + 2);
    const target = Math.max(atol / 100, 1e-17 * total);
    let least = Infinity;
    for (let m = 2; m <= 99; m++) {
      const delta = (largest * m) / 100;
      const gap = (alpha - delta * (delta / (2 * (1 + delta)))) / eps;
      const logC = Math.log1p(2 / gap);
      const logs = this.sizes.map((size, j) => Math.log(2 * size) + j * logC), top = Math.max(...logs);
      const logM = top + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - top), 0));
      least = Math.min(least, (Math.log((2 * (1 + delta)) / delta) + logM - Math.log(target)) / Math.log1p(delta));
    }
    return Math.ceil(least);
  }

  /** Coefficients on [λmin, λmax] and the sums of the sizes of all beyond each degree [series, tails]. */
  series(lmin, lmax, atol) {
    const length = lmax - lmin;
    if (!(length > 0)) return { coeffs: [this.at(0)], tails: [0] };
    const enough = this.degreeBound(lmin, lmax, atol);
    let n = 16;
    while (n < enough) n *= 2;
    const values = new Float64Array(n);
    for (let m = 0; m < n; m++) {
      const root = Math.sin(((n - m - 0.5) * Math.PI) / (2 * n));
      values[m] = this.at(lmin + length * root * root);
    }
    const coeffs = cosineTransform(values).map((sum) => (2 * sum) / n);
    coeffs[0] /= 2;
    const tails = new Float64Array(n);
    for (let k = n - 2; k >= 0; k--) tails[k] = tails[k + 1] + Math.abs(coeffs[k + 1]);
    return { coeffs, tails };
  }
}

/** Return Σ_m v_m cos(π k (m + ½)/n) for k < n, a power of two, by one Fourier transform. */
function cosineTransform(v) {
  const n = v.length, re = new Float64Array(n), im = new Float64Array(n);
  for (let m = 0; m < n / 2; m++) { re[m] = v[2 * m]; re[n - 1 - m] = v[2 * m + 1]; }
  fourier(re, im);
  return re.map((x, k) => x * Math.cos((Math.PI * k) / (2 * n)) + im[k] * Math.sin((Math.PI * k) / (2 * n)));
}

/** The discrete Fourier transform in place, the length a power of two. */
function fourier(re, im) {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) { [re[i], re[j]] = [re[j], re[i]]; [im[i], im[j]] = [im[j], im[i]]; }
  }
  for (let half = 1; half < n; half *= 2) {
    for (let m = 0; m < half; m++) {
      const x = Math.cos((Math.PI * m) / half), y = -Math.sin((Math.PI * m) / half);
      for (let i = m; i < n; i += 2 * half) {
        const j = i + half, u = re[j] * x - im[j] * y, w = re[j] * y + im[j] * x;
        re[j] = re[i] - u; im[j] = im[i] - w;
        re[i] += u; im[i] += w;
      }
    }
  }
}

/** The least degree whose tail is at most atol [bounds.series_degree]. */
function seriesDegree(tails, atol) {
  const degree = tails.findIndex((tail) => tail <= atol);
  return degree < 0 ? tails.length - 1 : degree;
}

/** How a Jacobi sweep contracts: factor · rate^(K + 1) bounds ‖J^(K+1)‖ [bounds.contraction]. */
function jacobiDecay(laplacian, zoom) {
  const { n, diagonal } = laplacian;
  const E = diagonal.map((d) => Math.sqrt(zoom * d * (zoom * d) + 1)), root = E.map(Math.sqrt);
  const x = root.slice(), z = new Float64Array(n), off = new Float64Array(n);
  let best = Infinity;
  for (let step = 0; step < 20; step++) {
    for (let i = 0; i < n; i++) z[i] = x[i] / root[i];
    let most = 0;
    for (let i = 0; i < n; i++) {
      off[i] = (-zoom * laplacian.offDiagonal(i, z)) / root[i];
      if (off[i] > most * x[i]) most = off[i] / x[i];
    }
    if (most < best) best = most;
    const some = 1e-3 * Math.max(best, 1e-3);
    let largest = 0;
    for (let i = 0; i < n; i++) {
      x[i] = off[i] + some * x[i];
      if (x[i] > largest) largest = x[i];
    }
    for (let i = 0; i < n; i++) x[i] /= largest;
  }
  if (best > 0) best += laplacian.rowRounding * (1 + best);
  let smallestE = Infinity, largestE = 0, ratio = 0;
  for (let i = 0; i < n; i++) {
    ratio = Math.max(ratio, (zoom * diagonal[i]) / E[i]);
    if (diagonal[i] > 0) { smallestE = Math.min(smallestE, E[i]); largestE = Math.max(largestE, E[i]); }
  }
  if (laplacian.kind === "normalized") {
    best = Math.min(best, ratio * laplacian.offDiagonalNorm * (1 + laplacian.rowRounding));
  }
  return { factor: largestE > 0 ? Math.sqrt(largestE / smallestE) : 1, rate: best };
}

/** 2 Σ |c_j| ((1 + a)^j - 1), the error for a contraction a [bounds.contraction.jacobi_error]. */
function jacobiError(sizes, a) {
  return 2 * sizes.reduce((sum, size, j) => (j && size ? sum + size * Math.expm1(j * Math.log1p(a)) : sum), 0);
}

/** The least number of sweeps for an error of atol, null if there is none [bounds.jacobi_sweeps, "sharp"]. */
function jacobiSweeps(decay, sizes, atol) {
  const error = (K) => jacobiError(sizes, decay.factor * Math.pow(decay.rate, K + 1));
  if (error(0) <= atol) return 0;
  if (!(decay.rate < 1) || atol === 0) return null;
  const weight = 2 * sizes.reduce((sum, size, j) => sum + j * size, 0);
  let high = Math.log(atol / weight), low = Math.min(high, -Math.log(sizes.length - 1)) - 1;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (jacobiError(sizes, Math.exp(middle)) <= atol) low = middle; else high = middle;
  }
  let K = Math.max(Math.ceil((low - Math.log(decay.factor)) / Math.log(decay.rate) - 1), 1);
  if (error(K - 1) <= atol) K--;
  return error(K) <= atol ? K : K + 1;
}

/** The 2-norm of y, and of what is outside 0, 1, … hops [localization._mass_beyond]. */
function massBeyond(y, hops) {
  let farthest = 0;
  for (const distance of hops) farthest = Math.max(farthest, distance);
  const squares = new Float64Array(farthest + 2);
  for (let i = 0; i < y.length; i++) squares[hops[i] < 0 ? farthest + 1 : hops[i]] += y[i] * y[i];
  const beyond = new Float64Array(farthest + 1);
  let sum = squares[farthest + 1];
  for (let k = farthest; k >= 0; k--) { beyond[k] = Math.sqrt(sum); sum += squares[k]; }
  return { norm: Math.sqrt(sum), beyond };
}

/** Random coefficients of a filter whose largest response on the half circle is 1, the same for the same seed. */
function randomCoefficients(order, seed) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  const uniform = () => {  // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  const real = [0.3 * normal()], imag = [0];
  for (let j = 1; j <= order; j++) { real.push(normal() / j); imag.push(normal() / j); }
  const gain = new CayleyPolynomial(real, imag, 1).gain(Infinity);
  return { real: real.map((x) => x / gain), imag: imag.map((x) => x / gain) };
}

/** Read "0.5, -0.25, 0.1+0.2i"; null if these are no coefficients. */
function parseCoefficients(text) {
  const plain = text.replace(/\s/g, "").replace(/−/g, "-").toLowerCase();
  const parts = plain.split(/[,;]/).map(parseComplex);
  if (parts.length < 2 || parts.length > 65 || parts.includes(null) || parts[0].imag !== 0) return null;
  return { real: parts.map((c) => c.real), imag: parts.map((c) => c.imag) };
}

/** Read "0.1+0.2i", "-i" or "3e-2"; null if it is no number. */
function parseComplex(word) {
  const size = "(?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d{1,3})?";
  const match = new RegExp(`^(?:([+-]?${size})(?=[+-]|$))?(?:([+-]?(?:${size})?)[ij])?$`).exec(word);
  if (!word || !match) return null;
  const real = Number(match[1] ?? 0), imag = { "": 1, "+": 1, "-": -1 }[match[2]] ?? Number(match[2] ?? 0);
  return Number.isFinite(real) && Number.isFinite(imag) ? { real, imag } : null;
}
