import { describeSessionService, sessionsOver } from '../../src/testing/index.js';
import { storesAboveThePort } from '../support/stores.js';
import { openWithKeys } from './support.js';

for (const { name, open } of storesAboveThePort)
  describeSessionService({
    name: `${name}, encrypted,`,
    create: sessionsOver((options) => openWithKeys(open, options)),
    skip: [
      {
        reason: 'they look for a text in the raw data, which must not be there; test/encryption/canary does',
        tests: [
          'the texts go with the session, and a later one of its id has its own',
          'with state, checkpoints are derived again',
        ],
      },
    ],
  });
