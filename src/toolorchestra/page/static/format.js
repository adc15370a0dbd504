// Numbers as readers want them.

const ABSENT = "–";
const COLOURS = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"]; // of page.css, by Okabe and Ito

function fixed(value, digits) {
  if (value === null || value === undefined || !Number.isFinite(value)) return ABSENT;
  const text = value.toFixed(digits);
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace("-", "−");
}

function count(value) {
  return Math.round(value).toLocaleString("en-US");
}

// Three significant digits, for values of any size.
function brief(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return ABSENT;
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e5 || size < 1e-4) return value.toExponential(1).replace("-", "−");
  const digits = Math.max(0, 2 - Math.floor(Math.log10(size)));
  const text = fixed(value, Math.min(digits, 6));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function cents(usd) {
  return usd === null || usd === undefined ? ABSENT : `${brief(100 * usd)} ¢`;
}

function seconds(value) {
  return value === null || value === undefined ? ABSENT : `${brief(value)} s`;
}

function percent(share) {
  return `${fixed(100 * share, share > 0 && share < 0.0995 ? 1 : 0)} %`;
}

function valueOf(cell) {
  if (cell !== null && typeof cell === "object") return cell.value;
  return typeof cell === "number" ? cell : null;
}

function plural(number, one, many) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

function colour(number) {
  return COLOURS[number % COLOURS.length];
}
