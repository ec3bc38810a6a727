import { makeEvents } from '../support/events.mjs';
import { rateFor, rateOf, secondsOf } from '../support/measure.mjs';

/** Where in a session 100 appends are measured. */
export const PLACES = [0, 500, 900, 2_000, 4_900, 9_900];
const MEASURED = 100;
const WRITERS = 64;
const EVENTS_EACH = 500;
const KEYS_EACH = 200;

/** No workload takes longer; what is not reached by then is not shown. */
const LIMIT = { growth: 15, parallel: 8, writers: 12, reads: 1 };

/** One session grows to 10,000 events, one append after the other. Then it is read. */
export async function growth(store) {
  const events = makeEvents(10_000);
  // So that the first place is measured with compiled code.
  await appendUntil(store, await store.create('warm-up'), makeEvents(500, 4_000_000), performance.now() + 2_000);
  const session = await store.create('growing');
  const rates = {};
  const end = performance.now() + LIMIT.growth * 1_000;
  let length = 0;
  for (const place of PLACES) {
    length += await appendUntil(store, session, events.slice(length, place), end);
    if (length < place || performance.now() > end) break;
    rates[place] = await rateOf(MEASURED, () =>
      appendUntil(store, session, events.slice(place, place + MEASURED), Infinity),
    );
    length += MEASURED;
  }
  const newest = await rateFor(LIMIT.reads * 1_000, () => store.readNewest(session, 20));
  const found = (await store.readNewest(session, 20)).length;
  if (found !== 20) throw new Error(`The newest 20 were ${found}`);
  return { rates, length, newest };
}

/** Appends until all are written or the time is up. Answers how many were. */
async function appendUntil(store, session, events, end) {
  let count = 0;
  for (const event of events) {
    if (performance.now() > end) break;
    await store.append(session, event);
    count++;
  }
  return count;
}

/** 64 sessions, each with one append in flight. */
export async function parallel(store) {
  const sessions = [];
  for (let number = 0; number < WRITERS; number++) sessions.push(await store.create(`parallel-${number}`));
  const end = performance.now() + LIMIT.parallel * 1_000;
  let counts = [];
  const shares = sessions.map((_, number) => makeEvents(100, 1_000_000 + number * 100));
  const seconds = await secondsOf(async () => {
    counts = await Promise.all(sessions.map((session, number) => appendUntil(store, session, shares[number], end)));
  });
  return { rate: counts.reduce((sum, count) => sum + count, 0) / seconds };
}

/** A whole session of 1,000 events. */
export async function wholeSession(store) {
  const session = await store.create('whole');
  const end = performance.now() + LIMIT.growth * 1_000;
  const length = await appendUntil(store, session, makeEvents(1_000, 2_000_000), end);
  return { rate: await rateFor(LIMIT.reads * 1_000, () => store.readAll(session)), length };
}

/** Two instances append 500 events each to one session. Which acknowledged ones are there in the end? */
export async function oneSession(stores) {
  await stores[0].create('shared');
  const sessions = [await stores[0].find('shared'), await stores[1].find('shared')];
  const { acknowledged, errors } = await together(stores, sessions, EVENTS_EACH, (writer, number) => ({
    [`${writer}-${number}`]: number,
  }));
  const reader = await stores[0].find('shared');
  const found = new Set((await stores[0].readAll(reader)).map(({ id }) => id));
  return { acknowledged: acknowledged.length, lost: acknowledged.filter(({ id }) => !found.has(id)).length, ...errors };
}

/** Two instances, each with its own session, set 200 `user:` keys each of one user. */
export async function oneUser(stores) {
  // One after the other: some stores fail when two sessions of a new user are created at once.
  const sessions = [await stores[0].create('own-0'), await stores[1].create('own-1')];
  const { acknowledged, errors } = await together(stores, sessions, KEYS_EACH, (writer, number) => ({
    [`user:${writer}-${number}`]: number,
  }));
  const keys = await stores[0].userState();
  const lost = acknowledged.filter(({ key }) => !(key.slice('user:'.length) in keys)).length;
  return { acknowledged: acknowledged.length, lost, ...errors };
}

async function together(stores, sessions, each, stateOf) {
  const end = performance.now() + LIMIT.writers * 1_000;
  const acknowledged = [];
  const errors = { errors: 0, firstError: undefined };
  await Promise.all(
    stores.map(async (store, writer) => {
      const events = makeEvents(each, 3_000_000 + writer * each);
      for (const [number, event] of events.entries()) {
        if (performance.now() > end) return;
        event.actions.stateDelta = stateOf(writer, number);
        try {
          await store.append(sessions[writer], event);
          acknowledged.push({ id: event.id, key: Object.keys(event.actions.stateDelta)[0] });
        } catch (error) {
          errors.errors++;
          errors.firstError ??= String(error.message ?? error)
            .split('\n')[0]
            .slice(0, 160);
        }
      }
    }),
  );
  return { acknowledged, errors };
}
