// Which trajectories are listed: words, choices, order.

const ORDERS = {
  logged: "as logged",
  "points-": "highest reward or utility",
  "points+": "lowest reward or utility",
  "cents-": "most cents",
  "cents+": "fewest cents",
  "seconds-": "longest",
  "turns-": "most turns",
  "faults-": "most malformed calls",
};

class Filter {
  // changed: hears the rows that are left.
  constructor({ index, runs, changed }) {
    Object.assign(this, { index, runs, changed, scan: 0, texts: null });
    this.search = make("input", {
      type: "search",
      id: "search",
      placeholder: "Search",
      "aria-label": "Search trajectories",
      autocomplete: "off",
      spellcheck: "false",
    });
    this.isWhole = make("input", { type: "checkbox", id: "whole" });
    this.found = make("p", { class: "found", role: "status" });
    this.selects = this.makeSelects();
    const apply = () => this.apply();
    this.search.addEventListener("input", apply);
    this.isWhole.addEventListener("change", apply);
    Object.values(this.selects).forEach((select) => select.addEventListener("change", apply));
    const fields = Object.entries(this.selects).map(([name, select]) =>
      make("label", {}, make("span", {}, name), select),
    );
    const reset = make("button", { type: "button", on: { click: () => this.reset() } }, "Reset");
    this.element = make(
      "form",
      { class: "filter", role: "search", on: { submit: (event) => event.preventDefault() } },
      make(
        "div",
        { class: "search" },
        this.search,
        make("label", { for: "whole" }, this.isWhole, " in whole texts"),
      ),
      make(
        "details",
        {},
        make("summary", {}, "Filter and order"),
        make("div", { class: "fields" }, fields, reset),
      ),
      this.found,
    );
    if (matchMedia("(min-width: 900px)").matches) this.element.querySelector("details").open = true;
  }

  makeSelects() {
    const { sources: from, episodes, statuses, tools } = this.index;
    const kinds = (place) => [...new Set(episodes.map((episode) => episode[place]))].sort();
    const numbered = (names) => names.map((name, i) => [String(i), humanly(name)]);
    const named = (names) => names.map((name) => [`=${name}`, name]);
    const selects = {
      played: from.map((source, i) => [
        String(i),
        sourceLabel(this.runs[source.run], source, this.runs.length > 1),
      ]),
      outcome: [
        ["1", "solved"],
        ["0", "not solved"],
        ["null", "not scored"],
      ],
      skill: named(kinds(1)),
      wish: named(kinds(2)),
      ended: numbered(statuses),
      called: numbered(tools),
      calls: [
        ["faulty", "with malformed calls"],
        ["none", "without calls"],
      ],
    };
    const made = {};
    for (const [name, choices] of Object.entries(selects)) {
      made[name] = make("select");
      options(made[name], [["", "all"], ...choices], "");
    }
    made.order = make("select");
    options(made.order, Object.entries(ORDERS), "logged");
    return made;
  }

  reset() {
    this.search.value = "";
    this.isWhole.checked = false;
    for (const [name, select] of Object.entries(this.selects))
      select.value = name === "order" ? "logged" : "";
    this.apply();
    this.search.focus();
  }

  async apply() {
    const scan = ++this.scan; // a newer one ends this one
    const query = this.search.value.trim().toLowerCase();
    const rows = this.sorted(this.chosen());
    if (!query) return this.tell(rows);
    if (!this.isWhole.checked)
      return this.tell(
        rows.filter((row) => query.split(/\s+/).every((word) => this.text(row).includes(word))),
      );
    const found = [];
    const byChunk = grouped(rows, (row) => this.index.columns.chunk[row]);
    let done = 0;
    for (const [number, members] of byChunk) {
      const { episodes, rollouts } = await chunk(number);
      if (scan !== this.scan) return;
      for (const row of members) {
        const rollout = rollouts[this.index.columns.position[row]];
        if (words(rollout, episodes[rollout.episode]).includes(query)) found.push(row);
      }
      if (++done < byChunk.size)
        this.found.textContent = `searching, ${Math.round((100 * done) / byChunk.size)} %`;
    }
    this.tell(this.sorted(found));
  }

  tell(rows) {
    const all = this.index.columns.source.length;
    this.found.textContent =
      rows.length === all
        ? plural(all, "trajectory", "trajectories")
        : `${count(rows.length)} of ${plural(all, "trajectory", "trajectories")}`;
    this.changed(rows);
  }

  chosen() {
    const columns = this.index.columns;
    const {
      played,
      outcome: solved,
      skill,
      wish,
      ended,
      called,
      calls: made,
    } = Object.fromEntries(
      Object.entries(this.selects).map(([name, select]) => [name, select.value]),
    );
    const keep = (row) => {
      const [, ownSkill, ownWish] = this.index.episodes[columns.episode[row]];
      return (
        (!played || columns.source[row] === Number(played)) &&
        (!solved || String(columns.solved[row]) === solved) &&
        (!skill || `=${ownSkill}` === skill) &&
        (!wish || `=${ownWish}` === wish) &&
        (!ended || columns.status[row] === Number(ended)) &&
        (!called || columns.tools[row].includes(Number(called))) &&
        (!made || (made === "faulty" ? columns.faults[row] > 0 : columns.calls[row] === 0))
      );
    };
    return columns.source.map((_, row) => row).filter(keep);
  }

  sorted(rows) {
    const order = this.selects.order.value;
    if (order === "logged") return rows.sort((a, b) => a - b);
    const [column, sign] = [this.index.columns[order.slice(0, -1)], order.endsWith("-") ? -1 : 1];
    const last = sign * Infinity; // what was not scored comes last, either way
    return rows.sort((a, b) => {
      const [x, y] = [column[a] ?? last, column[b] ?? last];
      return x === y ? a - b : sign * (x - y);
    });
  }

  // What the list itself says of a row.
  text(row) {
    this.texts ??= [];
    return (this.texts[row] ??= [
      ...this.index.episodes[this.index.columns.episode[row]],
      this.index.columns.answer[row],
      rowTitle(this.index, row),
      ...this.index.columns.tools[row].map((tool) => this.index.tools[tool]),
    ]
      .join("\n")
      .toLowerCase());
  }
}
