import { compare, passes, rateFor, rateOf } from './support/measure.mjs';
import { plainEvents } from './support/plain-events.mjs';
import { SERVER_NAMES, withServer } from './support/server-sides.mjs';

export const title = 'Servers, beside their drivers on the same tables or keys';

/** Short, so that what else the machine does hits both sides. */
const APPENDS = 40;
const BURST_MS = 60;
const WRITERS = 64;
const EVENTS_EACH = 6;
const NEWEST = 20;

export async function run() {
  const rows = [];
  for (const name of SERVER_NAMES) rows.push(...((await withServer(name, (sides) => measured(name, sides))) ?? []));
  return rows;
}

async function measured(name, sides) {
  const long = await sessionOf(sides, 'long', 10_000);
  const row = async (what, comparison) => ({ what: `${name}, ${what}`, unit: 'operations/s', ...(await comparison) });
  return [
    await row('append, one after the other', oneByOne(sides, await sessionOf(sides, 'new', 0))),
    await row('append, 100 events in the log', oneByOne(sides, await sessionOf(sides, 'short', 100))),
    await row('append, 10,000 events in the log', oneByOne(sides, long)),
    await row('append with user: and app: keys', oneByOneShared(sides, await sessionOf(sides, 'shared', 0))),
    await row('append, 64 sessions in flight', inFlight(sides)),
    await row(`get, newest ${NEWEST} of 10,000`, newest(sides, long)),
  ];
}

/** A session of that length for each side; the package makes both. */
async function sessionOf({ ours, raw }, name, length) {
  const [mine, other] = [await ours.create(`ours-${name}`), await ours.create(`raw-${name}`)];
  for (const session of [mine, other]) await ours.fill(session, plainEvents(length));
  return { ours: mine, raw: await raw.find(`raw-${name}`) };
}

function oneByOne(sides, session) {
  return compare(passes(25), (side) => {
    const events = plainEvents(APPENDS);
    return rateOf(APPENDS, async () => {
      for (const event of events) await sides[side].append(session[side], event);
    });
  });
}

function oneByOneShared({ ours, raw }, session) {
  const append = {
    ours: (event) => ours.append(session.ours, event),
    raw: (event) => raw.appendShared(session.raw, event),
  };
  return compare(passes(25), (side) => {
    const events = plainEvents(APPENDS, ({ id }) => ({ 'user:ours': id, 'app:ours': id }));
    return rateOf(APPENDS, async () => {
      for (const event of events) await append[side](event);
    });
  });
}

async function inFlight(sides) {
  const sessions = [];
  for (let number = 0; number < WRITERS; number++) sessions.push(await sessionOf(sides, `parallel-${number}`, 0));
  return compare(passes(15), (side) => {
    const shares = sessions.map((session) => ({ session: session[side], events: plainEvents(EVENTS_EACH) }));
    return rateOf(WRITERS * EVENTS_EACH, () =>
      Promise.all(
        shares.map(async ({ session, events }) => {
          for (const event of events) await sides[side].append(session, event);
        }),
      ),
    );
  });
}

function newest(sides, session) {
  return compare(passes(25), (side) => rateFor(BURST_MS, () => sides[side].readNewest(session[side], NEWEST)));
}
