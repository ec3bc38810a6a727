import { readFileSync } from 'node:fs';
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation';
import { SessionService } from '../../src/index.js';
import { SessionSaver } from '../../src/langgraph/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { type TestStore, testStores } from '../support/stores.js';
import { CountedTests } from './support/counted-tests.js';

/** As of version 1.1.1; none of them may be left out. */
const TESTS = 726;
const SUITE = '@langchain/langgraph-checkpoint-validation';

// The suite is written for Vitest, where a soft expectation lets the test go on before it fails.
beforeAll(() => void Object.assign(expect, { soft: expect }));
afterAll(() => void Reflect.deleteProperty(expect, 'soft'));

/** What LangChain publishes to judge savers, whole. */
describe.each(testStores)('The suite of LangGraph in $name', (store) => {
  const tests = new CountedTests();
  tests.define(() => {
    const suite = suiteFor(store);
    validate(suite);
    deltaChannelHistoryTests(suite);
  });

  afterAll(() => {
    process.stdout.write(`${SUITE} ${versionOf(SUITE)} in ${store.name}: ${tests.passed} of ${tests.defined} passed\n`);
    expect(tests.defined).toBe(TESTS);
  });
});

function suiteFor({ name, open }: TestStore): Parameters<typeof validate<SessionSaver>>[0] {
  const opened = new Map<SessionSaver, OpenStorage>();
  return {
    checkpointerName: `SessionSaver over ${name}`,
    async createCheckpointer() {
      const store = await open({});
      const saver = new SessionSaver({ sessions: new SessionService({ storage: store.storage }), appName: 'suite' });
      opened.set(saver, store);
      return saver;
    },
    async destroyCheckpointer(saver) {
      await opened.get(saver)?.destroy();
      opened.delete(saver);
    },
  };
}

function versionOf(name: string): string {
  const { version } = JSON.parse(readFileSync(require.resolve(`${name}/package.json`), 'utf8')) as { version: string };
  return version;
}
