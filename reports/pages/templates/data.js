// Data: the records, as columns.

async function readData(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser can't decompress them: it has no DecompressionStream");
  }
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  let at = new Uint8Array(buffer).indexOf(10); // JSON holds no newline; the codes of columns follow it
  const data = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 0, at++)));
  for (const column of Object.values(data.columns).filter((one) => one.width)) {
    const end = at + data.n * column.width;
    column.codes = new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[column.width](buffer.slice(at, end));
    at = end;
  }
  return data;
}

// A column with `at(row)`; `matching(predicate)` marks the rows whose value passes, asking once for each distinct value;
// `containing(word)` those whose text holds a lower-case word.
function makeColumn(column, n) {
  const values = "const" in column ? [column.const] : column.values || column.list;
  const codes = column.codes;
  const spread = (list, is) => {
    if ("const" in column) return new Uint8Array(n).fill(is(list[0]) ? 1 : 0);
    const passes = new Uint8Array(list.length);
    for (let i = 0; i < list.length; i++) passes[i] = is(list[i]) ? 1 : 0;
    if (!codes) return passes;
    const mask = new Uint8Array(n);
    for (let i = 0; i < n; i++) mask[i] = passes[codes[i]];
    return mask;
  };
  let folded;
  return {
    at: "const" in column ? () => values[0] : codes ? (row) => values[codes[row]] : (row) => values[row],
    values: () => [...new Set(values)],
    matching: (is) => spread(values, is),
    containing: (word) => {
      folded ??= values.map((value) => String(value).toLowerCase());
      return spread(folded, (value) => value.includes(word));
    },
  };
}

function makeStore(data) {
  const columns = new Map(Object.entries(data.columns).map(([name, column]) => [name, makeColumn(column, data.n)]));
  // A row knows its number only; its fields are read from the columns when they are asked for.
  class Row {
    constructor(i) {
      this.i = i;
    }
  }
  for (const [name, column] of columns) {
    // Tabulator writes each value back when it builds a cell; a record stays as it is.
    Object.defineProperty(Row.prototype, name, { get() { return column.at(this.i); }, set() {} });
  }
  Object.defineProperty(Row.prototype, "plan", { get() { return `${this.device}/${this.mode}`; }, set() {} });
  const store = {
    n: data.n,
    verdicts: data.verdicts,
    column: (name) => columns.get(name),
    rows: Array.from({ length: data.n }, (_, i) => new Row(i)),
  };
  store.siblings = (row) => {
    const cases = columns.get("case").matching((v) => v === row.case);
    // Against NumPy first, then against other plans; a plan against itself tells least.
    const rank = (other) => (other.against === "numpy" ? 0 : other.against === other.plan ? 2 : 1);
    const key = (other) => [rank(other), other.against, String(data.plans.indexOf(other.plan)).padStart(4)].join();
    return store.rows
      .filter((other) => cases[other.i] && other.quantity === row.quantity)
      .sort((a, b) => (key(a) < key(b) ? -1 : 1));
  };
  // What a plan gave at the element where a record is off; undefined where that was not kept.
  store.gave = (row, plan) => data.beside?.[row.case]?.[row.quantity]?.[row.example_index || row.worst_index]?.[plan];
  // The script that stands for a record's finding.
  store.program = (row) => (data.programs || []).find((p) => p.spec === row.spec && p.verdict === row.verdict && p.kind === row.kind && p.reason === (row.verdict === "known" ? row.reason : ""));
  const key = (row) => [row.case, row.device, row.mode, row.quantity, row.against];
  store.keyOf = (row) => key(row).join("|");
  store.find = (text) => {
    const name = text.split("|")[0];
    const cases = columns.get("case").matching((v) => v === name);
    return store.rows.find((row) => cases[row.i] && store.keyOf(row) === text);
  };
  return store;
}
