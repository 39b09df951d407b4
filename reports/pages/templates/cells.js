// Cells: the records of each spec under each plan, counted by state, with the record that has the largest error.

// A number in the few characters of a cell.
function brief(value) {
  if (value === Infinity) return "∞";
  if (value === 0) return "0";
  if (value < 0.01) return "<0.01";
  if (value < 9.95) return String(+value.toPrecision(2));
  if (value < 999.5) return String(Math.round(value));
  if (value < 999500) return `${Math.round(value / 1000)}k`;
  return value.toExponential(0).replace("+", "");
}

// A share below 1 never reads as 100 %.
function percent(share) {
  if (share === Infinity) return "∞";
  if (share > 0 && share < 0.01) return "<1%";
  return share < 10 ? `${Math.floor(share * 100 + 1e-9)}%` : `×${brief(share)}`;
}

// The two distances that a cell can show: its name, its steps of colour, and its text.
// A step is the largest value that has its colour, the colour's class, and its words in the legend.
const MEASURES = {
  ulp: {
    name: "Largest error, in ULP of the result's dtype:",
    text: brief,
    steps: [[0, "heat-0", "0: exact"], [0.5, "heat-1", "to ½"], [1, "heat-2", "to 1"], [4, "heat-3", "to 4"], [16, "heat-4", "to 16"],
      [256, "heat-5", "to 256"], [65536, "heat-6", "to 65,536"], [Infinity, "heat-7", "more"]],
  },
  budget: {
    name: "Largest error, as a share of its budget:",
    text: (share) => (share > 1 ? `▲ ${percent(share)}` : percent(share)),
    steps: [[0, "heat-0", "0%: exact"], [0.1, "heat-1", "to 10%"], [0.5, "heat-2", "to 50%"], [0.8, "heat-4", "to 80%"], [1, "heat-6", "to 100%"],
      [Infinity, "heat-over", "▲ beyond the budget"]],
  },
};

const stepOf = (measure, value) => measure.steps.find(([most]) => value <= most);

// The error of each record in ULP; NaN where it has none, or where it is compared with a claim, which may deny something.
function errors(store) {
  const numbers = store.column("max_ulp").map(Float64Array, toNumber);
  const measured = store.column("kind").matching((value) => DISTANT.includes(value));
  const claims = store.column("against").matching((value) => value.startsWith(store.claim));
  for (let i = 0; i < store.n; i++) if (!measured[i] || claims[i]) numbers[i] = NaN;
  return numbers;
}

// The errors as shares of budgets. A contract has numbers of its own, and so has a sweep that matches beyond its budget.
function shares(store, ulps) {
  const budgets = store.column("budget").map(Float64Array, toNumber);
  const [contract, match] = ["contract", "match"].map((name) => store.column("verdict").matching((value) => value === name));
  return ulps.map((ulp, i) => {
    const share = ulp === 0 ? 0 : ulp / budgets[i];
    return contract[i] || (match[i] && share > 1) ? NaN : share;
  });
}

// The numbers that every drawing of the matrix needs: the suites and specs, and the place of each record among the cells.
function makeIndex(store) {
  const { plans, states, not_run } = store.matrix;
  const places = new Map();
  const placeOf = (suite, spec) => {
    const key = JSON.stringify([suite, spec]);
    if (!places.has(key)) places.set(key, { place: places.size, suite, spec });
    return places.get(key).place;
  };
  const numbers = (list) => new Map(list.map((value, i) => [value, i]));
  const planOf = numbers(plans.map((plan) => JSON.stringify(plan)));
  const stateOf = numbers(states.map((state) => state.name));
  const state = store.column("verdict").map(Uint8Array, (verdict) => stateOf.get(verdict));
  const place = pairs(store, "suite", "spec", placeOf);
  const cell = pairs(store, "device", "mode", (device, mode) => planOf.get(JSON.stringify([device, mode])));
  for (let i = 0; i < store.n; i++) cell[i] += place[i] * plans.length;
  const absent = not_run.map(([suite, spec, dtype, device, mode, n]) => (
    { suite, dtype, device, mode, n, cell: placeOf(suite, spec) * plans.length + planOf.get(JSON.stringify([device, mode])), state: stateOf.get("not run") }
  ));
  const ulp = errors(store);
  return { cell, state, absent, specs: places.size, values: { ulp, budget: shares(store, ulp) }, suites: bySuite([...places.values()]) };
}

// Suites, each with its specs, both by name.
function bySuite(specs) {
  const suites = new Map();
  for (const spec of specs.sort((a, b) => compare(a.suite, b.suite) || compare(a.spec, b.spec))) {
    if (!suites.has(spec.suite)) suites.set(spec.suite, []);
    suites.get(spec.suite).push(spec);
  }
  return [...suites];
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

// A number for each record, that `number` gives once for each pair of values in two columns.
function pairs(store, first, second, number) {
  const [a, b] = [store.column(first).coded(), store.column(second).coded()];
  const numbers = new Map();
  const result = new Uint32Array(store.n);
  for (let i = 0; i < store.n; i++) {
    const key = a.codes[i] * b.values.length + b.codes[i];
    let value = numbers.get(key);
    if (value === undefined) numbers.set(key, (value = number(a.values[a.codes[i]], b.values[b.codes[i]])));
    result[i] = value;
  }
  return result;
}

// The cells of the records that pass the filters: `counts` by state, and `worst`, the record with the largest error or -1.
function countCells(store, index, filters) {
  const [plans, states] = [store.matrix.plans.length, store.matrix.states.length];
  const size = index.specs * plans;
  const counts = new Uint32Array(size * states);
  const worst = new Int32Array(size).fill(-1);
  const values = index.values[filters.show];
  const mask = exactMask(store, OF_MATRIX, filters);
  for (let i = 0; i < store.n; i++) {
    if (!mask[i]) continue;
    const cell = index.cell[i];
    counts[cell * states + index.state[i]]++;
    if (values && values[i] > (worst[cell] < 0 ? -1 : values[worst[cell]])) worst[cell] = i;
  }
  // A cell that did not run has no severity.
  const absent = filters.severity ? [] : index.absent;
  for (const one of absent) {
    const passes = ["suite", "dtype", "device", "mode"].every((name) => filters[name] === null || filters[name] === one[name]);
    if (passes) counts[one.cell * states + one.state] += one.n;
  }
  return { counts, worst };
}
