// Discrepancies: the switch, the severity and the search choose which of the known discrepancies are listed.

function watchDiscrepancies() {
  const form = byId("choose");
  if (!form) return;
  const [top, rest] = [byId("top"), byId("rest")];
  const more = rest.querySelector("ol");
  const limit = top.children.length;
  const all = [...top.children, ...more.children].map((item) => ({ item, text: item.textContent.toLowerCase() }));

  function draw() {
    const [sides, severity] = [form.elements.sides.value, form.elements.severity.value];
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ item, text }) =>
      (!sides || item.dataset.sides === sides) &&
      (!severity || item.dataset.severity === severity) &&
      words.every((word) => text.includes(word));
    const chosen = all.filter(fits).map((one) => one.item);
    top.replaceChildren(...chosen.slice(0, limit));
    more.replaceChildren(...chosen.slice(limit));
    rest.hidden = chosen.length <= limit;
    rest.querySelector("summary").textContent = `${(chosen.length - limit).toLocaleString("en")} more`;
    const all_of = all.length.toLocaleString("en");
    byId("chosen").textContent = chosen.length < all.length ? `${chosen.length.toLocaleString("en")} of ${all_of} discrepancies` : "";
  }

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", draw);
}

watchDiscrepancies();
