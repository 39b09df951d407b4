// Data: the records, as columns.

async function readData(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser can't decompress them: it has no DecompressionStream");
  }
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Columns with `at(row)`; `matching(predicate)` marks the rows whose value passes, asking once for each distinct value.
function makeColumn(column, n) {
  if ("const" in column) {
    const value = column.const;
    return { at: () => value, values: () => [value], matching: (is) => new Uint8Array(n).fill(is(value) ? 1 : 0) };
  }
  if ("codes" in column) {
    const codes = Uint32Array.from(column.codes);
    const matching = (is) => {
      const passes = column.values.map((value) => (is(value) ? 1 : 0));
      return Uint8Array.from(codes, (code) => passes[code]);
    };
    return { at: (row) => column.values[codes[row]], values: () => column.values, matching };
  }
  const list = column.list;
  return {
    at: (row) => list[row],
    values: () => [...new Set(list)],
    matching: (is) => Uint8Array.from(list, (value) => (is(value) ? 1 : 0)),
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
    return store.rows.filter((other) => cases[other.i] && other.quantity === row.quantity);
  };
  const key = (row) => [row.case, row.device, row.mode, row.quantity, row.against];
  store.keyOf = (row) => key(row).join("|");
  store.find = (text) => {
    const name = text.split("|")[0];
    const cases = columns.get("case").matching((v) => v === name);
    return store.rows.find((row) => cases[row.i] && store.keyOf(row) === text);
  };
  return store;
}
