"use strict";
// DOM: elements made of nodes and texts; no data ever goes through an HTML parser.

function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== ""));
  return element;
}

const byId = (id) => document.getElementById(id);

// A name as texts between which a line may break: behind underscores, hyphens and slashes.
const breakable = (name) => name.split(/(?<=[_/-])/).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));

function badge(verdict, symbols) {
  const symbol = el("span", { "aria-hidden": "true" }, symbols[verdict] || "");
  return el("span", { class: `badge v-${verdict}` }, symbol, el("span", { class: "word" }, ` ${verdict}`));
}

// A link only where the text is an https address, else the text.
function linkOrText(text) {
  let address;
  try {
    address = /^https:\/\//.test(text) ? new URL(text) : undefined;
  } catch {
    address = undefined;
  }
  if (!address || address.protocol !== "https:") return document.createTextNode(text);
  return el("a", { href: address.href, rel: "noopener noreferrer", target: "_blank" }, text);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = el("textarea", { class: "offscreen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function copyButton(label, text) {
  const button = el("button", { type: "button", class: "copy" }, label);
  button.addEventListener("click", async () => {
    button.textContent = (await copy(text())) ? "Copied" : "Press Ctrl+C";
    button.addEventListener("blur", () => (button.textContent = label), { once: true });
  });
  return button;
}

const wrong = (row) => (row.size ? `${shown(row.mismatched)} of ${shown(row.size)}` : "–");

// A number as people read it, as `harness.judge.differences.wording.number` writes it; NaN and infinities come as text.
function shown(value, digits = 4) {
  if (value === "NaN" || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  const size = Math.abs(value);
  if (size < 1e6 && (Number.isInteger(value) || size >= 1e3)) return Math.round(value).toLocaleString("en");
  const [part, power] = value.toExponential(digits - 1).split("e").map(Number);
  if (power >= -4 && power < digits) return String(+value.toPrecision(digits));
  return `${part}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
