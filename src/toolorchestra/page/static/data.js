// The blocks of compressed data at the end of the file, unpacked when they are wanted.

const HELD_CHUNKS = 12;
const held = new Map();

async function unpack(id) {
  const text = document.getElementById(id).textContent;
  const bytes = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(text)
    : Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function chunk(number) {
  const found = held.get(number) ?? unpack(`chunk-${number}`);
  held.delete(number);
  held.set(number, found);
  if (held.size > HELD_CHUNKS) held.delete(held.keys().next().value);
  return found;
}

// The whole trajectory of a row of the list, its episode with it.
async function body(index, row) {
  const { episodes, rollouts } = await chunk(index.columns.chunk[row]);
  const rollout = rollouts[index.columns.position[row]];
  return { ...rollout, episode: episodes[rollout.episode] };
}

// All that is said in a trajectory, for searches.
function words(rollout, episode) {
  const said = [
    rollout.fault,
    rollout.answer,
    rollout.verdict?.reason,
    episode.preference.instruction,
  ];
  said.push(episode.task.question, episode.task.answer);
  for (const turn of rollout.turns) {
    said.push(turn.text, turn.thinking);
    said.push(...turn.errors.flatMap((error) => [error.message, error.text]));
    said.push(...calls(turn.calls), ...turn.results.map((result) => result.content));
    if (turn.user) {
      said.push(turn.user.text, ...calls(turn.user.calls));
      said.push(...turn.user.results.map((result) => result.content));
    }
  }
  return said.filter(Boolean).join("\n").toLowerCase();
}

function calls(list) {
  return list.map((call) => `${call.name} ${JSON.stringify(call.arguments)}`);
}

function grouped(list, key) {
  const groups = new Map();
  for (const item of list) {
    if (!groups.has(key(item))) groups.set(key(item), []);
    groups.get(key(item)).push(item);
  }
  return groups;
}
