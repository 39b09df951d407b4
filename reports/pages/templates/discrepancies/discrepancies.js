// Discrepancies: the form chooses, groups and sorts them; the fragment of the address holds what differs from the default.

const form = byId("choose");
const list = byId("list");
const all = [...document.querySelectorAll(".discrepancy")].map((item, rank) => ({ item, rank, text: item.textContent.toLowerCase(), ...item.dataset }));
const NUMBERS = { records: (one) => Number(one.records), distance: (one) => (one.distance === "" ? -1 : Number(one.distance)) };
const FILTERS = ["sides", "severity", "mechanism", "owner", "upstream"];
const GROUPED = 20; // more discrepancies than this are grouped at first

const fields = [...form.elements].filter((one) => one.name);
const names = [...new Set(fields.map((one) => one.name))];

function readState() {
  const state = new URLSearchParams(location.hash.startsWith("#is-") ? "" : location.hash.slice(1));
  const values = { group: all.length > GROUPED && !state.has("q") ? "mechanism" : "" };
  for (const [name, value] of state) values[name] = value;
  for (const name of names) {
    const field = form.elements[name];
    const value = values[name] ?? "";
    const known = field.tagName !== "SELECT" || [...field.options].some((option) => option.value === value);
    field.value = known ? value : "";
  }
}

function writeState() {
  const state = new URLSearchParams(names.map((name) => [name, form.elements[name].value]).filter(([name, value]) => value || name === "group"));
  history.replaceState(null, "", `#${state}`);
}

function chosenOnes() {
  const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = FILTERS.map((name) => [name, form.elements[name].value]).filter(([, value]) => value);
  const chosen = all.filter((one) => wanted.every(([name, value]) => one[name] === value) && words.every((word) => one.text.includes(word)));
  const number = NUMBERS[form.elements.sort.value];
  if (number) chosen.sort((a, b) => number(b) - number(a) || a.rank - b.rank);
  else if (form.elements.sort.value === "title") chosen.sort((a, b) => (a.text < b.text ? -1 : 1));
  return chosen;
}

const listOf = (ones) => el("ol", { class: "findings" }, ...ones.map((one) => one.item));

function grouped(chosen, name) {
  const groups = new Map();
  for (const one of chosen) {
    const key = one[name] || "–";
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(one);
  }
  const order = [...groups].sort(([, a], [, b]) => b.length - a.length);
  const titleOf = (key) => (name === "severity" ? form.elements.severity.querySelector(`option[value="${CSS.escape(key)}"]`)?.textContent : "") || key;
  return order.map(([key, ones]) => {
    const title = el("h2", {}, titleOf(key));
    return el("details", { class: "group", open: order.length === 1 }, el("summary", {}, title, el("span", { class: "quiet" }, ` ${ones.length.toLocaleString("en")}`)), listOf(ones));
  });
}

function draw() {
  const chosen = chosenOnes();
  const name = form.elements.group.value;
  list.replaceChildren(...(name ? grouped(chosen, name) : [listOf(chosen)]));
  const total = all.length.toLocaleString("en");
  byId("chosen").textContent = chosen.length < all.length ? `${chosen.length.toLocaleString("en")} of ${total} discrepancies` : `All ${total} discrepancies`;
}

// Shows the discrepancy that the fragment names, with everything around it that is folded.
function follow() {
  if (!location.hash.startsWith("#is-")) return;
  const target = byId(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  target.querySelector("details").open = true;
  target.scrollIntoView();
}

function start() {
  readState();
  draw();
  follow();
}

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", () => {
  writeState();
  draw();
});
addEventListener("hashchange", start);
start();
document.documentElement.dataset.ready = "1";
