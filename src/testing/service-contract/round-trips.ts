import { topic } from '../contract-runner.js';
import { KEY, type ServiceFixture, appendAll, load, sessionWith, wholeLog } from './support.js';

/** Compared as text, since key order counts, too. */
const VALUES: Record<string, unknown> = {
  zero: 0,
  decimal: 0.1,
  tiny: 5e-324,
  huge: 1.7976931348623157e308,
  'beyond whole numbers': 2 ** 53 + 2,
  negative: -1.5,
  true: true,
  false: false,
  null: null,
  'empty text': '',
  'empty array': [],
  'empty object': {},
  'empty inside': { a: [], b: {}, c: [[], {}] },
  'NUL in text': 'a\u0000b',
  'NUL in a key': { 'a\u0000b': 1 },
  'text that looks like a number': '1.0',
  'control characters': '\u0001\t\r\n\u007f\u2028',
  emoji: '😀👩‍👩‍👧',
  'not normalised': 'e\u0301 é',
  'key order': { z: 1, a: 2, m: { y: 1, b: 2 } },
  'own __proto__': JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":1}}') as unknown,
  'long text': 'é'.repeat(70_000),
  'text of SQL': "'); DROP TABLE sessions; --",
};

export const roundTrips = topic<ServiceFixture>('values and events are returned unchanged', (test) => {
  for (const [name, value] of Object.entries(VALUES)) {
    test(`a value is returned unchanged: ${name}`, async ({ open }) => {
      const { sessions } = await open();
      await sessions.createSession({ ...KEY, state: { initial: value, 'user:initial': value, 'app:initial': value } });
      await appendAll(sessions, [
        {
          author: 'agent',
          customMetadata: { value },
          actions: { stateDelta: { later: value, 'user:later': value, 'app:later': value } },
        },
      ]);
      await sessions.updateUserState({ ...KEY, stateDelta: { direct: value } });
      const expected = JSON.stringify(value);
      const { state } = await load(sessions);
      const keys = ['initial', 'later', 'user:initial', 'user:later', 'user:direct', 'app:initial', 'app:later'];
      for (const key of keys) expect(JSON.stringify(state.get(key))).toBe(expected);
      const [event] = await wholeLog(sessions);
      expect(JSON.stringify(event?.customMetadata?.value)).toBe(expected);
      expect(JSON.stringify(event?.actions.stateDelta['user:later'])).toBe(expected);
    });
  }

  test('unknown fields are kept, anywhere in an event', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const event = {
      id: 'e1',
      author: 'agent',
      unknown: { deep: [1, { a: null }] },
      content: { role: 'model', unknown: 1, parts: [{ text: 'hi', thought: true, unknown: [] }] },
      actions: { unknown: { deep: true }, requestedAuthConfigs: {} },
    };
    await appendAll(sessions, [event]);
    expect(await wholeLog(sessions)).toEqual([
      {
        ...event,
        actions: { ...event.actions, stateDelta: {} },
        invocationId: '',
        timestamp: expect.any(Number) as number,
        seq: 1,
      },
    ]);
  });

  test('an event of ADK for TypeScript is returned unchanged', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    const event = {
      id: 'e1',
      invocationId: 'i-1',
      author: 'agent',
      branch: 'root.child',
      timestamp: 1_700_000_000_000,
      partial: false,
      content: {
        role: 'model',
        parts: [
          { text: 'words' },
          { functionCall: { id: 'c', name: 'search', args: { q: [1, null, ''] } } },
          { functionResponse: { id: 'c', name: 'search', response: { hits: [] } } },
          { inlineData: { mimeType: 'image/png', data: 'AAEC' } },
          { executableCode: { code: 'print(1)', language: 'PYTHON' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
        ],
      },
      actions: {
        stateDelta: { k: 1 },
        artifactDelta: { 'a.txt': 0 },
        skipSummarization: true,
        transferToAgent: 'other',
        escalate: false,
        requestedAuthConfigs: {},
      },
      longRunningToolIds: ['c'],
      usageMetadata: { totalTokenCount: 12, promptTokenCount: 5 },
      errorCode: 'SAFETY',
      errorMessage: 'blocked',
      customMetadata: { a: [] },
      turnComplete: true,
      interrupted: false,
      groundingMetadata: { webSearchQueries: [] },
    };
    await appendAll(sessions, [event]);
    expect((await load(sessions)).events).toEqual([{ ...event, seq: 1 }]);
  });

  test('dates, minus zero and undefined properties are stored as in JSON', async ({ open }) => {
    const { sessions } = await open();
    const date = new Date(0);
    const session = await sessions.createSession({ ...KEY, state: { date, zero: -0, gone: undefined } });
    const expected = { date: '1970-01-01T00:00:00.000Z', zero: 0 };
    expect(session.state.toRecord()).toEqual(expected);
    const event = { author: 'agent', customMetadata: { date, zero: -0, gone: undefined } };
    const stored = await sessions.appendEvent({ session, event });
    expect(stored.customMetadata).toEqual(expected);
    expect(Object.keys(stored.customMetadata ?? {})).toEqual(['date', 'zero']);
    expect((await load(sessions)).state.toRecord()).toEqual(expected);
  });

  test('keys such as __proto__ are ordinary keys', async ({ open }) => {
    const { sessions } = await open();
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'get', 'length'];
    const state = Object.fromEntries(
      names.flatMap((name) => [
        [name, 1],
        [`user:${name}`, 2],
        [`app:${name}`, 3],
      ]),
    );
    await sessions.createSession({ ...KEY, state });
    const read = (await load(sessions)).state.toRecord();
    expect(Object.keys(read).sort()).toEqual(Object.keys(state).sort());
    for (const [key, value] of Object.entries(state)) expect(Object.entries(read)).toContainEqual([key, value]);
    expect(Object.keys(await sessions.getUserState(KEY)).sort()).toEqual(names.toSorted());
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    await appendAll(sessions, [{ author: 'agent', actions: { stateRemovals: names } }]);
    expect(Object.keys((await load(sessions)).state.toRecord()).filter((key) => names.includes(key))).toEqual([]);
  });
});
