// One trajectory from its question to its verdict.

const MOST_SHOWN = 6000; // characters of a text before it is folded

function article(index, row, trajectory, { runs, isColoured }) {
  const source = index.sources[index.columns.source[row]];
  const run = runs[source.run];
  const { episode } = trajectory;
  return [
    make(
      "header",
      {},
      make("h2", { tabindex: -1 }, runs.length > 1 && letter(run), rowTitle(index, row)),
      outcome(trajectory),
    ),
    make(
      "dl",
      { class: "task" },
      pair(`question (${episode.task.skill})`, long(episode.task.question)),
      pair(`wish (${episode.preference.kind})`, [
        long(episode.preference.instruction || "none"),
        weights(episode.preference),
      ]),
      pair("right answer", long(episode.task.answer)),
      pair("answer given", trajectory.answer === null ? "none" : long(trajectory.answer)),
      pair("verdict", verdict(trajectory)),
      trajectory.fault && pair("fault", long(trajectory.fault)),
    ),
    score(trajectory),
    lazily(`Tools offered (${episode.tools.length}) and prices`, () => offered(episode)),
    isColoured &&
      (trajectory.why_no_logprobs
        ? make("p", { class: "note" }, trajectory.why_no_logprobs)
        : tokenLegend()),
    trajectory.turns.length
      ? make(
          "ol",
          { class: "turns" },
          trajectory.turns.map((turn, i) => turnOf(turn, i, isColoured)),
        )
      : make("p", {}, "No message was played."),
    asides(trajectory.asides),
    lazily("Episode as logged", () => make("pre", {}, JSON.stringify(episode, null, 1))),
  ];
}

function rowTitle(index, row) {
  const { step, sample, source, episode } = index.columns;
  const { policy, world } = index.sources[source[row]];
  const id = index.episodes[episode[row]][0];
  return step[row] === null
    ? `${policy}, ${world}: ${id}${sample[row] ? ` / ${sample[row]}` : ""}`
    : `step ${step[row]}: ${id} / ${sample[row]}`;
}

function pair(name, value) {
  return [make("dt", {}, name), make("dd", {}, value)];
}

function outcome(trajectory) {
  const solved = trajectory.status === "void" ? null : (trajectory.verdict?.is_solved ?? null);
  const points = trajectory.score
    ? `reward ${fixed(trajectory.score.reward, 3)}`
    : `utility ${fixed(trajectory.utility, 3)}`;
  const amounts = [
    cents(trajectory.cost_usd),
    seconds(trajectory.latency_s),
    humanly(trajectory.status),
    `${fixed(trajectory.wall_s, 1)} s here`,
  ];
  return make(
    "p",
    { class: "outcome" },
    solvedMark(solved),
    ` ${[solvedWord(solved), points, ...amounts].join(" · ")}`,
  );
}

function solvedMark(solved) {
  const [sign, kind] = solved === null ? ["○", "open"] : solved ? ["✓", "right"] : ["✗", "wrong"];
  return make("span", { class: `solved ${kind}`, "aria-hidden": "true" }, sign);
}

function solvedWord(solved) {
  return solved === null ? "not scored" : solved ? "solved" : "not solved";
}

function verdict({ verdict: found, status }) {
  if (!found) return status === "void" ? "none: the rollout is void" : "none was logged";
  const said = found.is_solved === null ? "undecided" : found.is_solved ? "right" : "wrong";
  return [`${said}, by ${found.decided_by}`, found.reason && long(found.reason)];
}

function weights({ outcome: right, cost, latency, tools }) {
  const parts = [
    `outcome ${right}`,
    `cost ${cost}`,
    `latency ${latency}`,
    ...Object.entries(tools).map(([name, weight]) => `${name} ${weight}`),
  ];
  return make("p", { class: "note" }, `P: ${parts.join(", ")}`);
}

function score({ score: found }) {
  if (!found) return null;
  const terms = Object.entries(found.terms);
  if (!terms.length) return null;
  return make(
    "p",
    { class: "terms" },
    "Reward terms: ",
    terms.map(([name, value], i) => [
      i ? " + " : "",
      make("span", {}, `${name} ${fixed(value, 3)}`),
    ]),
    ` = ${fixed(found.reward, 3)}`,
  );
}

