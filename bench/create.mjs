import { compare, passes, rateOf } from './support/measure.mjs';
import { STORE_NAMES, withSides } from './support/sides.mjs';

export const title = 'New sessions with one state key, one after the other';

const SESSIONS = 200;

export async function run() {
  const rows = [];
  for (const store of STORE_NAMES) rows.push({ what: store, unit: 'sessions/s', ...(await creates(store)) });
  return rows;
}

function creates(store) {
  return withSides(store, (sides) =>
    compare(passes(7), (side, pass) =>
      rateOf(SESSIONS, async () => {
        for (let number = 0; number < SESSIONS; number++) await sides[side].create(`pass-${pass}-${number}`);
      }),
    ),
  );
}
