import { testStores } from '../support/stores.js';
import { hostileEvents } from './hostile-values/events.js';
import { hostileIds } from './hostile-values/ids.js';
import { hostileRequests } from './hostile-values/requests.js';
import { hostileStateKeys } from './hostile-values/state-keys.js';
import { hostileValues } from './hostile-values/values.js';

describe.each(testStores)('hostile input on $name', (store) => {
  hostileIds(store);
  hostileStateKeys(store);
  hostileValues(store);
  hostileEvents(store);
  hostileRequests(store);
});
