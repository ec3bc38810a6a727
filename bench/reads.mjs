import { makeEvents } from './support/events.mjs';
import { compare, passes, rateFor } from './support/measure.mjs';
import { STORE_NAMES, withSides } from './support/sides.mjs';

export const title = 'Reads, one after the other';

const BURST_MS = 100;
const NEWEST = 20;
const SESSIONS = 1_000;
const PAGE = 100;

export async function run() {
  const rows = [];
  for (const store of STORE_NAMES) rows.push(...(await sessionReads(store)), await firstPage(store));
  return rows;
}

function sessionReads(store) {
  return withSides(store, async ({ ours, raw }) => {
    const [short, long] = await filled({ ours, raw }, { short: 1_000, long: 10_000 });
    const shortening = ours.withHistory({ maxEvents: NEWEST });
    const rawNewest = () => raw.readNewest(long.raw, NEWEST);
    return [
      await row(`${store}, all of 1,000 events`, {
        ours: () => ours.readAll(short.ours),
        raw: () => raw.readAll(short.raw),
      }),
      await row(`${store}, last ${NEWEST} of 10,000 by request`, {
        ours: () => ours.readNewest(long.ours, NEWEST),
        raw: rawNewest,
      }),
      await row(`${store}, last ${NEWEST} of 10,000 by maxEvents`, {
        ours: () => shortening.readAll(long.ours),
        raw: rawNewest,
      }),
    ];
  });
}

function firstPage(store) {
  return withSides(store, async ({ ours, raw }) => {
    const ids = Array.from({ length: SESSIONS }, (_, number) => `session-${number}`);
    for (const side of [ours, raw]) await Promise.all(ids.map((id) => side.create(id)));
    return row(`${store}, first ${PAGE} of 1,000 sessions`, { ours: () => ours.list(PAGE), raw: () => raw.list(PAGE) });
  });
}

async function row(what, operations) {
  const comparison = await compare(passes(9), (side) => rateFor(BURST_MS, operations[side]));
  return { what, unit: 'reads/s', ...comparison };
}

/** Sessions of the given lengths, the same on both sides. */
async function filled(sides, lengths) {
  const sessions = [];
  for (const [sessionId, length] of Object.entries(lengths)) {
    const session = { ours: await sides.ours.create(sessionId), raw: await sides.raw.create(sessionId) };
    const events = makeEvents(length);
    for (const side of ['ours', 'raw']) await sides[side].fill(session[side], events);
    sessions.push(session);
  }
  return sessions;
}
