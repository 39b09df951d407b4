// Data: the records, as columns.

async function readData(text) {
  const buffer = await unpacked(text);
  let at = new Uint8Array(buffer).indexOf(10); // JSON holds no newline; the codes of columns follow it
  const data = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 0, at++)));
  for (const column of Object.values(data.columns).filter((one) => one.width)) {
    const end = at + data.n * column.width;
    column.codes = new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[column.width](buffer.slice(at, end));
    at = end;
  }
  return data;
}

// A column of n records. `at(row)` is the value of a record; `coded()` gives a code for each record and the value of each code.
// The other methods give an array with a number for each record, and compute it once for each distinct value: `map(Type, number)`
// the number of the value; `matching(passes)` 1 where the value passes; `containing(word)` 1 where its text has a lower-case word.
function makeColumn(column, n) {
  const values = "const" in column ? [column.const] : column.values || column.list;
  const codes = column.codes;
  const spread = (numbers) => {
    if ("const" in column) return new numbers.constructor(n).fill(numbers[0]);
    if (!codes) return numbers;
    const result = new numbers.constructor(n);
    for (let i = 0; i < n; i++) result[i] = numbers[codes[i]];
    return result;
  };
  let folded;
  return {
    at: "const" in column ? () => values[0] : codes ? (row) => values[codes[row]] : (row) => values[row],
    values: () => (n ? [...new Set(values)] : []),
    coded: () => ({ values, codes: codes || ("const" in column ? new Uint8Array(n) : Uint32Array.from(values, (_, i) => i)) }),
    map: (Type, number) => spread(Type.from(values, (value) => number(value))),
    matching: (passes) => spread(Uint8Array.from(values, (value) => (passes(value) ? 1 : 0))),
    containing: (word) => {
      folded ??= values.map((value) => String(value).toLowerCase());
      return spread(Uint8Array.from(folded, (value) => (value.includes(word) ? 1 : 0)));
    },
  };
}

function makeStore(data) {
  const columns = new Map(Object.entries(data.columns).map(([name, column]) => [name, makeColumn(column, data.n)]));
  // A row holds its number only and reads each field from its column.
  class Row {
    constructor(i) {
      this.i = i;
    }
  }
  for (const [name, column] of columns) {
    if (name === "rerun" || name === "sentence") continue;
    // Tabulator writes each value back when it builds a cell; the empty setter ignores that.
    Object.defineProperty(Row.prototype, name, { get() { return column.at(this.i); }, set() {} });
  }
  // Behind `~` stands a command with {case} in place of the record's case; behind `=` a whole command.
  const command = (row, text) => (text[0] === "~" ? text.slice(1).replaceAll("{case}", () => row.case) : text.slice(1));
  Object.defineProperty(Row.prototype, "rerun", { get() { return command(this, columns.get("rerun").at(this.i)); }, set() {} });
  Object.defineProperty(Row.prototype, "plan", { get() { return `${this.device}/${this.mode}`; }, set() {} });
  // Behind `~` stands a sentence with the names of columns in place of their values; behind `=` a whole sentence.
  const valueOf = (row, name) => {
    if (name === "quantity" || name === "plan") return row[name];
    return name === "mismatched" || name === "size" ? row[name].toLocaleString("en") : shown(row[name]);
  };
  const filled = (row, text) => (text[0] === "~" ? text.slice(1).replace(/\{(\w+)\}/g, (_, name) => valueOf(row, name)) : text.slice(1));
  Object.defineProperty(Row.prototype, "sentence", { get() { return filled(this, columns.get("sentence").at(this.i)); }, set() {} });
  const store = {
    ...data,
    column: (name) => columns.get(name),
    rows: Array.from({ length: data.n }, (_, i) => new Row(i)),
  };
  store.siblings = (row) => {
    const cases = columns.get("case").matching((v) => v === row.case);
    // Against NumPy first, then against other plans, then against the plan itself, which tells the reader least.
    const rank = (other) => (other.against === "numpy" ? 0 : other.against === other.plan ? 2 : 1);
    const key = (other) => [rank(other), other.against, String(data.plans.indexOf(other.plan)).padStart(4)].join();
    return store.rows
      .filter((other) => cases[other.i] && other.quantity === row.quantity)
      .sort((a, b) => (key(a) < key(b) ? -1 : 1));
  };
  // The value under a plan at the element where a record differs; undefined if the page does not have it.
  store.valueUnder = (row, plan) => data.beside?.[row.case]?.[row.quantity]?.[row.example_index || row.worst_index]?.[plan];
  // The program that reproduces the finding of a record.
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
