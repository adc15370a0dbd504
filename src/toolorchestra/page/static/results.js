// The evaluation: accuracy over cost and over latency, and all tables that the run wrote.

const ORACLE_BOUND = "oracle bound"; // an expectation, which nobody played

function results(runs) {
  const tables = mergedTables(runs);
  if (!tables.length) return null;
  const notes = [...new Set(tables.map((table) => table.note))]; // one that all share is said once
  const worlds = [...new Set(runs.flatMap((run) => Object.keys(run.points)))];
  return make(
    "section",
    { id: "results" },
    make("h2", {}, "Evaluation"),
    worlds.map((world, i) => pictures(runs, world, i === 0)),
    make(
      "p",
      { class: "note" },
      "± is the longer arm of a 95 % interval; its ends show when pointed at.",
    ),
    notes.length === 1 && notes[0] && make("p", { class: "note" }, notes[0]),
    flow(tables.map((table) => tableOf(notes.length === 1 ? { ...table, note: "" } : table))),
  );
}

function pictures(runs, world, isFirst) {
  const across = [
    ["cents", "mean cost of an episode (US cents)", "cost"],
    ["seconds", "mean service time of an episode (s)", "latency"],
  ];
  const kept = runs.filter((run) => isFirst && run.frontier.length);
  const charts = across.map(([column, xName, what]) => {
    const points = runs.flatMap((run) =>
      (run.points[world] ?? []).flatMap((row) => pointOf(run, row, column, runs.length > 1)),
    );
    if (!points.length) return null;
    const lines = [
      { kind: "played", points: bestPlayed(points.filter((point) => point.isPlayed)) },
    ];
    if (column === "cents") {
      lines.push(
        ...kept.map((run) => ({
          kind: "bound",
          colour: runs.length > 1 ? colour(run.number) : "",
          points: run.frontier
            .map((point) => [point.cents, point.accuracy])
            .sort((a, b) => a[0] - b[0]),
        })),
      );
    }
    return scatter({ title: `${world} world: accuracy over ${what}`, xName, points, lines });
  });
  const frontier = kept.length
    ? "Dashed: the oracle's frontier, as it weighs cost more and more (first 100 episodes). "
    : isFirst
      ? "The oracle's frontier is not among the run's files. "
      : "";
  return [
    make("div", { class: "charts double" }, charts),
    make(
      "p",
      { class: "note" },
      `${frontier}Dotted: the best that was played for no more. A diamond is what the oracle ` +
        "expects, a circle the policy, a hollow one its start.",
    ),
  ];
}

function pointOf(run, row, column, isLettered) {
  const [x, accuracy] = [row[column], row.accuracy];
  if (x?.low === undefined || accuracy?.low === undefined) return [];
  const kind = EMPHASISED.has(row.policy)
    ? "subject"
    : row.policy === "start"
      ? "start"
      : row.policy === ORACLE_BOUND
        ? "oracle"
        : "other";
  return [
    {
      label: isLettered ? `${run.letter} ${row.policy}` : row.policy,
      x,
      accuracy,
      kind,
      isPlayed: kind !== "oracle",
      colour: isLettered || kind === "subject" || kind === "start" ? colour(run.number) : "grey",
    },
  ];
}

// Rows of a world's main table: by world, what was measured of each policy.
function pointsByWorld(run) {
  const found = {};
  for (const { title, rows } of run.tables) {
    const world = /^(.+) world: \d+ held-out episodes$/.exec(title)?.[1];
    if (world && rows?.length && "accuracy" in rows[0]) found[world] = rows;
  }
  return found;
}
