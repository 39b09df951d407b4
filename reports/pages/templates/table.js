// Table: the records in a Tabulator that draws only the rows in view.

function toNumber(value) {
  if (typeof value === "number") return value;
  return value === "inf" ? Infinity : value === "-inf" ? -Infinity : NaN;
}

function byNumber(a, b, _rowA, _rowB, _column, direction) {
  const [x, y] = [toNumber(a), toNumber(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) {
    const last = Number.isNaN(x) - Number.isNaN(y);
    return direction === "asc" ? last : -last;
  }
  return x === y ? 0 : x < y ? -1 : 1;
}

// Kinds of difference for which a distance makes sense.
const DISTANT = ["", "value", "position", "batch", "leak", "nondeterministic"];

// The width of the longest plan, in CSS pixels, with the padding of its cell.
const widthOfPlans = (plans) => Math.min(240, Math.max(122, 18 + Math.ceil(7.9 * Math.max(0, ...plans.map((plan) => plan.length)))));

// A text whose middle is cut where it is too long: its end tells apart what begins alike.
function parted(text, most = 14) {
  const hyphen = text.indexOf("-", Math.max(0, text.length - most));
  const cut = hyphen < 0 ? text.length - most : hyphen;
  const parts = cut > 0 ? [el("span", { class: "head" }, text.slice(0, cut)), el("span", { class: "tail" }, text.slice(cut))] : [text];
  return el("span", { class: "text parted", title: text }, ...parts);
}

// On a narrow screen a row has two cells: the verdict, and the whole case with its plan, quantity and kind below.
function stacked(row) {
  const about = [row.plan, row.quantity, row.kind.replaceAll("_", " ")].filter(Boolean).join(" · ");
  return el("span", { class: "stacked" }, ...breakable(row.case), el("small", {}, about));
}

// The table of the records whose `mask` is 1. `onSelect` receives the record that the reader chooses.
function makeTable(store, mask, onSelect) {
  const text = (cell) => el("span", { class: "text" }, String(cell.getValue()).slice(0, 200));
  const shortened = (value) => el("span", { class: "text code" }, String(value).slice(0, 200));
  const number = (cell) => el("span", {}, shown(cell.getValue()));
  const rank = Object.fromEntries(Object.keys(store.verdicts).map((verdict, i) => [verdict, i]));
  const numeric = { formatter: number, sorter: byNumber, hozAlign: "right", headerHozAlign: "right" };
  const plain = { formatter: text, sorter: "alphanum" };
  const narrow = innerWidth < 640;
  const columns = [
    { title: narrow ? "V" : "Verdict", field: "verdict", minWidth: narrow ? 44 : 128, widthGrow: 0, responsive: 0,
      formatter: (cell) => badge(cell.getValue(), store.verdicts), sorter: (a, b) => rank[a] - rank[b] },
    { title: "Case", field: "case", ...plain, minWidth: narrow ? 250 : 170, widthGrow: 4, responsive: 0,
      formatter: (cell) => (narrow ? stacked(cell.getData()) : parted(cell.getValue())) },
    { title: "Plan", field: "plan", ...plain, minWidth: widthOfPlans(store.plans), responsive: 1 },
    { title: "Quantity", field: "quantity", ...plain, minWidth: 94, responsive: 2 },
    { title: "Against", field: "against", ...plain, minWidth: 92, responsive: 4 },
    { title: "Kind", field: "kind", minWidth: 110, widthGrow: 1, responsive: 3, sorter: "alphanum",
      formatter: (cell) => el("span", { class: "text" }, cell.getValue().replaceAll("_", " ")) },
    { title: "Wrong", field: "mismatched", ...numeric, minWidth: 100, responsive: 5,
      formatter: (cell) => el("span", {}, wrong(cell.getData())) },
    { title: "ULP", field: "max_ulp", ...numeric, minWidth: 84, responsive: 4,
      formatter: (cell) => el("span", {}, DISTANT.includes(cell.getData().kind) ? shown(cell.getValue()) : "–") },
    { title: "Budget", field: "budget", ...numeric, minWidth: 88, responsive: 6 },
    { title: "Got", field: "got", formatter: (cell) => shortened(example(cell.getData()).got), sorter: "alphanum", minWidth: 100, widthGrow: 2, responsive: 5 },
    { title: "Want", field: "want", formatter: (cell) => shortened(example(cell.getData()).want), sorter: "alphanum", minWidth: 100, widthGrow: 2, responsive: 5 },
    { title: "Seconds", field: "seconds", ...numeric, minWidth: 88, responsive: 7,
      formatter: (cell) => el("span", {}, shown(cell.getValue(), 3)) },
  ];
  const state = { mask, selected: -1, row: undefined };
  const passes = (row) => state.mask[row.i] === 1;
  const table = new Tabulator(byId("table"), {
    data: store.rows, index: "i", columns, height: "100%", layout: "fitColumns", responsiveLayout: "hide",
    rowHeight: narrow ? 66 : 34, renderVertical: "virtual", renderVerticalBuffer: 340,
    initialFilter: mask.includes(0) ? [{ field: passes }] : [], placeholder: "No record passes these filters.",
    columnDefaults: { headerTooltip: false, tooltip: false, resizable: true, vertAlign: "middle" },
    rowFormatter: (row) => {
      const chosen = row.getData().i === state.selected;
      row.getElement().classList.toggle("chosen", chosen);
      row.getElement().setAttribute("aria-selected", chosen);
    },
  });
  table.on("rowClick", (_event, row) => onSelect(row.getData(), true));
  const api = { table, state };
  api.filter = (mask) => {
    state.mask = mask;
    if (mask.includes(0)) table.setFilter(passes);
    else table.clearFilter();
  };
  // Marks the record and, where it passes the filters, brings it into view.
  api.choose = (row, scroll) => {
    const before = state.selected;
    state.selected = row ? row.i : -1;
    state.row = row && state.mask[row.i] ? table.getRow(row.i) : undefined;
    for (const i of new Set([before, state.selected])) if (i >= 0) table.getRow(i)?.reformat();
    if (scroll && state.row) table.scrollToRow(state.row, "center", false).catch(() => {});
  };
  api.neighbour = (step) => {
    if (!state.row) return table.getRows("visible")[0]?.getData();
    const next = step > 0 ? state.row.getNextRow() : state.row.getPrevRow();
    return next ? next.getData() : undefined;
  };
  return api;
}
