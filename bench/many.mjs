import { makeAgentEvents } from './support/events.mjs';
import { CREATED, keyOf } from './support/many-sessions.mjs';
import { compareCosts, costFor, costOf, passes } from './support/measure.mjs';
import { SERVER_NAMES, withServer } from './support/server-sides.mjs';
import { STORE_NAMES, withSides } from './support/sides.mjs';

/** How many sessions the larger store has. */
const MANY = Number(process.env.BENCH_SESSIONS ?? 200_000);
const BURST_MS = 150;
const EXPIRED = 200;

export const title = `${MANY.toLocaleString('en')} sessions ("ours") beside ${CREATED.toLocaleString('en')} ("raw")`;

/** @param {{ stores?: string[] }} [selection] default: all of them */
export async function run({ stores = [...STORE_NAMES, ...SERVER_NAMES] } = {}) {
  const rows = [];
  for (const store of stores) rows.push(...((await rowsOf(store)) ?? []));
  return rows;
}

function rowsOf(store) {
  const place = STORE_NAMES.includes(store) ? withSides : withServer;
  return place(store, (few) => place(store, (many) => measured(store, many, few), 'filler'), 'filler');
}

async function measured(store, many, few) {
  const sides = { ours: { ...many, count: MANY }, raw: { ...few, count: CREATED } };
  for (const { ours, raw: filler, count } of Object.values(sides)) await filler.fill(ours, count);
  const row = async (what, work, count = passes(7)) => ({
    what: `${store}, ${what}`,
    unit: 'operations/s',
    ...(await compareCosts(count, (side) => work(sides[side]))),
  });
  return [
    await row('append to any session', ({ ours: { service }, count }) => {
      const events = makeAgentEvents(400);
      return costFor(BURST_MS, () => {
        const { sessionId: id, ...owner } = anyKey(count);
        return service.appendEvent({ session: { id, ...owner }, event: events.pop() ?? { author: 'user' } });
      });
    }),
    await row('get any session', ({ ours: { service }, count }) =>
      costFor(BURST_MS, () => service.getSession(anyKey(count))),
    ),
    await row('list the sessions of a user', ({ ours: { service }, count }) =>
      costFor(BURST_MS, () => {
        const { appName, userId } = anyKey(count);
        return service.listSessions({ appName, userId });
      }),
    ),
    await row('list 20 sessions of the app', ({ ours: { service } }) =>
      costFor(BURST_MS, () => service.listSessions({ appName: keyOf(0).appName, limit: 20 })),
    ),
    await row(
      `purge ${EXPIRED} expired sessions`,
      async ({ ours, raw: filler }) => {
        await filler.expire(ours, EXPIRED);
        return costOf(EXPIRED, () => ours.service.purgeExpired());
      },
      passes(3),
    ),
  ];
}

function anyKey(count) {
  return keyOf(Math.floor(Math.random() * count));
}
