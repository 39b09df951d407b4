// Plot: the errors of a case's elements, against their inputs and by size.

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const byInput = (points) => points[0].map((x, i) => [x, points[1][i]]).sort((a, b) => a[0] - b[0]);

function axes(labels) {
  const shared = { stroke: colour("--quiet"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") }, font: "11px system-ui" };
  return labels.map((label) => ({ ...shared, label, labelSize: 18, labelFont: "11px system-ui", size: (_plot, values, at) => (at ? 26 + 7 * Math.max(0, ...(values || []).map((v) => v.length)) : 42) }));
}

// The power of ten at or below the smallest size that is not 0: below it an axis is linear, beyond it logarithmic.
function threshold(values) {
  const sizes = values.map(Math.abs).filter((v) => v > 0);
  return sizes.length ? 10 ** Math.floor(Math.log10(Math.min(...sizes))) : 1;
}

// A few ticks of an axis that is linear around 0 and logarithmic beyond: 0, and powers of ten on either side.
function decades(values, linear) {
  const far = (side) => Math.ceil(Math.log10(Math.max(linear, ...values.map((v) => v * side)) / linear));
  const powers = (side) => {
    const last = far(side);
    const step = Math.max(1, Math.ceil(last / 3));
    return Array.from({ length: Math.floor(last / step) }, (_, i) => side * linear * 10 ** ((i + 1) * step));
  };
  return [...powers(-1).reverse(), 0, ...powers(1)];
}

const tick = (v) => (v === 0 ? "0" : Math.abs(v) >= 1e4 || Math.abs(v) < 1e-2 ? v.toExponential(0) : String(+v.toPrecision(3)));

function scatter(points, marked, width) {
  const sorted = byInput(points);
  const sides = [sorted.map((p) => p[0]), sorted.map((p) => p[1])];
  const marks = Object.values(marked);
  const dots = (size, name) => ({ paths: () => null, points: { show: true, size, fill: colour(name), stroke: colour(name) } });
  const near = [threshold(sides[0]), 1];
  const at = (v, side) => Math.asinh(v / near[side]);
  const ticks = sides.map((values, side) => decades(values, near[side]));
  const [x, y] = axes(["input", "error, ULP"]).map((axis, side) => ({
    ...axis, splits: () => ticks[side].map((v) => at(v, side)), values: () => ticks[side].map(tick),
  }));
  return new uPlot({
    width, height: 190, legend: { show: false }, cursor: { show: false }, scales: { x: { time: false } }, axes: [x, y],
    series: [{}, dots(5, "--accent"), ...marks.map(() => dots(10, "--mismatch-bg"))],
  }, [sides[0].map((v) => at(v, 0)), sides[1].map((v) => at(v, 1)), ...marks.map(([x, y]) => sides[0].map((v, i) => (v === x && sides[1][i] === y ? at(y, 1) : null)))]).root;
}

// Bins by size: 0, up to ½, 1, 2, 4, … ULP.
function histogram(points, width) {
  const sizes = points[1].map(Math.abs);
  const bin = (v) => (v === 0 ? 0 : Math.min(14, Math.max(1, Math.ceil(Math.log2(v)) + 2)));
  const last = Math.max(2, ...sizes.map(bin));
  const counts = Array(last + 1).fill(0);
  for (const v of sizes) counts[bin(v)]++;
  const names = counts.map((_, i) => (i === 0 ? "0" : i === 14 ? ">2k" : i === 1 ? "½" : i < 12 ? String(2 ** (i - 2)) : `${2 ** (i - 12)}k`));
  const [x, y] = axes(["size of the error, up to … ULP", "elements"]);
  return new uPlot({
    width, height: 160, legend: { show: false }, cursor: { show: false },
    scales: { x: { time: false, range: [-0.6, last + 0.6] } },
    axes: [{ ...x, grid: { show: false }, splits: () => counts.map((_, i) => i), values: (_, at) => at.map((i) => names[i]) }, y],
    series: [{}, { fill: colour("--contract-bg"), stroke: colour("--accent"), width: 1, paths: uPlot.paths.bars({ size: [0.8, 40] }), points: { show: false } }],
  }, [counts.map((_, i) => i), counts]).root;
}

// The words that name the elements with larger dots.
function legend(marked) {
  const elements = Object.entries(marked).map(([name, [x, y]]) => `${name}: input ${shown(x)}, ${shown(y)} ULP`);
  return elements.length ? [el("span", { class: "marked" }, `. Marked: ${elements.join("; ")}.`)] : [];
}

function drawErrors(points, marked) {
  const width = Math.max(240, Math.min(620, byId("detail").clientWidth - 40 || 420));
  const worst = Math.max(...points[1].map(Math.abs));
  const summary = `${points[1].length} elements, the worst ${shown(worst)} ULP off, ${points[1].filter((v) => v === 0).length} exact`;
  return el("figure", { class: "plots", role: "img", "aria-label": summary }, scatter(points, marked, width), histogram(points, width), el("figcaption", { class: "quiet" }, summary, ...legend(marked)));
}
