// The list of trajectories. Only the rows in view exist, so that any number can be listed.

const ROW_PX = 58;
const BEYOND = 6; // rows kept above and below what is in view

class List {
  // open: hears the row that was chosen.
  constructor({ index, runs, open }) {
    Object.assign(this, { index, runs, open, rows: [], active: 0, opened: new Set() });
    this.spacer = make("div", { class: "spacer", role: "presentation" });
    this.element = make(
      "div",
      {
        class: "list",
        role: "listbox",
        tabindex: 0,
        "aria-label": "Trajectories",
        on: {
          scroll: () => this.later(),
          keydown: (event) => this.press(event),
          click: (event) => this.click(event),
        },
      },
      this.spacer,
    );
    new ResizeObserver(() => this.later()).observe(this.element);
  }

  set(rows) {
    this.rows = rows;
    this.active = 0;
    this.element.scrollTop = 0;
    this.render();
  }

  markOpened(rows) {
    this.opened = new Set(rows);
    const place = this.rows.indexOf(rows[0]);
    if (place >= 0) this.move(place);
    else this.render();
  }

  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.render();
    });
  }

  render() {
    const { scrollTop, clientHeight } = this.element;
    const from = Math.max(0, Math.floor(scrollTop / ROW_PX) - BEYOND);
    const to = Math.min(this.rows.length, Math.ceil((scrollTop + clientHeight) / ROW_PX) + BEYOND);
    this.spacer.style.height = `${this.rows.length * ROW_PX}px`;
    const made = [];
    for (let place = from; place < to; place++) made.push(this.row(place));
    this.spacer.replaceChildren(...made);
    if (!this.rows.length)
      this.spacer.replaceChildren(
        make(
          "p",
          { class: "empty" },
          this.index.columns.source.length ? "None is like this." : "No trajectory was logged.",
        ),
      );
    if (this.active >= from && this.active < to)
      this.element.setAttribute("aria-activedescendant", `row-${this.active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  row(place) {
    const row = this.rows[place];
    const {
      source,
      step,
      sample,
      episode,
      solved,
      points,
      cents: price,
      seconds: time,
      faults: bad,
    } = this.index.columns;
    const from = this.index.sources[source[row]];
    const [, skill, wish, question] = this.index.episodes[episode[row]];
    const isSolved = solved[row] === null ? null : Boolean(solved[row]);
    const who =
      step[row] === null ? `${from.policy}, ${from.world}` : `step ${step[row]} / ${sample[row]}`;
    const line = make(
      "div",
      {
        id: `row-${place}`,
        class: `row${place === this.active ? " active" : ""}${this.opened.has(row) ? " opened" : ""}`,
        role: "option",
        "aria-posinset": place + 1,
        "aria-setsize": this.rows.length,
        "aria-selected": this.opened.has(row) ? "true" : "false",
      },
      make(
        "p",
        { class: "first" },
        solvedMark(isSolved),
        make("span", { class: "only-heard" }, `${solvedWord(isSolved)}: `),
        make("bdi", {}, question),
      ),
      make(
        "p",
        { class: "second" },
        this.runs.length > 1 && letter(this.runs[from.run]),
        make(
          "span",
          { class: "who" },
          `${who} · ${skill} · ${wish}${bad[row] ? " · malformed" : ""}`,
        ),
        make("span", { class: "amount" }, fixed(points[row], 2)),
        make("span", { class: "amount" }, price[row] === null ? ABSENT : `${brief(price[row])} ¢`),
        make("span", { class: "amount" }, seconds(time[row])),
      ),
    );
    line.style.transform = `translateY(${place * ROW_PX}px)`;
    return line;
  }

  move(place) {
    this.active = Math.min(this.rows.length - 1, Math.max(0, place));
    const top = this.active * ROW_PX;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + ROW_PX > scrollTop + clientHeight)
      this.element.scrollTop = top + ROW_PX - clientHeight;
    this.render();
  }

  press(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_PX) - 1);
    const by = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    }[event.key];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (by !== undefined) {
      event.preventDefault();
      this.move(this.active + by);
    } else if (event.key === "Enter" && this.rows.length) {
      event.preventDefault();
      this.open(this.rows[this.active]);
    }
  }

  click(event) {
    const line = event.target.closest(".row");
    if (!line) return;
    this.active = Number(line.id.slice("row-".length));
    this.open(this.rows[this.active]);
  }
}
