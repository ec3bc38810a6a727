import { StoreUnavailableError } from '../../src/index.js';
import { decodePending } from '../../src/sessions/storage/redis/app-scope/cluster-app-scope.js';
import { recordOf } from '../../src/sessions/storage/typeorm/sql/session-rows.js';
import { SESSION_ROW } from '../support/session-rows.js';

const DAMAGED = '{"turns":canary';

describe('damaged JSON in a store', () => {
  it.each([
    ['the hidden ranges of a session', () => recordOf({ ...SESSION_ROW, hidden: DAMAGED })],
    ['the counters under a summary', () => recordOf({ ...SESSION_ROW, covered: DAMAGED })],
    ['a pending app state on Redis Cluster', () => decodePending(['1', DAMAGED])],
  ])('is reported without its content: %s', (_what, read) => {
    expect(read).toThrow(StoreUnavailableError);
    expect(read).not.toThrow(/canary/);
  });
});
