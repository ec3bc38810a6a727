import { makeAgentEvents } from './events.mjs';
import { costFor } from './measure.mjs';

/** How long each side works before the first pass. Until then, most of its code is not compiled yet. */
const WARM_UP_MS = 5_000;

/** Both sides the same time, since a server runs for days. */
export async function warmUp(sides, operationOf) {
  for (const side of ['ours', 'raw']) await costFor(WARM_UP_MS, await operationOf(side));
}

/** Appends of `count` sessions at once, again and again. */
export async function appendsTo(side, sides, count) {
  const sessions = [];
  for (let number = 0; number < count; number++)
    sessions.push(await sides[side].create(`${side}-warm-${count}-${number}`));
  return () => {
    const events = makeAgentEvents(count);
    return Promise.all(sessions.map((session, index) => sides[side].append(session, events[index])));
  };
}
