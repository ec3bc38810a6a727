import { describeSessionStorage } from '../../src/testing/index.js';
import { STORE_DIFFERENCES } from '../support/store-differences.js';
import { testStores } from '../support/stores.js';

for (const { name, open } of testStores) describeSessionStorage({ name, create: open, skip: STORE_DIFFERENCES[name] });