function offered(episode) {
  const own = episode.policy_price;
  return tableOf({
    isPlain: true,
    heads: [
      "tool",
      "a typical call",
      "takes",
      "in ($/Mtok)",
      "out ($/Mtok)",
      "a call ($)",
      "told to the policy",
    ],
    note:
      `Prices of the schedule “${episode.pricing}”. ` +
      `The policy's own tokens: ${brief(own.usd_per_input_mtok)} in, ` +
      `${brief(own.usd_per_output_mtok)} out ($/Mtok).`,
    rows: episode.tools.map((tool) => [
      tool.shown_as,
      cents(tool.call_cost_usd),
      seconds(tool.latency_s),
      brief(tool.price.usd_per_input_mtok),
      brief(tool.price.usd_per_output_mtok),
      brief(tool.price.usd_per_call),
      tool.description,
    ]),
  });
}

function turnOf(turn, number, isColoured) {
  const facts = [
    `turn ${number + 1}`,
    `${count(turn.prompt_tokens)} tokens in, ${count(turn.num_tokens)} out`,
    cents(turn.policy_cost_usd),
    `weights ${turn.version}`,
    turn.finish_reason === "length" && "cut at the token limit",
  ].filter(Boolean);
  const isThoughtApart = turn.thinking && !turn.text.includes(turn.thinking);
  return make(
    "li",
    {},
    make("p", { class: "facts" }, facts.join(" · ")),
    isThoughtApart && make("div", { class: "thinking" }, long(turn.thinking)),
    isColoured && turn.tokens
      ? coloured(turn.tokens)
      : long(turn.text || "(an empty message)", "message"),
    turn.errors.map((error) =>
      make(
        "div",
        { class: "result fault" },
        make("p", { class: "facts" }, `no valid call: ${error.message}`),
        long(error.text),
      ),
    ),
    exchanges(turn.calls, turn.results, ""),
    turn.user &&
      make(
        "div",
        { class: "user" },
        make("p", { class: "facts" }, turn.user.is_last ? "user, and leaves" : "user"),
        exchanges(turn.user.calls, turn.user.results, "user: "),
        turn.user.text && long(turn.user.text),
      ),
  );
}

// Each call with its result; results that answer no call that was logged after them.
function exchanges(made, given, who) {
  const left = new Map(given.map((result) => [result.call_id, result]));
  const parts = made.map((call) => {
    const result = left.get(call.id);
    left.delete(call.id);
    return make(
      "div",
      { class: resultClass(result) },
      make("p", { class: "call" }, `${who}${call.name}(${JSON.stringify(call.arguments)})`),
      result ? resultOf(result) : make("p", { class: "facts" }, "no result was logged"),
    );
  });
  return [
    parts,
    [...left.values()].map((result) =>
      make(
        "div",
        { class: resultClass(result) },
        make("p", { class: "call" }, result.name),
        resultOf(result),
      ),
    ),
  ];
}

function resultClass(result) {
  return result && result.status.endsWith("error") ? "result fault" : "result";
}

function resultOf({ status, cost_usd: usd, latency_s: time, usage: used, content, metadata }) {
  const facts = [
    humanly(status),
    cents(usd),
    seconds(time),
    (used.input_tokens || used.output_tokens) > 0 &&
      `${count(used.input_tokens)} tokens in, ${count(used.output_tokens)} out` +
        (used.is_estimated ? " (estimated)" : ""),
  ];
  const more = Object.keys(metadata);
  return [
    make("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
    long(content || "(nothing)"),
    more.length > 0 &&
      lazily(`More of this result: ${more.join(", ")}`, () =>
        long(JSON.stringify(metadata, null, 1)),
      ),
  ];
}

function asides(entries) {
  if (!entries.length) return null;
  return tableOf({
    caption: "Paid for beside the policy",
    isPlain: true,
    heads: ["for", "who", "turn", "price", "time"],
    rows: entries.map((entry) => [
      entry.kind,
      entry.name,
      String(entry.turn + 1),
      cents(entry.cost_usd),
      seconds(entry.latency_s),
    ]),
  });
}

// A text with its line breaks; a very long one is folded.
function long(text, kind = "") {
  const box = make("pre", { class: `text ${kind}`, dir: "auto" });
  if (text.length <= MOST_SHOWN) {
    put(box, text);
    return box;
  }
  put(box, text.slice(0, MOST_SHOWN).replace(/[\ud800-\udbff]$/, ""));
  const button = make("button", { type: "button" }, `Show all ${count(text.length)} characters`);
  button.addEventListener("click", () => {
    box.replaceChildren(...shown(text));
    button.remove();
  });
  return [box, button];
}
