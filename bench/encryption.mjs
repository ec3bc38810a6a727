import { randomBytes } from 'node:crypto';
import { encryptedStorage } from '../dist/index.js';
import { makeAgentEvents } from './support/events.mjs';
import { compareCosts, costFor, costOf, passes } from './support/measure.mjs';
import { Ours } from './support/ours.mjs';
import { SERVER_NAMES, withServer } from './support/server-sides.mjs';
import { STORE_NAMES, withSides } from './support/sides.mjs';
import { appendsTo, warmUp } from './support/warm-up.mjs';

export const title = 'Encrypted beside plain, in the same store';

const SIZES = { memory: 2_000, other: 300 };
const NEWEST = 20;
const LONG = 1_000;
const BURST_MS = 100;

/** @param {{ stores?: string[] }} [selection] */
export async function run({ stores = [...STORE_NAMES, ...SERVER_NAMES] } = {}) {
  const rows = [];
  for (const store of stores) {
    const place = STORE_NAMES.includes(store) ? withSides : withServer;
    const found = await place(store, ({ ours: plain }) => rowsOf(store, plain), 'minimum');
    rows.push(...(found ?? []));
  }
  return rows;
}

async function rowsOf(store, raw) {
  const keys = `bench:${randomBytes(32).toString('base64')}`;
  // A user of its own: what one side writes, the other cannot read.
  const ours = new Ours(encryptedStorage(raw.storage, { keys }), undefined, { appName: 'encrypted', userId: 'ann' });
  const sides = { ours, raw };
  const unit = 'operations/s';
  return [
    { what: `${store}, append, one after the other`, unit, ...(await appends(sides, SIZES[store] ?? SIZES.other)) },
    { what: `${store}, last ${NEWEST} of ${LONG.toLocaleString('en')}`, unit, ...(await newest(sides)) },
  ];
}

async function appends(sides, count) {
  await warmUp(sides, (side) => appendsTo(side, sides, 1));
  return compareCosts(passes(9), async (side, pass) => {
    const session = await sides[side].create(`${side}-appends-${pass}`);
    const events = makeAgentEvents(count);
    return costOf(count, async () => {
      for (const event of events) await sides[side].append(session, event);
    });
  });
}

async function newest(sides) {
  const sessions = {};
  for (const side of ['ours', 'raw']) {
    sessions[side] = await sides[side].create(`${side}-long`);
    await sides[side].fill(sessions[side], makeAgentEvents(LONG));
  }
  await warmUp(sides, (side) => () => sides[side].readNewest(sessions[side], NEWEST));
  return compareCosts(passes(9), (side) => costFor(BURST_MS, () => sides[side].readNewest(sessions[side], NEWEST)));
}
