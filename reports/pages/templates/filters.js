// Filters: the address's fragment holds the filters of the records and of the matrix; forms and links write it.

const EXACT = ["suite", "spec", "dtype", "device", "mode", "kind", "severity", "cause"];
const SEARCHED = [
  ...["suite", "spec", "raw_op", "case", "device", "mode", "ran_on", "against", "quantity", "verdict", "kind", "kinds", "severity"],
  ...["input", "got", "want", "detail", "owner", "reason", "link", "cause"],
];
// The filters of the matrix. The fragment names them `matrix.suite` and so on; `matrix.show` is the content of a cell.
const OF_MATRIX = ["suite", "dtype", "device", "mode", "severity"];

function readFragment(fragment = location.hash) {
  const fields = new URLSearchParams(fragment.slice(1));
  const state = { q: fields.get("q") || "", record: fields.get("record") || "" };
  state.verdict = (fields.get("verdict") || "").split(",").filter(Boolean);
  for (const name of EXACT) state[name] = fields.get(name);
  state.matrix = { show: Object.hasOwn(MEASURES, fields.get("matrix.show")) ? fields.get("matrix.show") : "verdict" };
  for (const name of OF_MATRIX) state.matrix[name] = fields.get(`matrix.${name}`);
  return state;
}

// The fragment of a state; filters that it lacks are off.
function fragmentOf(state) {
  const fields = new URLSearchParams();
  const set = (name, value) => (value === null || value === undefined ? undefined : fields.set(name, value));
  if (state.verdict?.length) set("verdict", state.verdict.join(","));
  for (const name of EXACT) set(name, state[name]);
  if (state.q) set("q", state.q);
  if (state.record) set("record", state.record);
  if (state.matrix && state.matrix.show !== "verdict") set("matrix.show", state.matrix.show);
  for (const name of OF_MATRIX) set(`matrix.${name}`, state.matrix?.[name]);
  return `#${fields}`;
}

function writeFragment(state, replace = false) {
  const fragment = fragmentOf(state);
  if (fragment === (location.hash || "#")) return;
  if (replace) history.replaceState(null, "", fragment);
  else history.pushState(null, "", fragment);
}

function and(mask, other) {
  for (let i = 0; i < mask.length; i++) mask[i] &= other[i];
}

// The columns of the filters that hold several names joined by `;`.
const JOINED = { kind: "kinds", cause: "cause" };

// 1 for each record whose column has exactly this value, or names it among others.
function exactly(store, name, value) {
  const mask = store.column(name).matching((v) => v === value).slice();
  if (name in JOINED && value !== "") {
    const named = store.column(JOINED[name]).matching((v) => v.split(";").includes(value));
    for (let i = 0; i < mask.length; i++) mask[i] |= named[i];
  }
  return mask;
}

// 1 for each record that passes these filters; null passes every value.
function exactMask(store, names, values) {
  const mask = new Uint8Array(store.n).fill(1);
  for (const name of names) if (values[name] !== null) and(mask, exactly(store, name, values[name]));
  return mask;
}

function maskOf(store, state) {
  const mask = exactMask(store, EXACT, state);
  if (state.verdict.length) and(mask, store.column("verdict").matching((v) => state.verdict.includes(v)));
  for (const word of state.q.toLowerCase().split(/\s+/).filter(Boolean)) {
    const any = new Uint8Array(store.n);
    for (const name of SEARCHED) {
      const hits = store.column(name).containing(word);
      for (let i = 0; i < any.length; i++) any[i] |= hits[i];
    }
    and(mask, any);
  }
  return mask;
}

// The selects of a form are named as in the fragment. The value of an option is `any`, or `=` and the value of the column.
// A long list of options is made when the reader turns to its select. A select that offers no choice is hidden.

const MANY_OPTIONS = 100;
const choices = new WeakMap(); // the values that each select offers

function makeOptions(select, values, words = (value) => value) {
  const option = (value) => el("option", { value: `=${value}` }, words(value) || "(none)");
  const make = (some) => select.replaceChildren(el("option", { value: "any" }, "any"), ...some.map(option));
  choices.set(select, new Set(values));
  make(values.length > MANY_OPTIONS ? [] : values);
  if (values.length <= MANY_OPTIONS) return;
  const complete = () => {
    if (select.options.length > values.length) return;
    const value = readSelect(select);
    make(values);
    fillSelect(select, value);
  };
  for (const event of ["focus", "pointerdown"]) select.addEventListener(event, complete);
}

function fillSelect(select, value) {
  const wanted = value === null ? "any" : `=${value}`;
  if (![...select.options].some((option) => option.value === wanted)) {
    select.append(el("option", { value: wanted }, choices.get(select).has(value) ? value : `${value} (none here)`));
  }
  select.value = wanted;
  select.closest("label").hidden = value === null && choices.get(select).size < 2;
}

const readSelect = (select) => (select.value === "any" ? null : select.value.slice(1));

// The values of a column as options: severities by rank and with their titles, others by name.
function makeOptionsOf(store, select, name) {
  const joined = name in JOINED ? store.column(JOINED[name]).values().flatMap((names) => names.split(";")) : [];
  const values = [...new Set([...store.column(name).values().filter((v) => !String(v).includes(";") || !(name in JOINED)), ...joined])];
  const ranks = Object.keys(store.severities);
  const rank = (severity) => (severity ? ranks.indexOf(severity) : ranks.length);
  if (name === "severity") makeOptions(select, values.sort((a, b) => rank(a) - rank(b)), (value) => severityTitle(store, value));
  else makeOptions(select, values.sort());
}

const severityTitle = (store, severity) => (Object.hasOwn(store.severities, severity) ? store.severities[severity] : severity);

function fillForm(form, state) {
  for (const box of form.querySelectorAll("[name=verdict]")) box.checked = state.verdict.includes(box.value);
  for (const name of EXACT) fillSelect(form.elements[name], state[name]);
  if (form.elements.q !== document.activeElement) form.elements.q.value = state.q;
}

function readForm(form, state) {
  const next = { ...state, q: form.elements.q.value.trim() };
  next.verdict = [...form.querySelectorAll("[name=verdict]:checked")].map((box) => box.value);
  for (const name of EXACT) next[name] = readSelect(form.elements[name]);
  return next;
}
