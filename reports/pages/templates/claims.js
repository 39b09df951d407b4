// Search, filters, folding, and links that open what they point to. Without this script the page is complete.
const form = document.querySelector("form.tools");
const claims = [...document.querySelectorAll("details.claim")];
const textOf = root => [...root.querySelectorAll("[data-search]")].map(part => part.textContent).join(" ").toLowerCase();
const topics = [...document.querySelectorAll("section.topic")].map(section => ({
  section,
  text: section.querySelector(".top").textContent.toLowerCase(),
  list: section.querySelector("details.tests"),
  claims: [...section.querySelectorAll("details.claim")].map(claim => ({ claim, text: textOf(claim), word: claim.dataset.word })),
}));
const opened = new Set();

/** Shows the claims that have every word of the search and one of the chosen verdicts, and the topics that have any. */
function filter() {
  const parts = form.elements.text.value.toLowerCase().split(/[\s/,]+/).filter(Boolean);
  const chosen = new Set([...form.querySelectorAll("input[name=word]:checked")].map(box => box.value));
  const narrowed = parts.length > 0 || chosen.size > 0;
  let shown = 0, sections = 0;
  for (const topic of topics) {
    let some = 0;
    for (const { claim, text, word } of topic.claims) {
      const matches = parts.every(part => text.includes(part) || topic.text.includes(part));
      claim.hidden = !(matches && (!chosen.size || chosen.has(word)));
      some += !claim.hidden;
    }
    topic.section.hidden = !some;
    shown += some;
    sections += some > 0;
    if (narrowed && some && !topic.list.open) {
      topic.list.open = true;
      opened.add(topic.list);
    }
  }
  if (!narrowed) {
    for (const list of opened) list.open = false;
    opened.clear();
  }
  document.querySelector("#nothing").hidden = shown > 0;
  const total = `${claims.length} claims on ${topics.length} topics`;
  document.querySelector("#count").textContent = narrowed ? `${shown} of ${total}, on ${sections}` : total;
}

function clear() {
  form.reset();
  filter();
}

/** Opens the element of a fragment, with everything around it that is folded. */
function follow(fragment) {
  const target = fragment.length > 1 && document.getElementById(decodeURIComponent(fragment.slice(1)));
  if (!target) return;
  if (target.closest("[hidden]")) clear();
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  target.scrollIntoView();
}

form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("submit", event => event.preventDefault());
form.elements.open.addEventListener("click", () => {
  for (const details of document.querySelectorAll("main details")) details.open = true;
});
form.elements.fold.addEventListener("click", () => {
  for (const details of document.querySelectorAll("main details")) details.open = false;
  opened.clear();
});
document.querySelector("button[name=clear]").addEventListener("click", clear);
document.addEventListener("click", event => {
  const link = event.target.closest?.('a[href^="#"]');
  if (link && link.hash === location.hash) follow(link.hash);
});
addEventListener("hashchange", () => follow(location.hash));
filter();
follow(location.hash);
