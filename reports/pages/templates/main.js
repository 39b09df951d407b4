// Main: connects the fragment, the forms, the matrix, the table and the detail panel.

function goTo(element) {
  element.scrollIntoView({ block: "start" });
  element.focus({ preventScroll: true });
}

function watchLinks() {
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    goTo(byId("records"));
  });
  for (const link of document.querySelectorAll("[data-open]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const target = byId(link.dataset.open);
      target.open = true;
      goTo(target.querySelector("summary"));
    });
  }
}

// Without readable records, the page shows the matrix that it has for browsers without JavaScript.
function showStatic() {
  const page = new DOMParser().parseFromString(byId("matrix-static").textContent, "text/html");
  byId("matrix").replaceWith(...page.body.childNodes);
}

// The filters of the records as one text.
const filtersOf = (state) => fragmentOf({ ...state, record: "", matrix: undefined });

function start(store) {
  const form = byId("filters");
  const matrix = makeMatrix(store, (filters) => apply({ ...state, matrix: filters }));
  let state = readFragment();
  let filtered = filtersOf(state);
  const view = makeTable(store, maskOf(store, state), (row) => show(row, true));
  let drawnMatrix;

  function show(row, focus) {
    state.record = row ? store.keyOf(row) : "";
    writeFragment(state, true);
    drawRecord(row, true);
    if (row && focus && innerWidth < 1100) byId("detail").focus();
  }

  function drawRecord(row, scroll) {
    document.body.classList.toggle("opened", Boolean(row));
    if (row) drawDetail(store, row, { close, show, step });
    else byId("detail").hidden = true;
    byId("said").textContent = row ? `${row.verdict}: ${row.case}, ${row.sentence}` : ""; // a live region must exist before its text changes
    view.choose(row, scroll);
  }

  function close() {
    show(undefined);
    byId("table").querySelector(".tabulator-tableholder").focus();
  }

  function step(by) {
    const next = view.neighbour(by);
    if (next) show(next);
  }

  function draw() {
    fillForm(form, state);
    drawMatrix();
    const wanted = filtersOf(state);
    if (wanted !== filtered) view.filter(maskOf(store, state));
    filtered = wanted;
    const n = view.state.mask.reduce((sum, one) => sum + one, 0);
    byId("count").textContent = `${n.toLocaleString("en")} of ${store.n.toLocaleString("en")} records`;
    const row = state.record ? store.find(state.record) : undefined;
    if (state.record && !row) byId("count").textContent += ". The linked record is not in this run.";
    drawRecord(row, true);
  }

  function drawMatrix() {
    const wanted = JSON.stringify(state.matrix);
    if (wanted !== drawnMatrix) matrix.draw(state.matrix);
    drawnMatrix = wanted;
  }

  function apply(next, replace = false) {
    state = next;
    writeFragment(state, replace);
    draw();
  }

  const change = (replace) => apply(readForm(form, state), replace);

  // A link filters the records; the filters of the matrix stay.
  function followLink(event) {
    const link = event.target.closest("a.filter");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    apply({ ...readFragment(link.hash), matrix: state.matrix });
    form.elements.q.value = state.q;
    goTo(byId("records"));
  }

  function follow() {
    state = readFragment();
    form.elements.q.value = state.q;
    draw();
  }

  for (const name of EXACT) makeOptionsOf(store, form.elements[name], name);
  document.addEventListener("click", followLink);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => event.target.name !== "q" && change(false));
  form.addEventListener("input", (event) => event.target.name === "q" && change(true));
  byId("clear").addEventListener("click", () => {
    apply({ ...readFragment(""), matrix: state.matrix });
    form.elements.q.value = "";
  });
  window.addEventListener("hashchange", follow);
  window.addEventListener("popstate", follow);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.record) close();
    if (event.key === "/" && !event.target.closest("input, select, textarea")) {
      event.preventDefault();
      form.elements.q.focus();
    }
  });
  byId("table").addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && !event.target.closest(".tabulator-header")) {
      event.preventDefault();
      step(by);
    } else if (event.key === "Enter" && event.target.closest(".tabulator-col")) event.target.click();
    else if (event.key === "Enter") (state.record ? byId("detail").focus() : step(1));
  });
  view.table.on("tableBuilt", () => {
    for (const column of view.table.getColumns()) column.getElement().tabIndex = 0;
    // An element inside of a grid that takes the focus must have a role of the grid.
    byId("table").querySelector(".tabulator-tableholder").setAttribute("role", "rowgroup");
    byId("table").querySelector(".tabulator-table").setAttribute("role", "presentation");
    follow();
    const linked = fragmentOf({ ...state, matrix: undefined }) !== "#";
    if (linked) goTo(byId("records"));
    else if (location.hash.length > 1) goTo(byId("ops"));
    document.documentElement.dataset.ready = Math.round(performance.now());
  });
}

// The policy of the page admits this script by its hash.
async function addLibrary() {
  const text = new TextDecoder().decode(await unpacked(byId("library").textContent));
  document.head.append(el("script", {}, text));
}

watchLinks();
// The first screen is painted before the records are unpacked.
new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)))
  .then(() => Promise.all([readData(byId("data").textContent), addLibrary()]))
  .then(([data]) => start(makeStore(data)))
  .catch((error) => {
    byId("count").textContent = `The records can't be shown here: ${error.message}`;
    byId("count").className = "failed";
    showStatic();
    document.documentElement.dataset.failed = error.message;
  });
