// Matrix: suites and specs by plan. A cell shows the worst verdict of its records, or their largest error.

// The cell of a suite or of a spec under a plan: its text, its class, and the same in words.
function cellContent(store, counts, worst, filters, index) {
  const states = store.matrix.states;
  const first = counts.findIndex((n) => n > 0);
  if (first < 0) return undefined;
  const words = states.flatMap((state, i) => (counts[i] ? [`${shown(counts[i])} ${state.name}`] : [])).join(", ");
  const measure = MEASURES[filters.show];
  if (!measure) {
    const state = states[first];
    const text = state.symbol + (state.prominent ? ` ${counts[first].toLocaleString("en")}` : "");
    return { text, look: `v-${state.name.replaceAll(" ", "-")}`, words };
  }
  if (worst < 0) return { text: "–", look: "heat-none", words: `no error was measured; ${words}` };
  const value = index.values[filters.show][worst];
  const row = store.rows[worst];
  const error = `${shown(row.max_ulp)} ULP of ${shown(row.budget)} allowed, ${row.quantity} of ${row.case} against ${row.against}`;
  return { text: measure.text(value), look: stepOf(measure, value)[1], words: error };
}

function makeMatrix(store, change) {
  const form = byId("matrix-filters");
  const table = byId("matrix");
  const plans = store.matrix.plans;
  const index = makeIndex(store);
  let filters;
  let cells;
  let columns;

  function link(where, worst) {
    const state = { ...where, dtype: filters.dtype, severity: filters.severity, matrix: filters };
    if (MEASURES[filters.show] && worst >= 0) state.record = store.keyOf(store.rows[worst]);
    return fragmentOf(state);
  }

  // The cells of these specs together, under each plan that is shown.
  function drawCells(name, where, specs) {
    const n = store.matrix.states.length;
    return columns.map((plan) => {
      const counts = Array(n).fill(0);
      let worst = -1;
      for (const { place } of specs) {
        const cell = place * plans.length + plan;
        for (let i = 0; i < n; i++) counts[i] += cells.counts[cell * n + i];
        const other = cells.worst[cell];
        const values = index.values[filters.show];
        if (other >= 0 && (worst < 0 || values[other] > values[worst])) worst = other;
      }
      const [device, mode] = plans[plan];
      const edge = plan === columns.find((one) => plans[one][0] === device) ? "first" : "";
      const content = cellContent(store, counts, worst, filters, index);
      if (!content) return el("td", { class: edge }, el("span", { class: "cell none", title: "nothing planned" }, "·"));
      const title = `${name} on ${device}/${mode}: ${content.words}`;
      const href = link({ ...where, device, mode }, worst);
      return el("td", { class: edge }, el("a", { class: `filter cell ${content.look}`, href, title, "aria-label": `${content.text}: ${title}` }, content.text));
    });
  }

  const drawSpec = (one) => {
    const where = { suite: one.suite, spec: one.spec };
    const name = el("a", { class: "filter", href: link(where, -1) }, ...breakable(one.spec));
    const page = Object.hasOwn(store.matrix.pages, one.spec) && store.matrix.pages[one.spec];
    const words = `The page of the op of ${one.spec}`;
    const more = page ? el("a", { class: "page", href: page, title: words, "aria-label": words }, "↗") : "";
    return el("tr", { class: "spec" }, el("th", { scope: "row" }, name, more), ...drawCells(one.spec, where, [one]));
  };

  // A suite as a row that opens; the rows of its specs are made when it opens.
  function drawSuite(suite, specs, open) {
    const button = el("button", { type: "button" }, el("span", { class: "arrow", "aria-hidden": "true" }, "▸"),
      el("span", { class: "name" }, ...breakable(suite), " ", el("small", { title: `${specs.length} ${specs.length === 1 ? "spec" : "specs"}` }, String(specs.length))));
    const total = el("tr", { class: "total" }, el("th", { scope: "row" }, button), ...drawCells(suite, { suite }, specs));
    const body = el("tbody", { class: "suite" }, total);
    const set = (state) => {
      button.setAttribute("aria-expanded", state);
      // The row of the suite stays in place, so that its button keeps the focus.
      if (state) body.append(...specs.map(drawSpec));
      else while (body.children.length > 1) body.lastChild.remove();
    };
    button.addEventListener("click", () => set(button.getAttribute("aria-expanded") === "false"));
    set(open);
    return body;
  }

  function drawHead() {
    const devices = new Map();
    for (const plan of columns) devices.set(plans[plan][0], [...(devices.get(plans[plan][0]) || []), plans[plan][1]]);
    const top = [...devices].map(([device, modes]) => el("th", { class: "device first", colspan: modes.length, scope: "colgroup" }, device));
    const modes = [...devices.values()].flatMap((names) => names.map((name, i) => el("th", { scope: "col", class: i ? "" : "first" }, name)));
    return el("thead", {}, el("tr", {}, el("th", { rowspan: 2, scope: "col" }, "Suite and spec"), ...top), el("tr", {}, ...modes));
  }

  function drawLegend() {
    const measure = MEASURES[filters.show];
    byId("matrix-verdicts").hidden = Boolean(measure);
    const legend = byId("matrix-steps");
    legend.hidden = !measure;
    if (!measure) return;
    const steps = measure.steps.map(([, look, words]) => el("span", {}, el("span", { class: `cell swatch ${look}`, "aria-hidden": "true" }), ` ${words}`));
    legend.replaceChildren(el("b", {}, measure.name), ...steps,
      el("span", { class: "quiet" }, "– means that nothing there has a distance: integers, truth values, texts, and wrong NaNs have none; see the worst verdict. Comparisons with claims do not count. A cell links to the record with its largest error."));
  }

  // The specs that have cells under these filters, by suite.
  function rowsShown() {
    const n = store.matrix.states.length;
    const planned = ({ place }) => columns.some((plan) => {
      const cell = place * plans.length + plan;
      return cells.counts.subarray(cell * n, (cell + 1) * n).some((count) => count > 0);
    });
    return index.suites.map(([suite, specs]) => [suite, specs.filter(planned)]).filter(([, specs]) => specs.length);
  }

  function draw(next) {
    const filtered = OF_MATRIX.some((name) => next[name] !== null);
    filters = next;
    cells = countCells(store, index, filters);
    columns = plans.flatMap(([device, mode], i) => ([[filters.device, device], [filters.mode, mode]].every(([a, b]) => a === null || a === b) ? [i] : []));
    const rows = rowsShown();
    const total = rows.reduce((sum, [, specs]) => sum + specs.length, 0);
    // Few specs stand open when filters leave no more; otherwise the suites that fail.
    const open = (suite) => (filtered && total <= store.matrix.limit) || store.matrix.opened.includes(suite);
    const bodies = rows.map(([suite, specs]) => drawSuite(suite, specs, open(suite)));
    table.classList.toggle("many", columns.length > 8);
    const empty = el("tbody", {}, el("tr", {}, el("td", {}, filtered ? "No cell passes these filters." : "Nothing was recorded.")));
    table.replaceChildren(...(rows.length ? [drawHead(), ...bodies] : [empty]));
    byId("matrix-count").textContent = `${total.toLocaleString("en")} of ${index.specs.toLocaleString("en")} specs`;
    drawLegend();
    fill();
  }

  function fill() {
    for (const name of OF_MATRIX) fillSelect(form.elements[`matrix.${name}`], filters[name]);
    form.elements["matrix.show"].value = filters.show;
  }

  for (const name of OF_MATRIX) makeOptionsOf(store, form.elements[`matrix.${name}`], name);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => {
    const chosen = { show: form.elements["matrix.show"].value };
    for (const name of OF_MATRIX) chosen[name] = readSelect(form.elements[`matrix.${name}`]);
    change(chosen);
  });
  for (const button of form.querySelectorAll("[data-suites]")) {
    const open = String(button.dataset.suites === "open");
    button.addEventListener("click", () => table.querySelectorAll(`button:not([aria-expanded=${open}])`).forEach((one) => one.click()));
  }
  byId("matrix-clear").addEventListener("click", () => change(readFragment("").matrix));
  form.hidden = false;
  return { draw };
}
