// Lines over steps: each step faint, a moving average strong, names at the ends of the lines.

const WINDOW = 5; // steps in the moving average, as in the run's own picture
const MOST_FAINT = 4; // lines of which each step is drawn too
const LINE = { width: 372, height: 188, left: 46, top: 10, bottom: 26 };
const WIDE_LINE = { ...LINE, width: 580, height: 290 };

// series: [{label, colour, points: [[step, value], ...]}]
function lineChart({ title, unit, series, labelWidth = 18, size = LINE }) {
  const drawn = series.filter((line) => line.points.length);
  const box = { ...size, right: size.width - labelWidth - 4, under: size.height - size.bottom };
  const xs = drawn.flatMap((line) => line.points.map((point) => point[0]));
  const ys = drawn.flatMap((line) => line.points.map((point) => point[1]));
  const x = scale(extent(xs), [box.left, box.right]);
  const ticks = niceTicks(...extent(ys), 4);
  const y = scale([ticks[0], ticks.at(-1)], [box.under, box.top]);
  const about = drawn.map((line) => {
    const [first, last] = [line.points[0], line.points.at(-1)];
    return `${line.label} ${brief(first[1])} at step ${first[0]}, ${brief(last[1])} at step ${last[0]}`;
  });
  const picture = draw("svg", {
    viewBox: `0 0 ${box.width} ${box.height}`,
    role: "img",
    tabindex: 0,
    "aria-label": `${title}: ${about.join("; ")}`,
  });
  axes(picture, box, { x, y, xTicks: stepTicks(xs), yTicks: ticks, xName: "step" });
  for (const line of drawn) put(picture, curve(line, x, y, drawn.length <= MOST_FAINT));
  put(picture, endLabels(drawn, x, y, box));
  const reading = make("span", { class: "reading" });
  watchSteps(picture, drawn, { x, box, reading });
  const heading = [make("b", {}, title), unit ? make("span", { class: "unit" }, unit) : null];
  return make("figure", { class: "chart" }, make("figcaption", {}, heading, reading), picture);
}

function curve({ points, colour: shade }, x, y, isFaintDrawn) {
  const path = (list) => pathOf(list, x, y);
  if (points.length <= 2 * WINDOW) {
    const dots = points.map(([a, b]) =>
      draw("circle", { cx: x(a), cy: y(b), r: 2.2, class: `dot ${shade}` }),
    );
    return [draw("path", { d: path(points), class: `line ${shade}` }), dots];
  }
  return [
    isFaintDrawn && draw("path", { d: path(points), class: `line faint ${shade}` }),
    draw("path", { d: path(averaged(points)), class: `line ${shade}` }),
  ];
}

function pathOf(points, x, y) {
  return points
    .map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)},${y(b).toFixed(1)}`)
    .join("");
}

function averaged(points) {
  return points.map(([step], i) => {
    const near = points.slice(Math.max(0, i + 1 - WINDOW), i + 1);
    return [step, near.reduce((sum, point) => sum + point[1], 0) / near.length];
  });
}

// Names beside the ends of lines, moved apart where they would meet.
function endLabels(series, x, y, box) {
  const ends = series.map((line) => {
    const points = line.points.length > 2 * WINDOW ? averaged(line.points) : line.points;
    return { ...line, x: x(points.at(-1)[0]), y: y(points.at(-1)[1]) };
  });
  ends.sort((a, b) => a.y - b.y);
  ends.forEach((end, i) => {
    if (i) end.y = Math.max(end.y, ends[i - 1].y + 12);
  });
  const over = Math.max(0, (ends.at(-1)?.y ?? 0) - box.under);
  return ends.map((end) =>
    draw("text", { x: end.x + 6, y: end.y - over + 4, class: `label ${end.colour}` }, end.label),
  );
}

function watchSteps(picture, series, { x, box, reading }) {
  const steps = [...new Set(series.flatMap((line) => line.points.map((point) => point[0])))];
  steps.sort((a, b) => a - b);
  const rule = draw("line", { y1: box.top, y2: box.under, class: "rule", visibility: "hidden" });
  put(picture, rule);
  let at = null;
  const show = (number) => {
    at = number;
    rule.setAttribute("visibility", number === null ? "hidden" : "visible");
    if (number === null) return reading.replaceChildren();
    const step = steps[number];
    rule.setAttribute("x1", x(step));
    rule.setAttribute("x2", x(step));
    const values = series.map((line) => {
      const point = line.points.find((candidate) => candidate[0] === step);
      return point ? `${line.label} ${brief(point[1])}`.trim() : null;
    });
    reading.replaceChildren(...shown(`step ${step}: ${values.filter(Boolean).join(", ")}`));
  };
  picture.addEventListener("pointermove", (event) => {
    const bounds = picture.getBoundingClientRect();
    const wanted = ((event.clientX - bounds.left) / bounds.width) * box.width;
    const distances = steps.map((step) => Math.abs(x(step) - wanted));
    show(distances.indexOf(Math.min(...distances)));
  });
  picture.addEventListener("pointerleave", () => show(null));
  picture.addEventListener("blur", () => show(null));
  picture.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    show(
      at === null
        ? by > 0
          ? 0
          : steps.length - 1
        : Math.min(steps.length - 1, Math.max(0, at + by)),
    );
    say(reading.textContent);
  });
}

function axes(picture, box, { x, y, xTicks, yTicks, xName, yName }) {
  for (const tick of yTicks) {
    put(
      picture,
      draw("line", { x1: box.left, x2: box.right, y1: y(tick), y2: y(tick), class: "grid" }),
    );
    put(picture, draw("text", { x: box.left - 6, y: y(tick) + 4, class: "tick end" }, brief(tick)));
  }
  for (const tick of xTicks) {
    put(
      picture,
      draw("text", { x: x(tick), y: box.under + 15, class: "tick middle" }, brief(tick)),
    );
  }
  const middle = (box.left + box.right) / 2;
  put(picture, draw("text", { x: middle, y: box.height - 1, class: "tick middle" }, xName));
  if (yName)
    put(picture, draw("text", { x: box.left - 34, y: box.top - 12, class: "tick" }, yName));
}

function scale([low, high], [from, to]) {
  const width = high - low || 1;
  return (value) => from + ((value - low) / width) * (to - from);
}

function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : [0, 1];
}

// Round values that enclose low and high.
function niceTicks(low, high, wanted) {
  if (low === high) [low, high] = low === 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)];
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
  const ticks = [];
  for (let i = Math.floor(low / step + 1e-9); ; i++) {
    ticks.push(Number((i * step).toPrecision(12)));
    if (i * step >= high - step * 1e-9) return ticks;
  }
}

function stepTicks(xs) {
  const [low, high] = extent(xs);
  const ticks = niceTicks(low, high, 4).filter(
    (tick) => tick >= low && tick <= high && tick % 1 === 0,
  );
  return ticks.length ? ticks : [low];
}
