// Filters: what the address's fragment says is shown; the form and every link write that fragment.

const EXACT = ["suite", "spec", "device", "mode", "kind"];
const SEARCHED = [
  ...["suite", "spec", "raw_op", "case", "device", "mode", "ran_on", "against", "quantity", "verdict", "kind"],
  ...["input", "got", "want", "detail", "owner", "reason", "link", "cause"],
];

function readFragment() {
  const given = new URLSearchParams(location.hash.slice(1));
  const state = { q: given.get("q") || "", record: given.get("record") || "" };
  state.verdict = (given.get("verdict") || "").split(",").filter(Boolean);
  for (const name of EXACT) state[name] = given.get(name);
  return state;
}

function writeFragment(state, replace = false) {
  const out = new URLSearchParams();
  if (state.verdict.length) out.set("verdict", state.verdict.join(","));
  for (const name of EXACT) if (state[name] !== null) out.set(name, state[name]);
  if (state.q) out.set("q", state.q);
  if (state.record) out.set("record", state.record);
  const hash = `#${out}`;
  if (hash === (location.hash || "#")) return;
  if (replace) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
}

function and(mask, other) {
  for (let i = 0; i < mask.length; i++) mask[i] &= other[i];
}

function maskOf(store, state) {
  const mask = new Uint8Array(store.n).fill(1);
  if (state.verdict.length) and(mask, store.column("verdict").matching((v) => state.verdict.includes(v)));
  for (const name of EXACT) if (state[name] !== null) and(mask, store.column(name).matching((v) => v === state[name]));
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

function fillForm(form, state) {
  for (const box of form.querySelectorAll("[name=verdict]")) box.checked = state.verdict.includes(box.value);
  for (const name of EXACT) {
    const select = form.elements[name];
    const wanted = state[name] === null ? "any" : `=${state[name]}`;
    if (![...select.options].some((option) => option.value === wanted)) {
      select.append(el("option", { value: wanted }, `${state[name]} (none here)`));
    }
    select.value = wanted;
  }
  if (form.elements.q !== document.activeElement) form.elements.q.value = state.q;
}

function readForm(form, state) {
  const next = { ...state, q: form.elements.q.value.trim() };
  next.verdict = [...form.querySelectorAll("[name=verdict]:checked")].map((box) => box.value);
  for (const name of EXACT) {
    const value = form.elements[name].value;
    next[name] = value === "any" ? null : value.slice(1);
  }
  return next;
}

function makeOptions(form, store) {
  for (const name of EXACT) {
    const values = store.column(name).values().slice().sort();
    const options = values.map((value) => el("option", { value: `=${value}` }, value || "(none)"));
    form.elements[name].replaceChildren(el("option", { value: "any" }, "any"), ...options);
  }
}
