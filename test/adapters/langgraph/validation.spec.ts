import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation';
import { SessionService } from '../../../src/index.js';
import { SessionSaver } from '../../../src/adapters/langgraph/index.js';
import type { OpenStorage } from '../../../src/testing/open-storage.js';
import type { TestStore } from '../../support/stores.js';
import { describeSuite } from '../support/describe-suite.js';

const SUITE = '@langchain/langgraph-checkpoint-validation';

// The suite is written for Vitest, where a soft expectation lets the test go on before it fails.
beforeAll(() => void Object.assign(expect, { soft: expect }));
afterAll(() => void Reflect.deleteProperty(expect, 'soft'));

/** What LangChain publishes to judge savers, whole. */
const suite = { framework: 'LangGraph', peer: '@langchain/langgraph-checkpoint', suite: SUITE };
describeSuite(suite, (store) => {
  const initializer = suiteFor(store);
  validate(initializer);
  deltaChannelHistoryTests(initializer);
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
