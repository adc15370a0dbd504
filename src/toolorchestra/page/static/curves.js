// What was learned, over the steps of training.

// Shown at once, with name and unit; all others can be opened.
const MAIN_CURVES = {
  "reward/mean": ["reward", "mean of a step"],
  accuracy: ["accuracy", "share solved"],
  utility: ["utility U", ""],
  cost_cents: ["cost", "US cents an episode"],
  latency_s: ["latency", "seconds of service an episode"],
  turns: ["turns", "an episode"],
  "reward/outcome": ["reward term: outcome", ""],
  "reward/cost": ["reward term: cost", ""],
  "reward/latency": ["reward term: latency", ""],
  "reward/tools": ["reward term: tools", ""],
  "calls/malformed_share": ["malformed calls", "share of calls"],
  "update/entropy": ["entropy", "nats a token"],
};

function curves(runs) {
  const trained = runs.filter((run) => run.metrics.steps.length);
  if (!trained.length) return null;
  const names = [...new Set(trained.flatMap((run) => Object.keys(run.metrics.values)))];
  const main = Object.keys(MAIN_CURVES).filter((name) => names.includes(name));
  const others = names.filter((name) => !main.includes(name)).sort();
  const chart = (name) => curveOf(trained, name, runs.length > 1);
  return make(
    "section",
    { id: "curves" },
    make("h2", {}, "Training"),
    make(
      "p",
      { class: "note" },
      `Strong: the mean of ${WINDOW} steps; faint: each step. Point at a curve, or use the ` +
        "arrow keys on it, to read it.",
    ),
    make("div", { class: "charts" }, main.map(chart)),
    shares(trained, runs.length > 1),
    others.length > 0 &&
      lazily(`All other metrics (${others.length})`, () =>
        make("div", { class: "charts" }, others.map(chart)),
      ),
  );
}

function curveOf(runs, name, isLettered) {
  const [title, unit] = MAIN_CURVES[name] ?? [name, ""];
  return lineChart({
    title,
    unit,
    series: runs.map((run) => ({
      label: isLettered ? run.letter : "",
      colour: colour(run.number),
      points: pointsOf(run, run.metrics.values[name] ?? []),
    })),
  });
}

function pointsOf(run, values) {
  return run.metrics.steps.flatMap((step, i) =>
    values[i] === null || values[i] === undefined ? [] : [[step, values[i]]],
  );
}

// Of all calls in training, which share went to which tool.
function shares(runs, isLettered) {
  const charts = runs.map((run) => {
    const names = Object.keys(run.metrics.values).filter(
      (name) => name.startsWith("calls/") && name !== "calls/malformed_share",
    );
    const totals = run.metrics.steps.map((_, i) =>
      names.reduce((sum, name) => sum + (run.metrics.values[name][i] ?? 0), 0),
    );
    const sums = names.map((name) =>
      run.metrics.values[name].reduce((sum, value) => sum + (value ?? 0), 0),
    );
    const top = names
      .map((name, i) => [name, sums[i]])
      .sort((a, b) => b[1] - a[1])
      .slice(0, COLOURS.length);
    if (!top.length) return null;
    return lineChart({
      title: isLettered ? `calls by tool, ${run.letter}` : "calls by tool",
      unit: "share of a step's calls",
      labelWidth: 120,
      size: WIDE_LINE,
      series: top.map(([name], i) => ({
        label: name.slice("calls/".length),
        colour: colour(i),
        points: pointsOf(
          run,
          run.metrics.values[name].map((value, k) => (totals[k] ? (value ?? 0) / totals[k] : null)),
        ),
      })),
    });
  });
  return make("div", { class: "charts double" }, charts);
}

// What takes long to draw, or is seldom read, is made when it is opened.
function lazily(summary, makeContent) {
  const details = make("details", {}, make("summary", {}, summary));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) put(details, makeContent());
  });
  return details;
}
