// Search: ranks the entries of the index by the words in the box of the menu.

const SHOWN = 50;
const box = document.querySelector(".menu input[name=q]");
const KINDS = ["op", "function", "discrepancy", "spec", "suite", "claim"];

const squashed = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
const partsOf = (text) => text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

function makeEntry([kind, name, link, about, words]) {
  const parts = partsOf(name);
  const whole = new Set([...parts, ...name.toLowerCase().split(/[^\p{L}\p{N}_.]+/u)]);
  return { kind, name, link, about, squashed: squashed(name), whole, last: parts.at(-1), text: ` ${name} ${about} ${words} `.toLowerCase() };
}

// A word of the query: its text, and of a dotted name such as tf.math.floor the last part, which may name an op.
function makeNeedle(word) {
  const dotted = /^(tf|keras)\..*[^.]$/.test(word);
  return { word, name: squashed(word), last: dotted ? squashed(word.split(".").at(-1)) : "" };
}

const isBorder = (character) => !/[\p{L}\p{N}_]/u.test(character);

function hasWhole(text, word) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (isBorder(text[at - 1] || " ") && isBorder(text[at + word.length] || " ")) return true;
  }
  return false;
}

// How well a word fits an entry, from 0 for not at all: names before texts, whole words before parts of words.
function fit(entry, needle) {
  const { word, name, last } = needle;
  if (name && entry.squashed === name) return 100;
  if (last && entry.squashed === last) return 90;
  if (entry.whole.has(word) || (name && entry.whole.has(name))) return 40;
  if (name && entry.squashed.startsWith(name)) return 20;
  if (hasWhole(entry.text, word)) return 10;
  if (name && entry.squashed.includes(name)) return 6;
  if (entry.text.includes(word)) return 3;
  return last && entry.whole.has(last) ? 2 : 0;
}

// The entries that have most of the words, the best first, and how many words they have.
function search(entries, text) {
  const needles = text.toLowerCase().split(/[\s/,]+/).filter(Boolean).map(makeNeedle);
  const whole = squashed(text);
  let scored = [];
  let most = 1;
  for (const entry of needles.length ? entries : []) {
    const fits = needles.map((needle) => fit(entry, needle)).filter(Boolean);
    if (fits.length < most) continue;
    if (fits.length > most) scored = [];
    most = fits.length;
    const same = needles.length > 1 && whole && entry.squashed === whole ? 100 : 0;
    scored.push({ entry, score: same + Math.min(...fits) });
  }
  const order = (a, b) => b.score - a.score || KINDS.indexOf(a.entry.kind) - KINDS.indexOf(b.entry.kind) || a.entry.name.length - b.entry.name.length;
  return { results: scored.sort(order).map(({ entry }) => entry), lacks: needles.length - most };
}

function item(entry) {
  return el("li", {}, el("span", { class: "sort" }, entry.kind), el("span", {}, el("a", { href: entry.link }, entry.name), entry.about ? el("small", {}, entry.about) : ""));
}

function start(entries) {
  let results = [];
  let shown = 0;
  const say = (text) => (byId("found").textContent = text);
  function more() {
    byId("results").append(...results.slice(shown, shown + SHOWN).map(item));
    shown = Math.min(results.length, shown + SHOWN);
    byId("more").hidden = shown === results.length;
  }
  function draw() {
    const found = search(entries, box.value);
    results = found.results;
    shown = 0;
    byId("results").replaceChildren();
    more();
    const count = `${results.length.toLocaleString("en")} ${results.length === 1 ? "result" : "results"} for “${box.value.trim()}”`;
    const part = results.length && found.lacks > 0 ? "; none has all words" : "";
    say(box.value.trim() ? count + part : "Type a name or some words.");
  }
  box.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = byId("results").querySelector("a");
    if (first) first.focus();
  });
  box.addEventListener("input", () => {
    history.replaceState(null, "", `?q=${encodeURIComponent(box.value)}`);
    draw();
  });
  byId("more").addEventListener("click", more);
  draw();
}

box.value = new URLSearchParams(location.search).get("q") || "";
if (box.value) box.focus();
unpacked(byId("data").textContent)
  .then((buffer) => {
    start(JSON.parse(new TextDecoder().decode(buffer)).map(makeEntry));
    document.documentElement.dataset.ready = "1";
  })
  .catch((error) => {
    byId("found").textContent = `The index can't be read here: ${error.message}`;
    document.documentElement.dataset.failed = error.message;
  });
