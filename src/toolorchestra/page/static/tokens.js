// A message token by token, each coloured by how unlikely it was when it was sampled.

const STEPS_OF_P = [0.9, 0.5, 0.2, 0.05, 0.01]; // below each, a stronger colour

function degree(logprob) {
  const p = Math.exp(logprob);
  return STEPS_OF_P.filter((bound) => p < bound).length;
}

function coloured({ texts, logprobs }) {
  return make(
    "pre",
    { class: "message tokens", dir: "auto" },
    texts.map((text, i) =>
      make(
        "span",
        {
          class: `p${degree(logprobs[i])}`,
          title: `p = ${brief(Math.exp(logprobs[i]))}, log p = ${fixed(logprobs[i], 3)}`,
        },
        text,
      ),
    ),
  );
}

function tokenLegend() {
  const bounds = [1, ...STEPS_OF_P];
  return make(
    "p",
    { class: "legend" },
    "Probability when sampled: ",
    bounds.map((bound, i) =>
      make("span", { class: `p${i}` }, i === 0 ? ` ≥ ${STEPS_OF_P[0]} ` : ` < ${bound} `),
    ),
  );
}
