// The opened trajectory, and others of the same episode beside it.

const MOST_COLUMNS = 4;

class Reader {
  // go: opens the trajectories of these rows, by way of the page's address; leave: back to the list.
  constructor({ index, runs, go, leave }) {
    Object.assign(this, { index, runs, go, leave, rows: [], isColoured: false, turn: 0 });
    this.element = make("div", { class: "reader", role: "region", "aria-label": "Trajectory" });
    this.byEpisode = new Map();
    index.columns.episode.forEach((episode, row) => {
      if (!this.byEpisode.has(episode)) this.byEpisode.set(episode, []);
      this.byEpisode.get(episode).push(row);
    });
    this.show([]);
  }

  async show(rows, { isFocused = false } = {}) {
    this.rows = rows;
    const turn = ++this.turn; // another may be opened while this one unpacks
    if (!rows.length) {
      this.element.replaceChildren(
        make("p", { class: "empty" }, "Choose a trajectory: arrow keys or j and k, then Enter."),
      );
      return;
    }
    const found = await Promise.all(rows.map((row) => body(this.index, row)));
    if (turn !== this.turn) return;
    const columns = found.map((trajectory, i) => this.column(rows[i], trajectory, i));
    this.element.replaceChildren(
      this.bar(),
      make("div", { class: `columns n${columns.length}` }, columns),
    );
    this.element.scrollTop = 0;
    say(`${rowTitle(this.index, rows[0])} is open`);
    if (isFocused) this.element.querySelector("h2").focus({ preventScroll: true });
  }

  bar() {
    const toggle = make("input", { type: "checkbox", id: "coloured" });
    toggle.checked = this.isColoured;
    toggle.addEventListener("change", async () => {
      this.isColoured = toggle.checked;
      await this.show(this.rows);
      document.getElementById("coloured").focus();
    });
    return make(
      "div",
      { class: "bar-of-reader" },
      make(
        "button",
        { type: "button", class: "back", on: { click: this.leave } },
        "Back to the list",
      ),
      this.besideSelect(),
      make("label", { for: "coloured" }, toggle, " colour tokens by log-probability"),
    );
  }

  besideSelect() {
    const others = this.others();
    if (!others.length || this.rows.length === MOST_COLUMNS) return null;
    const select = make("select", { id: "beside" });
    options(
      select,
      [
        ["", "another of the same episode…"],
        ...others.map((row) => [String(row), this.label(row)]),
      ],
      "",
    );
    select.addEventListener(
      "change",
      () => select.value && this.go([...this.rows, Number(select.value)]),
    );
    return make("span", {}, make("label", { for: "beside" }, "Beside it: "), select);
  }

  // Of the same episode, the likeliest to be wanted first: the same policy and sample of another run.
  others() {
    const { source, sample, step, episode } = this.index.columns;
    const first = this.rows[0];
    const own = this.index.sources[source[first]];
    const distance = (row) => {
      const other = this.index.sources[source[row]];
      return (
        8 * (other.run === own.run) +
        4 * (other.policy !== own.policy) +
        2 * (step[row] !== step[first]) +
        (sample[row] !== sample[first])
      );
    };
    const same = this.byEpisode.get(episode[first]).filter((row) => !this.rows.includes(row));
    return same.sort((a, b) => distance(a) - distance(b) || a - b);
  }

  // Opens the first of the others beside what is open.
  addBeside() {
    const [other] = this.others();
    if (other === undefined) say("No other trajectory has this episode");
    else if (this.rows.length < MOST_COLUMNS) this.go([...this.rows, other]);
  }

  label(row) {
    const { source, solved, points } = this.index.columns;
    const run = this.runs[this.index.sources[source[row]].run];
    const name =
      this.runs.length > 1
        ? `${run.letter}, ${rowTitle(this.index, row)}`
        : rowTitle(this.index, row);
    const isSolved = solved[row] === null ? null : Boolean(solved[row]);
    return `${name} (${solvedWord(isSolved)}, ${fixed(points[row], 2)})`;
  }

  column(row, trajectory, number) {
    const close = make(
      "button",
      {
        type: "button",
        class: "close",
        "aria-label": `Close ${rowTitle(this.index, row)}`,
        on: { click: () => this.go(this.rows.filter((_, i) => i !== number)) },
      },
      "×",
    );
    return make(
      "article",
      { class: "trajectory" },
      this.rows.length > 1 && close,
      article(this.index, row, trajectory, { runs: this.runs, isColoured: this.isColoured }),
    );
  }
}
