// Which runs these are, what state they are in, and how their settings differ.

function overview(runs, number) {
  return make(
    "section",
    { id: "overview" },
    make("h1", {}, runs.length === 1 ? runs[0].name : `${runs.length} runs side by side`),
    make(
      "div",
      { class: "runs" },
      runs.map((run) => card(run, runs.length > 1)),
    ),
    number > 0 &&
      make(
        "p",
        {},
        make(
          "a",
          { href: "#trajectories", class: "open" },
          `${plural(number, "trajectory", "trajectories")} to search and read`,
        ),
      ),
    runs.length > 1 && differences(runs),
  );
}

function card(run, isLettered) {
  const { command, git_commit: commit, is_git_dirty: isDirty, started_at: started } = run.described;
  const facts = [
    ["command", command && make("code", {}, command)],
    [
      "code",
      commit &&
        `${String(commit).slice(0, 10)}${isDirty ? ", with changes that are not committed" : ""}`,
    ],
    [
      "started",
      typeof started === "number" &&
        new Date(1000 * started).toISOString().replace("T", " ").slice(0, 16) + " UTC",
    ],
    ["folder", run.folder],
    ["steps", run.metrics.steps.length > 0 && count(run.metrics.steps.length)],
    ["trajectories", count(run.num_trajectories)],
  ].filter(([, value]) => value);
  return make(
    "article",
    { class: "run" },
    isLettered && make("h2", { class: "name" }, letter(run), run.name),
    make("p", { class: run.state.startsWith("Finished") ? "state" : "state warned" }, run.state),
    run.notes.map((note) => make("p", { class: "state warned" }, note)),
    run.is_simulated &&
      make("p", { class: "note" }, "Tools named sim/… are simulated experts, not the real models."),
    make(
      "dl",
      {},
      facts.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]),
    ),
    lazily("Settings", () => settings(run)),
  );
}

function letter(run) {
  return make("span", {
    class: `letter ${colour(run.number)}`,
    role: "img",
    "aria-label": `run ${run.letter}`,
    "data-letter": run.letter,
  });
}

function settings(run) {
  const rows = Object.entries(run.settings);
  if (!rows.length) return make("p", {}, "Its config.yaml is missing.");
  return tableOf({ heads: ["key", "value"], rows, isPlain: true });
}

function differences(runs) {
  const keys = [...new Set(runs.flatMap((run) => Object.keys(run.settings)))];
  const differing = keys.filter(
    (key) => key !== "output_dir" && new Set(runs.map((run) => run.settings[key])).size > 1,
  );
  if (!differing.length) return make("p", {}, "Their settings are the same.");
  const table = () =>
    tableOf({
      caption: "Settings that differ",
      heads: ["key", ...runs.map((run) => run.letter)],
      rows: differing.map((key) => [key, ...runs.map((run) => run.settings[key] ?? ABSENT)]),
      isPlain: true,
    });
  return differing.length <= 12
    ? table()
    : lazily(`Settings that differ (${differing.length})`, table);
}
