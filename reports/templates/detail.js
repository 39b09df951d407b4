// Detail: all that is known of one record, beside what the other plans gave.

function facts(pairs) {
  const list = el("dl", { class: "pairs" });
  for (const [name, value] of pairs) if (value !== "" && value !== undefined) list.append(el("dt", {}, name), el("dd", {}, value));
  return list;
}

function distance(row) {
  if (row.max_ulp === "NaN") return "no distance was taken";
  return `${shown(row.max_ulp)} ULP, ${shown(row.budget)} allowed`;
}

function values(row) {
  const box = (name, value, more = "") =>
    el("div", { class: `value ${more}` }, el("h4", {}, name), el("pre", { tabindex: "0", "aria-label": name }, value === "" ? "–" : value));
  return el("div", { class: "values" }, box("Input", row.input), box("Got", row.got, row.kind ? "off" : ""), box("Want", row.want));
}

function sideBySide(store, row, show) {
  const body = el("tbody");
  for (const other of store.siblings(row)) {
    const here = other.i === row.i;
    const plan = `${other.device}/${other.mode}`;
    const jump = el("button", { type: "button", class: "plan", "aria-current": here ? "true" : undefined }, plan);
    jump.addEventListener("click", () => show(other, true));
    const cells = [other.against, badge(other.verdict, store.verdicts), el("code", {}, other.got || "–"), el("code", {}, other.want || "–")];
    cells.push(shown(other.max_ulp), wrong(other));
    body.append(el("tr", { class: here ? "here" : "" }, el("th", { scope: "row" }, jump), ...cells.map((c) => el("td", {}, c))));
  }
  const heads = ["Plan", "Against", "Verdict", "Got", "Want", "ULP", "Wrong"].map((name) => el("th", { scope: "col" }, name));
  const table = el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...heads)), body);
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Under every plan" }, table);
}

function aboutProgram(program) {
  const parts = [el("h4", {}, "A program of its own"), el("p", {}, `${program.said}.`)];
  if (program.text) {
    const file = el("pre", { class: "unbroken program", tabindex: "0", "aria-label": "Program" }, program.text);
    parts.push(el("details", {}, el("summary", {}, program.path || "The program"), file), copyButton("Copy program", () => program.text));
  }
  if (program.points.length) {
    const about = `${program.quantity} of ${program.case} on ${program.device}/${program.mode}, in ULP`;
    parts.push(el("h4", {}, "Errors of the finding's worst case"), el("p", { class: "quiet" }, about), drawErrors(program.points));
  }
  return parts;
}

function drawDetail(store, row, actions) {
  const panel = byId("detail");
  panel.hidden = false; // plots are as wide as it is
  const step = (label, by) => el("button", { type: "button", "aria-label": label, title: label, onclick: () => actions.step(by) }, by < 0 ? "↑" : "↓");
  const close = el("button", { type: "button", "aria-label": "Close", title: "Close (Esc)", onclick: actions.close }, "✕");
  const bar = el("div", { class: "bar" }, badge(row.verdict, store.verdicts), el("span", { class: "grow" }),
    copyButton("Copy link", () => location.href), step("Previous record", -1), step("Next record", 1), close);
  const parts = [bar, el("h3", {}, row.case), el("p", { class: "sentence", role: "status" }, row.sentence), values(row)];
  if (row.detail) parts.push(el("pre", { class: "message", tabindex: "0", "aria-label": "Detail" }, row.detail));
  if (row.reason || row.owner || row.link) {
    parts.push(el("div", { class: "reason" }, el("h4", {}, row.verdict === "contract" ? "As documented" : "Known failure"),
      facts([["Owner", row.owner], ["Reason", row.reason], ["Link", row.link && linkOrText(row.link)]])));
  }
  parts.push(el("h4", {}, "Under every plan"), sideBySide(store, row, actions.show));
  parts.push(el("h4", {}, "Run it again"), el("div", { class: "command" }, el("pre", { class: "unbroken", tabindex: "0", "aria-label": "Command" }, row.rerun || "–"),
    copyButton("Copy", () => row.rerun)));
  const program = store.program(row);
  if (program) parts.push(...aboutProgram(program));
  parts.push(el("h4", {}, "Facts"), facts([
    ["Wrong", row.size ? `${wrong(row)} elements` : ""], ["Kind", row.kind.replaceAll("_", " ")],
    ["Distance", distance(row)], ["Largest error", row.max_abs === "NaN" ? "" : shown(row.max_abs)], ["Worst index", row.worst_index],
    ["Ran on", row.ran_on], ["Raw op", row.raw_op], ["Suite", row.suite], ["Spec", row.spec], ["Dtype", row.dtype],
    ["Recipe", row.recipe], ["Seed", row.seed], ["Seconds", shown(row.seconds)],
  ]));
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}
