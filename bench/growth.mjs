import { makeEvents } from './support/events.mjs';
import { comparisonOf, passes, secondsOf, turns } from './support/measure.mjs';
import { withSides } from './support/sides.mjs';

export const title = 'Growth: appends to one session, one after the other';

/** Where in a session appends are measured. */
const PLACES = { '0 – 100': 0, '900 – 1k': 900, '4.9k – 5k': 4_900, '9.9k – 10k': 9_900 };
const MEASURED = 100;
/** Each side has the clock for so many appends, then it is the other one's turn. */
const TURN = 20;

export async function run() {
  return [...(await growthOf('memory', passes(15))), ...(await growthOf('sqlite', passes(7)))];
}

async function growthOf(store, count) {
  const events = makeEvents(10_000);
  await growOnce(store, events);
  const rates = [];
  for (let pass = 0; pass < count; pass++) rates.push(await growOnce(store, events));
  return Object.keys(PLACES).map((label) => ({
    what: `${store}, events ${label}`,
    unit: 'events/s',
    ...comparisonOf(rates.map((ofPass) => ofPass[label])),
  }));
}

/** Fills a session on both sides, stopping at each place to measure; answers the rates there. */
function growOnce(store, events) {
  return withSides(store, async (sides) => {
    const sessions = { ours: await sides.ours.create('growing'), raw: await sides.raw.create('growing') };
    const rates = {};
    let length = 0;
    for (const [label, from] of Object.entries(PLACES)) {
      for (const side of turns(0)) await sides[side].fill(sessions[side], events.slice(length, from));
      length = from + MEASURED;
      rates[label] = await ratesOf(sides, sessions, events.slice(from, length));
    }
    return rates;
  });
}

async function ratesOf(sides, sessions, events) {
  const seconds = { ours: 0, raw: 0 };
  for (let from = 0; from < events.length; from += TURN) {
    const some = events.slice(from, from + TURN);
    for (const side of turns(from / TURN)) {
      seconds[side] += await secondsOf(async () => {
        for (const event of some) await sides[side].append(sessions[side], event);
      });
    }
  }
  return { ours: events.length / seconds.ours, raw: events.length / seconds.raw };
}
