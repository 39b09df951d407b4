// Detail: one record with all its fields, and the results of the other plans beside it.

function facts(pairs) {
  const list = el("dl", { class: "pairs" });
  for (const [name, value] of pairs) if (value !== "" && value !== undefined) list.append(el("dt", {}, name), el("dd", {}, value));
  return list;
}

function distance(row) {
  if (row.kind) return row.distance || "none makes sense";
  return row.max_ulp === "NaN" ? "no distance was taken" : `at most ${shown(row.max_ulp)} ULP, ${shown(row.budget)} allowed`;
}

// The element that represents a record: the one with the simplest input; without such an example, the worst one.
function example(row) {
  const ends = [["", ""], [" in a smaller tensor", " as in the whole one"], [" in the second run", " as in the first"], [" after the run", " as before it"]];
  for (const [got, want] of ends.reverse()) {
    const parts = new RegExp(`^(?:input (.*), )?got (.*)${got}, want (.*)${want}$`, "s").exec(row.example);
    if (parts) return { index: row.example_index, input: parts[1] || "", got: parts[2], want: parts[3] };
  }
  return { index: row.worst_index, input: row.input, got: row.got, want: row.want };
}

function values(row) {
  const simple = example(row);
  const box = (name, value, more = "") =>
    el("div", { class: `value ${more}` }, el("h4", {}, name), el("pre", { tabindex: "0", "aria-label": name }, value === "" ? "–" : value));
  const boxes = el("div", { class: "values" }, box("Input", simple.input), box("Got", simple.got, row.kind ? "off" : ""), box("Want", simple.want));
  if (!row.distance || simple.index === row.worst_index) return [boxes];
  return [boxes, el("p", { class: "quiet" }, `Worst at ${row.worst_index}: input ${row.input || "–"}, got ${row.got}, want ${row.want} (${row.distance}).`)];
}

// A sentence that says which plans differ from the oracle that they share, and the plans that differ if they are the fewer.
function outliers(siblings) {
  const first = siblings.find((one) => one.against !== one.plan);
  const group = siblings.filter((one) => first && one.against === first.against);
  const those = (...verdicts) => group.filter((one) => verdicts.includes(one.verdict)).map((one) => one.plan);
  const [off, fine, documented] = [those("mismatch", "known"), those("match", "stale"), those("contract")];
  const part = (plans, one, many) => (plans.length ? [`${plans.join(", ")} ${plans.length > 1 ? many : one}`] : []);
  const parts = off.length
    ? [...part(off, `differs from ${first.against}`, `differ from ${first.against}`), ...part(fine, "does not", "do not"),
       ...part(documented, "does as documented", "do as documented")]
    : [];
  return { sentence: parts.length ? `${parts.join("; ")}.` : "", plans: new Set(off.length < fine.length ? off : []), against: first?.against };
}

// The result of each plan at the element where this record differs: all of a column is about one element.
function sideBySide(store, row, show) {
  const body = el("tbody");
  const simple = example(row);
  const siblings = store.siblings(row);
  const { sentence, plans, against } = outliers(siblings);
  for (const other of siblings) {
    const here = other.i === row.i;
    const jump = el("button", { type: "button", class: "plan", "aria-current": here ? "true" : undefined }, other.plan);
    jump.addEventListener("click", () => show(other, true));
    const odd = other.against === against && plans.has(other.plan);
    const theirs = example(other);
    const alike = theirs.index === simple.index;
    const got = other.against === other.plan ? "" : here ? simple.got : store.valueUnder(row, other.plan) || (alike && theirs.got);
    const want = alike && theirs.want ? theirs.want : other.verdict === "match" && other.against === row.against ? simple.want : "";
    const off = other.kind ? other.distance : shown(other.max_ulp);
    const cells = [other.against === other.plan ? "itself" : other.against, badge(other.verdict, store.verdicts), off || "–"];
    cells.push(el("code", {}, got || "–"), el("code", {}, want || "–"), wrong(other));
    const name = el("th", { scope: "row" }, jump, odd ? el("strong", { class: "outlier" }, "outlier") : "");
    body.append(el("tr", { class: here ? "here" : "" }, name, ...cells.map((c) => el("td", {}, c))));
  }
  const at = simple.index ? ` at ${simple.index}` : "";
  const heads = ["Plan", "Against", "Verdict", "Worst, ULP", `Got${at}`, `Want${at}`, "Wrong"].map((name) => el("th", { scope: "col" }, name));
  const table = el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...heads)), body);
  const summary = sentence ? el("p", { class: "plans" }, sentence) : "";
  return [summary, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Under every plan" }, table)];
}

// A program reproduces a finding by one of its records, which may be another than this one.
function aboutProgram(program, row) {
  const parts = [el("h4", {}, "A program of its own"), el("p", {}, `${program.said}.`)];
  const about = ["case", "device", "mode", "quantity"].every((name) => program[name] === row[name]);
  if (!about) parts.push(el("p", { class: "of" }, `It is not about this record, but about another one of the finding: ${program.quantity} of ${program.case} on ${program.device}/${program.mode}.`));
  if (program.text) {
    const file = el("pre", { class: "unbroken program", tabindex: "0", "aria-label": "Program" }, program.text);
    parts.push(el("details", {}, el("summary", {}, program.path || "The program"), file), copyButton("Copy program", () => program.text));
  }
  if (program.points.length) {
    const about = `${program.quantity} of ${program.case} on ${program.device}/${program.mode}, in ULP`;
    parts.push(el("h4", {}, "Errors of the program's case"), el("p", { class: "quiet" }, about), drawErrors(program.points, program.marked || {}));
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
  const parts = [bar, el("h3", {}, row.case), el("p", { class: "sentence" }, row.sentence), ...values(row)];
  if (row.detail) parts.push(el("pre", { class: "message", tabindex: "0", "aria-label": "Detail" }, row.detail));
  if (row.reason || row.owner || row.link) {
    parts.push(el("div", { class: "reason" }, el("h4", {}, row.verdict === "contract" ? "As documented" : "Known failure"),
      facts([[row.cause.includes(";") ? "Causes, the most severe first" : "Cause", row.cause.replaceAll(";", ", ")], ["Owner", row.owner], ["Reason", row.reason], ["Link", row.link && linkOrText(row.link)]])));
  }
  parts.push(el("h4", {}, "Under every plan"), ...sideBySide(store, row, actions.show));
  parts.push(el("h4", {}, "Run it again"), el("div", { class: "command" }, el("pre", { class: "unbroken", tabindex: "0", "aria-label": "Command" }, row.rerun || "–"),
    copyButton("Copy", () => row.rerun)));
  const program = store.program(row);
  if (program) parts.push(...aboutProgram(program, row));
  parts.push(el("h4", {}, "Facts"), facts([
    ["Wrong", row.size ? `${wrong(row)} elements` : ""], ["Kind", row.kind.replaceAll("_", " ")], ["All kinds", row.kinds.includes(";") ? row.kinds.replaceAll("_", " ").replaceAll(";", ", ") : ""], ["Severity", severityTitle(store, row.severity)],
    ["Distance", distance(row)], ["Largest error", row.max_abs === "NaN" ? "" : shown(row.max_abs)], ["Worst index", row.worst_index],
    ["Ran on", row.ran_on], ["Raw op", row.raw_op], ["Suite", row.suite], ["Spec", row.spec], ["Dtype", row.dtype],
    ["Recipe", row.recipe], ["Seconds", shown(row.seconds)],
  ]));
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}
