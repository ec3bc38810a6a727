import { describeSessionStorage } from '../../src/testing/index.js';
import { testStores } from '../support/stores.js';

for (const { name, open } of testStores) describeSessionStorage({ name, create: open });
