// Elements in one call: make("p", {class: "note"}, "text", element, [elements]).

const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value))
        element.addEventListener(event, listener);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : plain(value));
    }
  }
  put(element, children);
  return element;
}

function put(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) element.append(child);
    else element.append(...shown(child));
  }
}

function options(select, choices, chosen) {
  select.replaceChildren(
    ...choices.map(([value, label]) =>
      make("option", { value, selected: value === chosen }, label),
    ),
  );
}

// Says something to those who hear the page.
function say(text) {
  document.getElementById("said").textContent = plain(text);
}
