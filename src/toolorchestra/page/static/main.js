// Two views, chosen by the page's address: #report, #trajectories, and #trajectories/12+40 with the
// trajectories of rows 12 and 40 open side by side.

const SECTIONS = [
  ["overview", "Runs"],
  ["curves", "Training"],
  ["results", "Evaluation"],
  ["breakdown", "Skills"],
  ["tools", "Tools"],
  ["faults", "Faults"],
];

async function start() {
  const main = document.getElementById("content");
  if (typeof DecompressionStream === "undefined") {
    main.replaceChildren(
      make(
        "p",
        {},
        "This browser cannot unpack the report. Use Chrome or Edge 80, Firefox 113, " +
          "Safari 16.4, or a later one.",
      ),
    );
    return;
  }
  const [report, index] = await Promise.all([unpack("report"), unpack("index")]);
  const runs = report.runs.map((run, number) => ({ ...run, number, points: pointsByWorld(run) }));
  const page = reportView(runs, index);
  const explorer = explorerView(runs, index);
  const views = document.getElementById("views");
  const links = Object.fromEntries(
    [
      ["report", "Report"],
      ["trajectories", "Trajectories"],
    ].map(([name, label]) => [name, make("a", { href: `#${name}` }, label)]),
  );
  put(views, Object.values(links));
  main.replaceChildren(page, explorer.element);
  const route = async () => {
    const [name, rest = ""] = location.hash.slice(1).split("/");
    const isExplorer = name === "trajectories";
    page.hidden = isExplorer;
    explorer.element.hidden = !isExplorer;
    document.body.classList.toggle("exploring", isExplorer);
    for (const [key, link] of Object.entries(links)) {
      if ((key === "trajectories") === isExplorer) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (isExplorer) await explorer.show(rest);
    else if (rest) document.getElementById(rest)?.scrollIntoView();
  };
  addEventListener("hashchange", route);
  addEventListener("keydown", (event) => shortcut(event, explorer));
  await route();
}

function reportView(runs, index) {
  const parts = [
    overview(runs, index.columns.source.length),
    curves(runs),
    results(runs),
    usage(runs),
  ]
    .flat()
    .filter(Boolean);
  const there = SECTIONS.filter(([id]) => parts.some((part) => part.id === id));
  const jumps = make(
    "nav",
    { class: "jumps", "aria-label": "Sections" },
    there.map(([id, name]) => make("a", { href: `#report/${id}` }, name)),
  );
  return make("div", { class: "report" }, jumps, parts);
}

function explorerView(runs, index) {
  const all = index.columns.source.length;
  const go = (rows) => {
    location.hash = rows.length ? `trajectories/${rows.join("+")}` : "trajectories";
  };
  const leave = () => {
    go([]);
    list.element.focus();
  };
  const reader = new Reader({ index, runs, go, leave });
  const list = new List({
    index,
    runs,
    open: (row) => {
      shouldFocus = true;
      if (reader.rows.length === 1 && reader.rows[0] === row)
        reader.element.querySelector("h2")?.focus();
      else go([row]);
    },
  });
  const filter = new Filter({ index, runs, changed: (rows) => list.set(rows) });
  let shouldFocus = false;
  let isFilled = false;
  const keys =
    "/ searches, arrows or j and k move, Enter opens, b opens another beside it, Esc goes back";
  const element = make(
    "div",
    { class: "explorer" },
    make(
      "div",
      { class: "chooser" },
      make("h1", { class: "only-heard" }, "Trajectories"),
      filter.element,
      list.element,
      make("p", { class: "keys" }, keys),
    ),
    reader.element,
  );
  const show = async (rest) => {
    if (!isFilled) await filter.apply();
    isFilled = true;
    const rows = rest
      .split("+")
      .filter(Boolean)
      .map(Number)
      .filter((row) => Number.isInteger(row) && row >= 0 && row < all);
    element.classList.toggle("reading-one", rows.length > 0);
    list.markOpened(rows);
    await reader.show(rows, { isFocused: shouldFocus });
    shouldFocus = false;
  };
  return { element, filter, list, reader, leave, show };
}

// Keys that work wherever nothing is typed.
function shortcut(event, { element, filter, list, reader, leave }) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const isTyping =
    event.target instanceof HTMLElement &&
    event.target.matches("input[type=search], select, textarea");
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    if (element.hidden) location.hash = "trajectories";
    setTimeout(() => filter.search.focus());
  } else if (element.hidden) {
    return;
  } else if (event.key === "Escape") {
    if (event.target === filter.search && filter.search.value) {
      filter.search.value = "";
      filter.apply();
    } else if (reader.rows.length) leave();
    else list.element.focus();
  } else if (
    event.target === filter.search &&
    (event.key === "Enter" || event.key === "ArrowDown")
  ) {
    event.preventDefault();
    list.element.focus();
  } else if (!isTyping && (event.key === "j" || event.key === "k")) {
    const by = event.key === "j" ? 1 : -1;
    list.move(list.active + by);
    if (reader.element.contains(document.activeElement) && list.rows.length)
      list.open(list.rows[list.active]);
    else list.element.focus();
  } else if (!isTyping && event.key === "b" && reader.rows.length) {
    reader.addBeside();
  }
}

start().catch((error) => {
  document
    .getElementById("content")
    .replaceChildren(make("p", {}, `The report cannot be shown: ${error.message}`));
  throw error;
});
