// Tables of figures with intervals; those of several runs as one, a column each under each measure.

const EMPHASISED = new Set(["trained", "policy"]); // the policy that a run is about

// What scrolls can be reached by keyboard; what does not is passed over.
const SCROLLERS = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

// rows: arrays of cells; a cell is a text, a number, {value, low, high}, null or an element.
// groups: columns that are shown with as many digits as one another.
function tableOf({ caption, note, heads, rows, isPlain, groups = heads.map((_, i) => i) }) {
  const digits = groups.map((group) =>
    digitsOf(rows.flatMap((row) => row.filter((_, i) => groups[i] === group))),
  );
  const isText = heads.map((_, i) => rows.every((row) => typeof row[i] === "string"));
  const head = make(
    "tr",
    {},
    heads.map((name, i) =>
      make("th", { scope: "col", class: isText[i] ? "text" : "figure" }, name),
    ),
  );
  const lines = rows.map((row) =>
    make(
      "tr",
      { class: !isPlain && row.some((cell) => EMPHASISED.has(cell)) && "emphasised" },
      row.map((cell, i) =>
        make(
          i === 0 ? "th" : "td",
          { scope: i === 0 && "row", class: isText[i] ? "text" : "figure" },
          cellOf(cell, digits[i]),
        ),
      ),
    ),
  );
  const table = make(
    "table",
    {},
    caption && make("caption", {}, caption),
    make("thead", {}, head),
    make("tbody", {}, lines),
  );
  const scroller = make(
    "div",
    { class: "scroll", role: "region", "aria-label": caption ?? "table" },
    table,
  );
  SCROLLERS.observe(scroller);
  return make("div", { class: "table" }, scroller, note && make("p", { class: "note" }, note));
}

// Tables beside one another where there is room.
function flow(...tables) {
  return make("div", { class: "flow" }, tables);
}

function cellOf(cell, digits) {
  if (cell === null || cell === undefined) return ABSENT;
  if (cell instanceof Node || typeof cell === "string") return cell;
  if (typeof cell === "number") return fixed(cell, digits);
  const { value, low, high } = cell;
  if (low === null || high === null) return `${fixed(value, digits)} ± ∞`;
  const arm = make(
    "span",
    { class: "arm" },
    ` ±${fixed(Math.max(high - value, value - low), digits)}`,
  );
  return make(
    "span",
    { title: `${fixed(low, digits)} to ${fixed(high, digits)}` },
    fixed(value, digits),
    arm,
  );
}

function digitsOf(cells) {
  const values = cells.map(valueOf).filter((value) => value !== null);
  if (
    cells.every((cell) => typeof cell !== "object" || cell === null) &&
    values.every(Number.isInteger)
  )
    return 0;
  const most = Math.max(...values.map(Math.abs), 0);
  return most >= 1000 ? 0 : most >= 10 ? 1 : 3;
}

// The tables of all runs: one run's as they are, those of the same title in several side by side.
function mergedTables(runs) {
  const byTitle = new Map();
  for (const run of runs) {
    for (const table of run.tables) {
      if (!table?.rows?.length) continue;
      const key = table.title.replace(/\d+/g, "#");
      if (!byTitle.has(key)) byTitle.set(key, []);
      byTitle.get(key).push({ run, table });
    }
  }
  return [...byTitle.values()].map((found) =>
    runs.length === 1 ? alone(found[0].table) : sideBySide(found),
  );
}

function alone({ title, note, rows }) {
  const heads = Object.keys(rows[0]);
  return { caption: title, note, heads, rows: rows.map((row) => heads.map((name) => row[name])) };
}

function sideBySide(found) {
  const all = found.flatMap(({ table }) => table.rows);
  const names = [...new Set(all.flatMap(Object.keys))];
  const isKey = (name) => all.every((row) => typeof row[name] === "string");
  const keys = names.filter(isKey);
  const measures = names.filter((name) => !keys.includes(name));
  const identity = (row) => JSON.stringify(keys.map((name) => row[name]));
  const rows = [...new Map(all.map((row) => [identity(row), row])).values()];
  const lookups = found.map(({ table }) => new Map(table.rows.map((row) => [identity(row), row])));
  const titles = [...new Set(found.map(({ table }) => table.title))];
  const told = found.map(({ run, table }) => `${run.letter}: ${table.title}`);
  return {
    caption: titles.length === 1 ? titles[0] : told.join("; "),
    note: found[0].table.note,
    heads: [
      ...keys,
      ...measures.flatMap((name) => found.map(({ run }) => `${name} ${run.letter}`)),
    ],
    groups: [...keys, ...measures.flatMap((name) => found.map(() => name))],
    rows: rows.map((row) => [
      ...keys.map((name) => row[name]),
      ...measures.flatMap((name) =>
        lookups.map((lookup) => lookup.get(identity(row))?.[name] ?? null),
      ),
    ]),
  };
}
