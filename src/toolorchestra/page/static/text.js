// Text of a run as nodes. Nothing of it is ever parsed as markup; characters that cannot be seen,
// or that reorder what is seen, are shown as the names of their code points.

const UNSEEN =
  /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}])/u;

function shown(text) {
  const parts = String(text).replaceAll("\r\n", "\n").split(UNSEEN);
  return parts.map((part, number) =>
    number % 2 ? codePoint(part) : document.createTextNode(part),
  );
}

function codePoint(character) {
  const span = document.createElement("span");
  span.className = "unseen";
  span.textContent = "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  return span;
}

// For attributes such as title, which hold no elements.
function plain(text) {
  return shown(text)
    .map((node) => node.textContent)
    .join("");
}
