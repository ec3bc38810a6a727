import { describeSessionStorage } from '../../src/testing/index.js';
import { stateLimits } from '../../src/testing/storage-contract/state-limits.js';
import { STORE_DIFFERENCES } from '../support/store-differences.js';
import { storesAboveThePort } from '../support/stores.js';
import { openWithKeys } from './support.js';

for (const { name, open } of storesAboveThePort)
  describeSessionStorage({
    name: `${name}, encrypted,`,
    create: (options) => openWithKeys(open, options),
    skip: [
      ...(STORE_DIFFERENCES[name] ?? []).map(({ reason, tests }) => ({ reason, tests })),
      {
        reason: 'what is stored is counted, and an encrypted text is longer',
        tests: [
          'has the bytes of what is kept, with the base state before the first event',
          ...stateLimits.tests.map(({ title }) => title),
          'labels and fields of this package have limits of their own',
          'the limit counts UTF-8 bytes, including separators',
        ],
      },
    ],
  });
