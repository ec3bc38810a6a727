import { StoreUnavailableError } from '../../src/index.js';
import { decodePending } from '../../src/sessions/storage/redis/app-scope/cluster-app-scope.js';
import { parseRecord } from '../../src/sessions/storage/record-text.js';
import { newText, RECORD_KEY } from '../support/record-lines.js';

const DAMAGED = '{"turns":canary';

describe('damaged JSON in a store', () => {
  it.each([
    ['the hidden ranges of a session', () => parseRecord(RECORD_KEY, newText({ hidden: DAMAGED }))],
    ['the counters under a summary', () => parseRecord(RECORD_KEY, newText({ covered: DAMAGED }))],
    ['a pending app state on Redis Cluster', () => decodePending(['1', DAMAGED])],
  ])('is reported without its content: %s', (_what, read) => {
    expect(read).toThrow(StoreUnavailableError);
    expect(read).not.toThrow(/canary/);
  });
});
