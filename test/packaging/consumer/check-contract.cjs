const stores = require('./contract-stores.cjs');

/**
 * Runs the contract of a store, as the package exports it, with the packages that this app has. `CONTRACT` is the store
 * and its address: `{"store":"postgres","url":"postgres://…"}`.
 */
module.exports = async function checkContract(load) {
  await load('reflect-metadata');
  globalThis.expect = (await load('expect')).expect;
  const { store, url } = JSON.parse(process.env.CONTRACT);
  const opened = await stores[store](load, url);
  const failures = [];
  try {
    const { describeSessionStorage } = await load('nestjs-agent-sessions/testing');
    const tests = reportedBy(() => describeSessionStorage({ name: store, create: opened.create }));
    if (tests.length < 100) throw new Error(`The contract has ${tests.length} tests only`);
    for (const { title, run } of tests) {
      await run().catch((error) => failures.push(`${title}\n${error.stack ?? error}`));
    }
  } finally {
    await opened.remove();
  }
  if (failures.length > 0) throw new Error(`${failures.length} tests failed\n\n${failures.join('\n\n')}`);
};

/** Tests that were given to `describe` and `it`, to be run one after the other. */
function reportedBy(define) {
  const tests = [];
  const names = [];
  globalThis.describe = (name, body) => {
    names.push(name);
    body();
    names.pop();
  };
  globalThis.it = Object.assign((title, run) => tests.push({ title: [...names, title].join(' > '), run }), {
    skip() {
      throw new Error('The contract is to be run whole');
    },
  });
  define();
  return tests;
}
