// Main: ties the fragment, the form, the table and the detail panel together.

function watchSuites() {
  const set = (body, open) => {
    body.classList.toggle("closed", !open);
    body.querySelector("button").setAttribute("aria-expanded", open);
  };
  for (const body of document.querySelectorAll("tbody.suite")) {
    body.querySelector("button").addEventListener("click", () => set(body, body.classList.contains("closed")));
  }
  for (const button of document.querySelectorAll("[data-suites]")) {
    const open = button.dataset.suites === "open";
    button.addEventListener("click", () => document.querySelectorAll("tbody.suite").forEach((body) => set(body, open)));
  }
}

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
  document.addEventListener("click", (event) => {
    if (event.target.closest("a.filter")) goTo(byId("records"));
  });
}

function start(store) {
  const form = byId("filters");
  const view = makeTable(store, (row) => show(row, true));
  let state = readFragment();
  let filtered;

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
    byId("said").textContent = row ? `${row.verdict}: ${row.case}, ${row.sentence}` : ""; // a region that was there before
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
    const wanted = JSON.stringify({ ...state, record: "" });
    if (wanted !== filtered) {
      filtered = wanted;
      const mask = maskOf(store, state);
      const n = mask.reduce((sum, one) => sum + one, 0);
      view.filter(mask);
      byId("count").textContent = `${n.toLocaleString("en")} of ${store.n.toLocaleString("en")} records`;
    }
    const row = state.record ? store.find(state.record) : undefined;
    if (state.record && !row) byId("count").textContent += ". The linked record is not in this run.";
    drawRecord(row, true);
  }

  function change(replace) {
    state = readForm(form, state);
    writeFragment(state, replace);
    draw();
  }

  function follow() {
    state = readFragment();
    form.elements.q.value = state.q;
    draw();
  }

  makeOptions(form, store);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => event.target.name !== "q" && change(false));
  form.addEventListener("input", (event) => event.target.name === "q" && change(true));
  byId("clear").addEventListener("click", () => {
    form.reset();
    change(false);
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
    // What takes the focus inside of a grid has to be a part of it.
    byId("table").querySelector(".tabulator-tableholder").setAttribute("role", "rowgroup");
    byId("table").querySelector(".tabulator-table").setAttribute("role", "presentation");
    follow();
    if (location.hash.length > 1) goTo(byId("records"));
    document.documentElement.dataset.ready = Math.round(performance.now());
  });
}

watchSuites();
watchLinks();
readData(byId("data").textContent)
  .then((data) => start(makeStore(data)))
  .catch((error) => {
    byId("count").textContent = `The records can't be shown here: ${error.message}`;
    byId("count").className = "failed";
    document.documentElement.dataset.failed = error.message;
  });
