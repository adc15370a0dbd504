// What trajectories add up to: by skill and preference, by tool, by price, and how they failed.

const MEASURES = {
  accuracy: "accuracy",
  points: "reward (training) or utility U",
  cents: "cents",
  seconds: "seconds",
  num: "trajectories",
};

function sources(runs) {
  return runs.flatMap((run) =>
    run.sums.map((sums) => ({
      ...sums,
      run,
      label: policyLabel(run, sums, runs.length > 1),
    })),
  );
}

function policyLabel(run, { policy }, isLettered) {
  const name = policy === "training" ? "in training" : policy;
  return isLettered ? `${run.letter} ${name}` : name;
}

function sourceLabel(run, source, isLettered) {
  const name = policyLabel(run, source, isLettered);
  return source.policy === "training" ? name : `${name}, ${source.world}`;
}

function usage(runs) {
  const all = inOrder(sources(runs));
  if (!all.length) return null;
  return [
    make("section", { id: "breakdown" }, make("h2", {}, "By skill and preference"), breakdown(all)),
    make(
      "section",
      { id: "tools" },
      make("h2", {}, "Tools and costs"),
      flow(toolShares(all), costs(all)),
    ),
    make("section", { id: "faults" }, make("h2", {}, "Faults"), flow(faults(all))),
  ];
}

// By world and policy as they were played; the same policy of several runs in neighbouring rows.
function inOrder(all) {
  const worlds = [...new Set(all.map((source) => source.world))];
  const policies = [...new Set(all.map((source) => source.policy))];
  const place = ({ world, policy, run }) =>
    1e6 * worlds.indexOf(world) + 1e3 * policies.indexOf(policy) + run.number;
  return all.sort((a, b) => place(a) - place(b));
}

function breakdown(all) {
  const out = flow();
  const select = make("select", { id: "measure" });
  options(select, Object.entries(MEASURES), "accuracy");
  const fill = () =>
    out.replaceChildren(
      ...byWorld(all).flatMap(([world, own]) =>
        ["skill", "preference"].map((key) => byKind(own, key, select.value, world)),
      ),
    );
  select.addEventListener("change", fill);
  fill();
  return [
    make("p", {}, make("label", { for: "measure" }, "Measure "), select),
    out,
    make(
      "p",
      { class: "note" },
      "Over the logged trajectories that were scored. Accuracy of an evaluation has Wilson's " +
        "95 % interval; in training the rollouts of a group share an episode, so that none is given.",
    ),
  ];
}

function byWorld(all) {
  return [...grouped(all, (source) => source.world)];
}

function byKind(all, key, measure, world) {
  const kinds = [...new Set(all.flatMap((source) => Object.keys(source.by[key])))].sort();
  return tableOf({
    caption: `${world} world: ${MEASURES[measure]} by ${key}`,
    heads: ["policy", "all", ...kinds],
    rows: all.map((source) => [
      source.label,
      source.whole[measure] ?? null,
      ...kinds.map((kind) => source.by[key][kind]?.[measure] ?? null),
    ]),
  });
}

// A row for each item, a column for each policy, most used first.
function byItem(all, { caption, note, first, items, amount, show }) {
  const total = (item) => sumOver(all, (source) => amount(source, item));
  const sorted = [...new Set(all.flatMap(items))].sort((a, b) => total(b) - total(a));
  return (
    sorted.length > 0 &&
    tableOf({
      caption,
      note,
      heads: [first, ...all.map((source) => source.label)],
      rows: [
        [
          "all",
          ...all.map((source) => show.all(sumOver(items(source), (item) => amount(source, item)))),
        ],
        ...sorted.map((item) => [
          item === "policy" ? "the policy's own tokens" : item,
          ...all.map((source) => show.one(amount(source, item), source, item)),
        ]),
      ],
    })
  );
}

function toolShares(all) {
  const total = (source) =>
    sumOver(Object.values(source.calls).flatMap(Object.values), (number) => number);
  const amount = (source, tool) =>
    sumOver(Object.values(source.calls[tool] ?? {}), (number) => number);
  return byWorld(all).map(([world, own]) =>
    byItem(own, {
      caption: `${world} world: calls by tool`,
      first: "tool",
      note:
        "The first row counts calls; each column's shares add up to 100 %. Refused calls (malformed, " +
        "or impossible) count for the tool that they name, if it was offered.",
      items: (source) => Object.keys(source.calls),
      amount,
      show: {
        all: (number) => make("span", {}, count(number)),
        one: (number, source) => bar(total(source) ? number / total(source) : 0),
      },
    }),
  );
}

function costs(all) {
  return byWorld(all).map(([world, own]) =>
    byItem(own, {
      caption: `${world} world: cents an episode, by what was paid for`,
      first: "paid for",
      note: "Judges and users are paid for beside the policy, and count for no reward.",
      items: (source) => Object.keys(source.cost_usd),
      amount: (source, item) => (100 * (source.cost_usd[item] ?? 0)) / source.whole.num,
      show: {
        all: (amount) => make("span", {}, fixed(amount, 3)),
        one: (amount, source, item) =>
          make(
            "span",
            {},
            !(item in source.cost_usd)
              ? ABSENT
              : amount > 0 && amount < 5e-4
                ? "<0.001"
                : fixed(amount, 3),
          ),
      },
    }),
  );
}

function sumOver(list, value) {
  return list.reduce((sum, item) => sum + value(item), 0);
}

// A share as a figure over a bar.
function bar(share) {
  const picture = draw(
    "svg",
    { viewBox: "0 0 100 4", preserveAspectRatio: "none", class: "bar", "aria-hidden": "true" },
    draw("rect", { width: 100 * share, height: 4 }),
  );
  return make("span", { class: share ? "share" : "share none" }, percent(share), picture);
}

function faults(all) {
  const statuses = [...new Set(all.flatMap((source) => Object.keys(source.statuses)))];
  const ends = [
    ...new Set(all.flatMap((source) => Object.values(source.calls).flatMap(Object.keys))),
  ];
  const ended = (source, end) => sumOver(Object.values(source.calls), (calls) => calls[end] ?? 0);
  const label = (source) =>
    sourceLabel(
      source.run,
      source,
      all.some((other) => other.run !== source.run),
    );
  const messages = all.flatMap((source) =>
    Object.entries(source.faults).flatMap(([kind, found]) =>
      found.map(([text, number]) => [label(source), kind, text, number]),
    ),
  );
  return [
    tableOf({
      caption: "How trajectories ended",
      note:
        "Void: the infrastructure failed; unscored: no verdict. Neither counts as wrong. " +
        "Training logs scored rollouts alone; the metrics drops/… count the others.",
      heads: ["policy", "trajectories", "unscored or void", ...statuses],
      rows: all.map((source) => [
        label(source),
        source.whole.num,
        source.whole.num - source.whole.scored,
        ...statuses.map((status) => source.statuses[status] ?? 0),
      ]),
    }),
    ends.length > 0 &&
      tableOf({
        caption: "How calls ended",
        heads: ["policy", ...ends.map(humanly)],
        rows: all.map((source) => [label(source), ...ends.map((end) => ended(source, end))]),
      }),
    messages.length > 0
      ? lazily(`Messages of faults (${messages.length})`, () =>
          tableOf({
            caption: "Most frequent messages",
            heads: ["policy", "kind", "message", "times"],
            rows: messages,
            isPlain: true,
          }),
        )
      : make(
          "p",
          { class: "note" },
          "No trajectory is void or unscored, and no call was malformed.",
        ),
  ];
}

function humanly(word) {
  return word.replaceAll("_", " ");
}
