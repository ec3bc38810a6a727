import { StoreUnavailableError } from '../../src/index.js';
import { decodePending } from '../../src/sessions/storage/redis/app-scope/cluster-app-scope.js';
import { recordOf } from '../../src/sessions/storage/typeorm/sql/session-rows.js';

const ROW = {
  pk: 1,
  app_name: 'shop',
  user_id: 'ann',
  session_id: 's1',
  create_time: 1,
  last_update_time: 1,
  expires_at: 2,
  first_seq: 1,
  last_seq: 0,
  tip_seq: 0,
  high_water: 0,
  turns: 0,
  events: 0,
  content_length: 0,
  tokens: 0,
  hidden: '[]',
  view_from_seq: 0,
  summary_seq: 0,
  marks_seq: 0,
  covered: '{"turns":0,"events":0,"contentLength":0,"tokens":0}',
  turns_only: 0,
  turn_number: 0,
  turn_token: '',
  turn_holder: '',
  turn_request: '',
  turn_expires_at: 0,
  dispatched_seq: 0,
  waiting_since: 0,
};
const DAMAGED = '{"turns":canary';

describe('damaged JSON in a store', () => {
  it.each([
    ['the hidden ranges of a session', () => recordOf({ ...ROW, hidden: DAMAGED })],
    ['the counters under a summary', () => recordOf({ ...ROW, covered: DAMAGED })],
    ['a pending app state on Redis Cluster', () => decodePending(['1', DAMAGED])],
  ])('is reported without its content: %s', (_what, read) => {
    expect(read).toThrow(StoreUnavailableError);
    expect(read).not.toThrow(/canary/);
  });
});
