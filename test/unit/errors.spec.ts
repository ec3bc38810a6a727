import {
  EventConflictError,
  InvalidInputError,
  LeaseLostError,
  LimitExceededError,
  SessionExistsError,
  SessionNotFoundError,
  SessionsError,
  StaleSessionError,
  StoreUnavailableError,
  UnsavedStateError,
} from '../../src/index.js';

const ALL = [
  [new InvalidInputError('must be text', '$.id'), 'InvalidInputError', 'INVALID_INPUT', 400],
  [new SessionNotFoundError('s-1'), 'SessionNotFoundError', 'SESSION_NOT_FOUND', 404],
  [new SessionExistsError('s-1'), 'SessionExistsError', 'SESSION_EXISTS', 409],
  [new EventConflictError('e1', 3), 'EventConflictError', 'EVENT_CONFLICT', 409],
  [new StaleSessionError(1, 2), 'StaleSessionError', 'STALE_SESSION', 409],
  [new UnsavedStateError('s-1', ['step']), 'UnsavedStateError', 'UNSAVED_STATE', 409],
  [new LimitExceededError('too large', '$'), 'LimitExceededError', 'LIMIT_EXCEEDED', 413],
  [new LeaseLostError('cleanup'), 'LeaseLostError', 'LEASE_LOST', 409],
  [new StoreUnavailableError('No answer.', true), 'StoreUnavailableError', 'STORE_UNAVAILABLE', 503],
] as const;

describe('SessionsError', () => {
  it.each(ALL)('%s has its name, code and status', (error, name, code, status) => {
    expect(error).toBeInstanceOf(SessionsError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name, code, status });
    expect(error.stack).toContain(name);
  });

  it('has a different code in each subclass', () => {
    expect(new Set(ALL.map(([{ code }]) => code)).size).toBe(ALL.length);
  });

  it('names the path of the invalid input, if it is known', () => {
    expect(new InvalidInputError('must be text', '$.id')).toMatchObject({
      path: '$.id',
      message: '$.id: must be text',
    });
    expect(new InvalidInputError('must be text').message).toBe('must be text');
    expect(new LimitExceededError('too large', '$.a').message).toBe('$.a: too large');
    expect(new LimitExceededError('too large').path).toBeUndefined();
  });

  it('has properties with the ids and versions that a caller needs', () => {
    expect(new SessionNotFoundError('s-1').sessionId).toBe('s-1');
    expect(new SessionExistsError('s-1').sessionId).toBe('s-1');
    expect(new EventConflictError('e1', 3)).toMatchObject({ eventId: 'e1', seq: 3 });
    expect(new LeaseLostError('cleanup').leaseName).toBe('cleanup');
    expect(new StaleSessionError(1, 2)).toMatchObject({ expectedVersion: 1, currentVersion: 2 });
  });

  it('quotes ids, so that an id cannot forge a log line', () => {
    for (const message of [
      new SessionNotFoundError('a\nERROR forged').message,
      new SessionExistsError('a\nERROR forged').message,
      new EventConflictError('a\nERROR forged', 1).message,
      new LeaseLostError('a\nERROR forged').message,
      new UnsavedStateError('a\nERROR forged', ['a\nERROR forged']).message,
    ]) {
      expect(message).not.toContain('\n');
    }
  });

  it('says whether a write may have happened, and whether to retry', () => {
    const unknown = new StoreUnavailableError('No answer.', true);
    const nothing = new StoreUnavailableError('No connection.', false, { cause: new Error('refused') });
    expect(unknown.outcomeUnknown).toBe(true);
    expect(unknown.message).toMatch(/^No answer\. .*same event id/);
    expect(nothing.outcomeUnknown).toBe(false);
    expect(nothing.message).toMatch(/^No connection\. Nothing was written/);
    expect(nothing.cause).toBeInstanceOf(Error);
  });
});
