// Claims: search, filters, folding, copying, and links that open what they point to. Without this script the page is complete.
const form = document.querySelector("form.tools");
const main = byId("claims");
const textOf = (root) => [...root.querySelectorAll("[data-search]")].map((part) => part.textContent).join(" ").toLowerCase();
const topics = [...document.querySelectorAll("section.topic")].map((section) => ({
  section,
  title: section.querySelector("h2").textContent.toLowerCase(),
  text: section.querySelector(".top").textContent.toLowerCase(),
  list: section.querySelector("details.tests"),
  claims: [...section.querySelectorAll("details.claim")].map((claim) => ({
    claim, text: textOf(claim), title: claim.querySelector("summary").textContent.toLowerCase(), word: claim.dataset.word,
  })),
}));
const claims = topics.flatMap((topic) => topic.claims.map((one) => ({ ...one, topic })));
const opened = new Set();

const isWhole = (text, word) => text.split(/[^\p{L}\p{N}_.]+/u).includes(word);

// How well a word fits a claim, from 0 for not at all: titles before texts, the claim before its topic.
function fit({ title, text, topic }, word) {
  if (isWhole(title, word) || isWhole(topic.title, word)) return 8;
  if (title.includes(word) || topic.title.includes(word)) return 4;
  return text.includes(word) ? 2 : topic.text.includes(word) ? 1 : 0;
}

// Shows the claims that have most of the words and one of the chosen verdicts; topics in the order of their best claim.
function filter() {
  const words = form.elements.text.value.toLowerCase().split(/[\s/,]+/).filter(Boolean);
  const chosen = new Set(new FormData(form).getAll("word"));
  const scored = claims.map((one) => ({ one, fits: words.map((word) => fit(one, word)) })).filter(({ one }) => !chosen.size || chosen.has(one.word));
  const most = Math.max(0, ...scored.map(({ fits }) => fits.filter(Boolean).length));
  const found = new Map();
  if (most || !words.length) {
    for (const { one, fits } of scored) if (fits.filter(Boolean).length === most) found.set(one.claim, fits.reduce((sum, score) => sum + score, 0));
  }
  for (const { claim } of claims) claim.hidden = !found.has(claim);
  const best = (topic) => Math.max(-1, ...topic.claims.map(({ claim }) => found.get(claim) ?? -1));
  const sections = topics.filter((topic) => best(topic) >= 0);
  for (const topic of topics) topic.section.hidden = !sections.includes(topic);
  main.prepend(...(words.length ? [...topics].sort((a, b) => best(b) - best(a)) : topics).map(({ section }) => section));
  fold(words.length || chosen.size ? sections : []);
  byId("nothing").hidden = found.size > 0;
  say(found.size, sections.length, words, most, words.length > 0 || chosen.size > 0);
}

// Opens the lists of the topics that the reader looks for, and folds those that were opened so before.
function fold(sections) {
  for (const { list } of sections) {
    if (!list.open) opened.add(list);
    list.open = true;
  }
  if (sections.length) return;
  for (const list of opened) list.open = false;
  opened.clear();
}

function say(shown, sections, words, most, narrowed) {
  const total = `${claims.length} claims on ${topics.length} topics`;
  const part = most && most < words.length ? ` None has all ${words.length} words; these have ${most}.` : "";
  byId("count").textContent = narrowed ? `${shown} of ${total}, on ${sections}${part && `.${part}`}` : total;
}

function writeAddress() {
  const state = new URLSearchParams([...new FormData(form)].filter(([, value]) => value).map(([name, value]) => [name === "text" ? "q" : name, value]));
  history.replaceState(null, "", `#${state}`);
}

function clear() {
  form.reset();
  writeAddress();
  filter();
}

// Shows what the address asks for: a search, or an element with everything around it that is folded.
function follow(fragment) {
  if (fragment.includes("=")) {
    const state = new URLSearchParams(fragment.slice(1));
    form.elements.text.value = state.get("q") ?? "";
    for (const box of form.querySelectorAll("input[name=word]")) box.checked = state.getAll("word").includes(box.value);
    filter();
    return;
  }
  const target = fragment.length > 1 && byId(decodeURIComponent(fragment.slice(1)));
  if (!target) return;
  if (target.closest("[hidden]")) {
    form.reset();
    filter();
  }
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  target.scrollIntoView();
}

form.hidden = false;
form.addEventListener("input", () => {
  writeAddress();
  filter();
});
form.addEventListener("submit", (event) => event.preventDefault());
form.elements.open.addEventListener("click", () => {
  for (const details of document.querySelectorAll("main details")) details.open = true;
});
form.elements.fold.addEventListener("click", () => {
  for (const details of document.querySelectorAll("main details")) details.open = false;
  opened.clear();
});
document.querySelector("button[name=clear]").addEventListener("click", clear);
document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href^="#"]');
  if (link && link.hash === location.hash) follow(link.hash);
});
for (const code of document.querySelectorAll(".scroll > pre.code")) code.parentElement.after(copyButton("Copy", () => code.textContent));
addEventListener("hashchange", () => follow(location.hash));
filter();
follow(location.hash);
