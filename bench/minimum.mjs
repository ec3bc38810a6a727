import { measuredApart } from './footprint.mjs';
import { runAppends } from './rest.mjs';
import { makeAgentEvents } from './support/events.mjs';
import { compareCosts, costFor, costOf, passes } from './support/measure.mjs';
import { SERVER_NAMES, withServer } from './support/server-sides.mjs';
import { STORE_NAMES, withSides } from './support/sides.mjs';
import { appendsTo, warmUp } from './support/warm-up.mjs';

export const title = 'Beside the least that the driver can do, with tables or keys of its own';

const WRITERS = 64;
const NEWEST = 20;
const BURST_MS = 100;
const SESSIONS = 1_000;

/** How much a pass does: memory is faster by far. */
const SIZES = {
  memory: { appends: 2_000, each: 20, creates: 500 },
  other: { appends: 200, each: 6, creates: 60 },
};

/** The rows, by the names that `--only` takes. */
const ROWS = { append, parallel, newest, all, list, create };

/** @param {{ only?: string[], stores?: string[] }} [selection] rows and stores; default: all of them */
export async function run({ only, stores = [...STORE_NAMES, ...SERVER_NAMES] } = {}) {
  const isWanted = (name) => only === undefined || only.includes(name);
  const names = Object.keys(ROWS).filter(isWanted);
  const rows = [];
  for (const store of names.length > 0 ? stores : []) rows.push(...((await rowsOf(store, names)) ?? []));
  if (isWanted('memory') && stores.includes('memory')) rows.push(await footprint());
  if (isWanted('rest') && stores.includes('memory')) rows.push(...(await runAppends()));
  return rows;
}

function rowsOf(store, names) {
  const place = STORE_NAMES.includes(store) ? withSides : withServer;
  const work = async ({ ours, raw }) => {
    const sizes = store === 'memory' ? SIZES.memory : SIZES.other;
    const rows = [];
    for (const name of names) {
      const { what, ...costs } = await ROWS[name]({ ours, raw }, sizes);
      rows.push({ what: `${store}, ${what}`, unit: 'operations/s', ...costs });
    }
    if (raw.preparedRuns && (await raw.preparedRuns()) === 0) throw new Error(`${store} prepared no statement`);
    return rows;
  };
  return place(store, work, 'minimum');
}

async function append(sides, { appends }) {
  await warmUp(sides, (side) => appendsTo(side, sides, 1));
  const costs = await compareCosts(passes(9), async (side, pass) => {
    const session = await sides[side].create(`${side}-append-${pass}`);
    const events = makeAgentEvents(appends);
    return costOf(appends, () => appendAll(sides[side], session, events));
  });
  return { what: 'append, one after the other', ...costs };
}

async function parallel(sides, { each }) {
  await warmUp(sides, (side) => appendsTo(side, sides, WRITERS));
  const costs = await compareCosts(passes(9), async (side, pass) => {
    const shares = [];
    for (let writer = 0; writer < WRITERS; writer++) {
      const session = await sides[side].create(`${side}-parallel-${pass}-${writer}`);
      shares.push({ session, events: makeAgentEvents(each) });
    }
    return costOf(WRITERS * each, () =>
      Promise.all(shares.map(({ session, events }) => appendAll(sides[side], session, events))),
    );
  });
  return { what: `append, ${WRITERS} sessions in flight`, ...costs };
}

async function appendAll(side, session, events) {
  for (const event of events) await side.append(session, event);
}

async function newest(sides) {
  const sessions = await filled(sides, 'long', 10_000);
  await warmUp(sides, (side) => () => sides[side].readNewest(sessions[side], NEWEST));
  const costs = await compareCosts(passes(9), (side) =>
    costFor(BURST_MS, () => sides[side].readNewest(sessions[side], NEWEST)),
  );
  return { what: `last ${NEWEST} of 10,000`, ...costs };
}

async function all(sides) {
  const sessions = await filled(sides, 'short', 1_000);
  await warmUp(sides, (side) => () => sides[side].readAll(sessions[side]));
  const costs = await compareCosts(passes(9), (side) => costFor(BURST_MS, () => sides[side].readAll(sessions[side])));
  return { what: 'get of 1,000 events', ...costs };
}

async function filled(sides, name, length) {
  const sessions = {};
  for (const side of ['ours', 'raw']) {
    sessions[side] = await sides[side].create(`${side}-${name}`);
    await sides[side].fill(sessions[side], makeAgentEvents(length));
  }
  return sessions;
}

async function list(sides) {
  for (const side of ['ours', 'raw']) {
    for (let number = 0; number < SESSIONS; number++) await sides[side].create(`${side}-listed-${number}`);
  }
  await warmUp(sides, (side) => () => sides[side].list(SESSIONS));
  const costs = await compareCosts(passes(9), (side) => costFor(BURST_MS, () => sides[side].list(SESSIONS)));
  return { what: `list of ${SESSIONS.toLocaleString('en')} sessions`, ...costs };
}

async function create(sides, { creates }) {
  let warm = 0;
  await warmUp(sides, (side) => () => sides[side].create(`${side}-warm-${warm++}`));
  const costs = await compareCosts(passes(9), (side, pass) =>
    costOf(creates, async () => {
      for (let number = 0; number < creates; number++) await sides[side].create(`${side}-new-${pass}-${number}`);
    }),
  );
  return { what: 'create', ...costs };
}

async function footprint() {
  const [ours, raw] = [await measuredApart('ours'), await measuredApart('minimum')];
  return {
    what: 'memory, heap for an event',
    unit: 'bytes',
    ours: ours.heap,
    raw: raw.heap,
    ratio: ours.heap / raw.heap,
  };
}
