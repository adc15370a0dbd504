// Each policy's accuracy over what it costs or how long it takes, with 95 % intervals.

const SCATTER = { width: 560, height: 340, left: 52, right: 540, top: 26, bottom: 40 };
const LABEL_OFFSETS = [4, -12, 20, -26, 34, -40, 48]; // below its point, in pixels, best first

// points: [{label, x, accuracy, colour, kind}], x and accuracy {value, low, high};
// kind: "subject", "start", "oracle" or "other". lines: [{label, points: [[x, accuracy]], kind}]
function scatter({ title, xName, points, lines }) {
  const box = { ...SCATTER, under: SCATTER.height - SCATTER.bottom };
  const along = lines.flatMap((line) => line.points);
  const xTicks = niceTicks(
    0,
    extent([...points.map((p) => p.x.high), ...along.map((p) => p[0])])[1],
    5,
  );
  const [low] = extent([...points.map((p) => p.accuracy.low), ...along.map((p) => p[1])]);
  const yTicks = niceTicks(Math.max(0, low), 1, 5);
  const x = scale([0, xTicks.at(-1)], [box.left, box.right]);
  const y = scale([yTicks[0], yTicks.at(-1)], [box.under, box.top]);
  const told = points.map(
    (p) => `${p.label}: ${brief(p.x.value)}, accuracy ${fixed(p.accuracy.value, 3)}`,
  );
  const picture = draw("svg", {
    viewBox: `0 0 ${box.width} ${box.height}`,
    role: "img",
    "aria-label": `${title}. ${told.join("; ")}`,
  });
  axes(picture, box, { x, y, xTicks, yTicks, xName, yName: "accuracy (share solved)" });
  for (const line of lines) {
    put(
      picture,
      draw("path", {
        d: pathOf(line.points, x, y),
        class: `frontier ${line.kind} ${line.colour ?? ""}`,
      }),
    );
  }
  const reading = make("span", { class: "reading" });
  for (const point of points) put(picture, mark(point, x, y, reading));
  put(picture, pointLabels(points, x, y, box));
  return make(
    "figure",
    { class: "chart wide" },
    make("figcaption", {}, make("b", {}, title), reading),
    picture,
  );
}

function mark(point, x, y, reading) {
  const [cx, cy] = [x(point.x.value), y(point.accuracy.value)];
  const shade = `${point.colour} ${point.kind}`;
  const shape = {
    subject: () => draw("circle", { cx, cy, r: 6, class: `mark ${shade}` }),
    start: () => draw("circle", { cx, cy, r: 5, class: `mark hollow ${shade}` }),
    oracle: () =>
      draw("path", { d: `M${cx},${cy - 7}l6,7l-6,7l-6,-7z`, class: `mark hollow ${shade}` }),
    other: () =>
      draw("rect", { x: cx - 4, y: cy - 4, width: 8, height: 8, class: `mark ${shade}` }),
  }[point.kind]();
  const arm = (estimate) =>
    `${fixed(estimate.value, 3)} (${fixed(estimate.low, 3)} to ${fixed(estimate.high, 3)})`;
  const text = `${point.label}: ${arm(point.x)}, accuracy ${arm(point.accuracy)}`;
  const show = (value) => () => reading.replaceChildren(...shown(value));
  return draw(
    "g",
    { on: { pointerenter: show(text), pointerleave: show("") } },
    draw("title", {}, text),
    draw("line", {
      x1: x(point.x.low),
      x2: x(point.x.high),
      y1: cy,
      y2: cy,
      class: `whisker ${shade}`,
    }),
    draw("line", {
      x1: cx,
      x2: cx,
      y1: y(point.accuracy.low),
      y2: y(point.accuracy.high),
      class: `whisker ${shade}`,
    }),
    shape,
  );
}

// Each name at the first spot near its point that is clear of points and names; the most important
// points first, and no name where there is no room (pointing at the point tells it).
function pointLabels(points, x, y, box) {
  const rank = { subject: 0, start: 1, oracle: 2, other: 3 };
  const taken = points.map((p) => around(x(p.x.value) - 8, y(p.accuracy.value) - 8, 16, 16));
  const labels = [];
  for (const point of [...points].sort((a, b) => rank[a.kind] - rank[b.kind])) {
    const width = (point.kind === "subject" ? 7.6 : 6.4) * point.label.length;
    const spots = LABEL_OFFSETS.flatMap((dy) =>
      [10, -10 - width].map((dx) =>
        around(x(point.x.value) + dx, y(point.accuracy.value) + dy - 11, width, 14),
      ),
    );
    const free = spots.find(
      (spot) =>
        spot.left > box.left &&
        spot.right < box.width &&
        spot.top > 0 &&
        spot.bottom < box.under &&
        !taken.some((other) => meets(spot, other)),
    );
    if (!free) continue;
    taken.push(free);
    const shade = `${point.colour} ${point.kind}`;
    labels.push(
      draw("text", { x: free.left, y: free.top + 11, class: `label ${shade}` }, point.label),
    );
  }
  return labels;
}

function around(left, top, width, height) {
  return { left, top, right: left + width, bottom: top + height };
}

function meets(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// Those that no other beats in accuracy at the same price or less, cheapest first, as steps.
function bestPlayed(points) {
  const sorted = [...points].sort(
    (a, b) => a.x.value - b.x.value || b.accuracy.value - a.accuracy.value,
  );
  const steps = [];
  let best = -1;
  for (const point of sorted) {
    if (point.accuracy.value <= best) continue;
    if (steps.length) steps.push([point.x.value, best]);
    best = point.accuracy.value;
    steps.push([point.x.value, best]);
  }
  return steps;
}
