import { EventLog } from '../../src/sessions/storage/in-memory/event-log.js';

describe('The log of a session in memory', () => {
  it('leaves an event that was read as it was when its payload is trimmed', () => {
    const log = new EventLog();
    log.add({ id: 'e-1', timestamp: 1, anchor: false, payload: '{"kept":true}', appendedAt: 1, highWater: 1 });
    const read = log.at(1);
    log.forgetPayloads(1, ['digest']);
    expect(read).toMatchObject({ payload: '{"kept":true}', digest: '' });
    expect(log.find('e-1')).toMatchObject({ payload: null, digest: 'digest' });
    expect(Object.isFrozen(read)).toBe(true);
  });
});
