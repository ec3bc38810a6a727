// Runs all workloads on one store in a process of its own, and prints the figures as one line of JSON.
import { withPlace } from './places.mjs';
import { ROWS } from './rows.mjs';
import { growth, oneSession, oneUser, parallel, wholeSession } from './workloads.mjs';

const row = ROWS[Number(process.argv[2])];
const { [row.type]: Type } = await import(`./adapters/${row.file}.mjs`);

/** Some pools report that their place was removed after they were closed. */
process.on('uncaughtException', (error) => {
  if (!/terminat/.test(error.message)) throw error;
});

/** What others print belongs to the figures of nobody. */
const print = console.log;
console.log = console.info = console.debug = () => undefined;

const figures = {
  growth: await alone(growth),
  parallel: await alone(parallel),
  whole: await alone(wholeSession),
};
// Two instances share nothing in memory.
if (row.store !== 'memory') {
  figures.oneSession = await twice(oneSession);
  if (Type.prototype.userState) figures.oneUser = await twice(oneUser);
}
print(JSON.stringify(figures));
process.exit(0);

function alone(workload) {
  return attempt((place) => opened(place, 1, ([store]) => workload(store)));
}

function twice(workload) {
  return attempt((place) => opened(place, 2, workload));
}

/** A store that cannot do it gets the reason in place of figures. */
async function attempt(work) {
  try {
    return await withPlace(row.store, work);
  } catch (error) {
    return {
      failed: String(error?.message ?? error)
        .split('\n')[0]
        .slice(0, 200),
    };
  }
}

async function opened(place, count, work) {
  const stores = [];
  try {
    while (stores.length < count) {
      const store = await Type.open(place);
      stores.push(store);
      // Some stores make their tables now, and fail when two of them do so at once.
      await store.create(`first-${stores.length}`);
    }
    return await work(stores);
  } finally {
    for (const store of stores) await store.close();
  }
}
