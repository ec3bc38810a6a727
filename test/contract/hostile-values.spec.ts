import { firstStore, storeOfEachEncoding } from '../support/stores.js';
import { acceptedEvents, refusedEvents } from './hostile-values/events.js';
import { acceptedIds, refusedIds } from './hostile-values/ids.js';
import { refusedRequests } from './hostile-values/requests.js';
import { acceptedStateKeys, refusedStateKeys } from './hostile-values/state-keys.js';
import { acceptedValues, refusedValues } from './hostile-values/values.js';

describe.each(storeOfEachEncoding)('hostile input that $name accepts', (store) => {
  acceptedIds(store);
  acceptedStateKeys(store);
  acceptedValues(store);
  acceptedEvents(store);
});

describe.each(firstStore)('hostile input that is refused, on $name', (store) => {
  refusedIds(store);
  refusedStateKeys(store);
  refusedValues(store);
  refusedEvents(store);
  refusedRequests(store);
});
