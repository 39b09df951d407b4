// The texts in view whose contrast with what lies behind them is below 4.5 (WCAG 2.2, 1.4.3), with their ratio.
(() => {
  const parse = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const bad = new Map();
  for (const element of document.querySelectorAll("body *")) {
    const texts = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!texts || !element.checkVisibility() || element.closest("script, option")) continue;
    const [x, y] = [parse(getComputedStyle(element).color).slice(0, 3), behind(element)].map(luminance);
    const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    if (ratio < 4.5) bad.set(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`, element.textContent.slice(0, 30));
  }
  return [...bad];
})()
