import { makeEvents } from './support/events.mjs';
import { compare, passes, rateOf } from './support/measure.mjs';
import { STORE_NAMES, withSides } from './support/sides.mjs';

export const title = 'Parallel appends: 64 at any time';

const WRITERS = 64;
const EVENTS_EACH = 10;

export async function run() {
  const rows = [];
  for (const store of STORE_NAMES) {
    rows.push({ what: `${store}, 64 sessions`, unit: 'events/s', ...(await parallel(store, WRITERS)) });
    rows.push({ what: `${store}, one session`, unit: 'events/s', ...(await parallel(store, 1)) });
  }
  return rows;
}

/** Every pass appends to new sessions, so that none starts with a longer one. */
function parallel(store, sessionCount) {
  const events = makeEvents(WRITERS * EVENTS_EACH);
  const shares = Array.from({ length: WRITERS }, (_, writer) =>
    events.slice(writer * EVENTS_EACH, (writer + 1) * EVENTS_EACH),
  );
  return withSides(store, (sides) =>
    compare(passes(7), async (name, pass) => {
      const side = sides[name];
      const sessions = [];
      for (let number = 0; number < sessionCount; number++) sessions.push(await side.create(`pass-${pass}-${number}`));
      return rateOf(events.length, () =>
        Promise.all(shares.map((share, writer) => appendAll(side, sessions[writer % sessionCount], share))),
      );
    }),
  );
}

async function appendAll(side, session, events) {
  for (const event of events) await side.append(session, event);
}
