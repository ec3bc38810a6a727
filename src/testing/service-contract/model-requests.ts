import type { EventInput } from '../../sessions/domain/event/event.js';
import { type ModelRequest, requestHash } from '../../sessions/domain/event/model-request.js';
import { topic } from '../contract-runner.js';
import type { SessionClient } from '../open-sessions.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  agentSays,
  appendAll,
  expectRefusal,
  rewindTo,
  sessionWith,
  createSummaryEvent,
  times,
  turns,
  userSays,
  wholeLog,
} from './support.js';

const TOOLS = [{ name: 'search', parameters: { type: 'object', properties: { q: { type: 'string' } } } }];
const PROMPT = 'Be brief, {"and": ["exact\\n ä \u0000"]}.';

function answers(text: string, modelRequest: ModelRequest, more: EventInput = {}): EventInput {
  return agentSays(text, { modelRequest, ...more });
}

/** What a request says about its texts. */
async function readRequestTexts(sessions: SessionClient, seq: number, sessionId = KEY.sessionId): Promise<unknown[]> {
  const report = await sessions.getModelRequest({ ...KEY, sessionId, seq });
  return [report?.instructions?.value, report?.tools?.value];
}

export const modelRequests = topic<ServiceFixture>('model requests', (test) => {
  test('an answer keeps what its model was given, and the log has hashes in place of the texts', async ({ open }) => {
    const { sessions } = await open();
    const usageMetadata = { promptTokenCount: 80, cachedContentTokenCount: 64, candidatesTokenCount: 8 };
    const fact = { given: [[1, 2] as const], instructions: PROMPT, tools: TOOLS, durationMs: 12.5 };
    const more = { id: 'e-3', branch: 'root', timestamp: 1_767_225_600_000, usageMetadata, modelVersion: 'm-1' };
    await sessionWith(sessions, [...turns('u', 'u'), answers('a3', fact, more)]);
    const [promptHash, toolsHash] = [requestHash(PROMPT), requestHash(TOOLS)];
    const [, , stored] = await wholeLog(sessions);
    expect(stored?.modelRequest).toEqual({ given: [[1, 2]], promptHash, toolsHash, durationMs: 12.5 });
    expect(await sessions.getModelRequest({ ...KEY, seq: 3 })).toEqual({
      seq: 3,
      id: 'e-3',
      author: 'agent',
      branch: 'root',
      timestamp: 1_767_225_600_000,
      model: 'm-1',
      usage: usageMetadata,
      given: [[1, 2]],
      isExact: true,
      durationMs: 12.5,
      instructions: { hash: promptHash, isKept: true, value: PROMPT },
      tools: { hash: toolsHash, isKept: true, value: TOOLS },
    });
  });

  test('an event without a request has none', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    expect(await sessions.getModelRequest({ ...KEY, seq: 2 })).toBeUndefined();
  });

  test('says what changed since the request before of the same agent, or since another one', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      userSays('u1'),
      answers('a2', { given: [[1, 1]], instructions: PROMPT }),
      answers('b3', { given: [[2, 2]] }, { author: 'other' }),
      userSays('u4'),
      answers('a5', { given: [[1, 4]], instructions: PROMPT, tools: TOOLS }),
      answers('a6', {
        given: [
          [1, 1],
          [4, 5],
        ],
        instructions: 'Other.',
        tools: TOOLS,
      }),
    ]);
    const changes = async (seq: number, since?: number): Promise<unknown> =>
      (await sessions.getModelRequest({ ...KEY, seq, since }))?.change;
    expect(await changes(2)).toBeUndefined();
    expect(await changes(3)).toBeUndefined();
    const added = { seq: 2, stableUntilSeq: 1, added: [[2, 4]], removed: [] };
    expect(await changes(5)).toEqual({ ...added, isPromptSame: true, areToolsSame: false });
    const both = { seq: 5, stableUntilSeq: 1, added: [[5, 5]], removed: [[2, 3]] };
    expect(await changes(6)).toEqual({ ...both, isPromptSame: false, areToolsSame: true });
    expect(await changes(6, 2)).toMatchObject({ seq: 2, stableUntilSeq: 1, added: [[4, 5]], removed: [] });
    expect(await changes(2, 6)).toMatchObject({ seq: 6, stableUntilSeq: 1, added: [], removed: [[4, 5]] });
    await expectRefusal(sessions.getModelRequest({ ...KEY, seq: 6, since: 4 }), 'INVALID_INPUT', { path: 'since' });
  });

  test('ranges that go on are one, and their order is that of the model', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      ...turns('u', 'a', 'u'),
      createSummaryEvent(1, 2),
      answers('a5', {
        given: [
          [4, 4],
          [3, 3],
        ],
      }),
      answers('a6', {
        given: [
          [1, 1],
          [2, 3],
          [4, 5],
        ],
      }),
    ]);
    const given = async (seq: number): Promise<unknown> => (await sessions.getModelRequest({ ...KEY, seq }))?.given;
    expect(await given(5)).toEqual([
      [4, 4],
      [3, 3],
    ]);
    expect(await given(6)).toEqual([[1, 5]]);
  });

  test('refuses what is no request', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a'));
    const refused = async (modelRequest: unknown, path: string): Promise<void> => {
      const event = agentSays('a3', { modelRequest: modelRequest as ModelRequest });
      await expectRefusal(sessions.appendEvent({ session: REFERENCE, event }), 'INVALID_INPUT', {
        path: `$.modelRequest${path}`,
      });
    };
    await refused('x', '');
    await refused({}, '.given');
    await refused({ given: [1, 2] }, '.given[0]');
    await refused({ given: [[2, 1]] }, '.given[0]');
    await refused({ given: [[0, 1]] }, '.given[0]');
    await refused(
      {
        given: [
          [1, 2],
          [2, 2],
        ],
      },
      '.given',
    );
    await refused({ given: [[1, 3]] }, '.given');
    await refused({ given: [], prompt: 'x' }, '.prompt');
    await refused({ given: [], instructions: 5 }, '.instructions');
    await refused({ given: [], tools: {} }, '.tools');
    await refused({ given: [], promptHash: 'x' }, '.promptHash');
    await refused({ given: [], instructions: 'x', promptHash: requestHash('y') }, '.promptHash');
    await refused({ given: [], durationMs: -1 }, '.durationMs');
    await refused({ given: [], isExact: 'no' }, '.isExact');
    const given = times(1_001, (index) => [index + 1, index + 1] as const);
    const event = agentSays('a3', { modelRequest: { given } });
    await expectRefusal(sessions.appendEvent({ session: REFERENCE, event }), 'LIMIT_EXCEEDED');
    expect(await wholeLog(sessions)).toHaveLength(2);
  });

  test('an answer may name events that are appended together with it, before it', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession(KEY);
    const events = [userSays('u1'), answers('a2', { given: [[1, 1]] })];
    await sessions.appendEvents({ session: REFERENCE, events });
    expect(await sessions.getModelRequest({ ...KEY, seq: 2 })).toMatchObject({ given: [[1, 1]] });
    const own = [userSays('u3'), answers('a4', { given: [[1, 4]] })];
    await expectRefusal(sessions.appendEvents({ session: REFERENCE, events: own }), 'INVALID_INPUT');
  });

  test('a retry is the same event, with the texts or with their hashes', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u'));
    const event = answers('a2', { given: [[1, 1]], instructions: PROMPT }, { id: 'e-2' });
    const stored = await sessions.appendEvent({ session: REFERENCE, event });
    expect(await sessions.append({ session: REFERENCE, event })).toEqual({ event: stored, duplicate: true });
    expect(await sessions.append({ session: REFERENCE, event: stored })).toEqual({ event: stored, duplicate: true });
    const other = answers('a2', { given: [[1, 1]], instructions: 'Other.' }, { id: 'e-2' });
    await expectRefusal(sessions.appendEvent({ session: REFERENCE, event: other }), 'EVENT_CONFLICT');
  });

  test('a list has only the answers that have a request', async ({ open }) => {
    const { sessions } = await open();
    const log = times(6, (index) => (index % 2 === 0 ? userSays('u') : answers('a', { given: [[1, index]] })));
    await sessionWith(sessions, [...log, userSays('last')]);
    for (const order of ['asc', 'desc'] as const) {
      const seqs: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await sessions.listEvents({ ...KEY, modelRequests: true, limit: 1, order, cursor });
        expect(page.events.length).toBeLessThanOrEqual(1);
        seqs.push(...page.events.map(({ seq }) => seq));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(seqs).toEqual(order === 'asc' ? [2, 4, 6] : [6, 4, 2]);
    }
  });

  test('explains how far the view is what a model was given last', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, turns('u', 'a', 'u'));
    const stable = async (): Promise<number | undefined> => (await sessions.explainView(KEY)).view.stableUntilSeq;
    expect(await stable()).toBeUndefined();
    await appendAll(sessions, [answers('a4', { given: [[1, 3]] })]);
    expect(await stable()).toBe(3);
    await appendAll(sessions, [userSays('u5'), rewindTo(1), userSays('u7')]);
    expect(await stable()).toBe(1);
    await appendAll(sessions, [createSummaryEvent(1, 1)]);
    expect(await stable()).toBe(0);
    await appendAll(sessions, [
      answers('a9', {
        given: [
          [8, 8],
          [7, 7],
        ],
      }),
    ]);
    expect(await stable()).toBe(7);
  });

  test('with keepPrompts: false only hashes are kept, and so of texts that are too long', async ({ open }) => {
    for (const settings of [{ history: { keepPrompts: false } }, { limits: { maxPromptBytes: 10 } }]) {
      const { sessions } = await open(settings);
      await sessionWith(sessions, [userSays('u1'), answers('a2', { given: [[1, 1]], instructions: PROMPT })]);
      const { instructions } = (await sessions.getModelRequest({ ...KEY, seq: 2 })) ?? {};
      expect(instructions).toEqual({ hash: requestHash(PROMPT), isKept: false });
    }
  });

  test('the texts go with the session, and a later one of its id has its own', async ({ open }) => {
    const { sessions, raw } = await open();
    const log = [userSays('u1'), answers('a2', { given: [[1, 1]], instructions: 'secret-1', tools: TOOLS })];
    await sessionWith(sessions, log);
    expect(JSON.stringify(await raw())).toContain('secret-1');
    await sessions.deleteSession(KEY);
    expect(JSON.stringify(await raw())).not.toContain('secret-1');
    await expectRefusal(sessions.getModelRequest({ ...KEY, seq: 2 }), 'SESSION_NOT_FOUND');
    await sessionWith(sessions, log);
    expect(await readRequestTexts(sessions, 2)).toEqual(['secret-1', TOOLS]);
  });

  test('the texts expire with the session', async ({ open, clock }) => {
    const { sessions, raw } = await open({ ttl: { enabled: true, sessionSeconds: 60 } });
    const session = await sessionWith(sessions, [
      userSays('u1'),
      answers('a2', { given: [[1, 1]], instructions: 'secret-1' }),
    ]);
    for (const seq of times(6, (index) => index + 2)) {
      clock.advance(20_000);
      const event = answers('a', { given: [[1, seq]], instructions: 'secret-2' });
      await sessions.appendEvent({ session, event });
    }
    expect(await readRequestTexts(sessions, 2)).toEqual(['secret-1', undefined]);
    clock.advance(61_000);
    await expectRefusal(sessions.getModelRequest({ ...KEY, seq: 2 }), 'SESSION_NOT_FOUND');
    await sessions.purgeExpired();
    expect(JSON.stringify(await raw())).not.toContain('secret');
  });

  test('a fork has the texts, and says if it lacks events that a model was given', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions, [
      ...turns('u', 'a'),
      answers('a3', { given: [[1, 2]], instructions: PROMPT, tools: TOOLS }),
      userSays('u4'),
      answers('a5', { given: [[1, 4]], instructions: PROMPT }),
    ]);
    await sessions.forkSession({ ...KEY, newSessionId: 'whole' });
    await sessions.deleteSession(KEY);
    const whole = { ...KEY, sessionId: 'whole' };
    expect(await readRequestTexts(sessions, 3, 'whole')).toEqual([PROMPT, TOOLS]);
    expect(await sessions.getModelRequest({ ...whole, seq: 5 })).toMatchObject({ given: [[1, 4]], isExact: true });
    await sessions.appendEvent({ session: { ...KEY, id: 'whole' }, event: createSummaryEvent(1, 3) });
    await sessions.forkSession({ ...whole, newSessionId: 'part' });
    const part = { ...KEY, sessionId: 'part' };
    const { events } = await sessions.listEvents(part);
    expect(events.map(({ modelRequest }) => modelRequest)).toEqual([
      undefined,
      undefined,
      { given: [[2, 2]], isExact: false, promptHash: requestHash(PROMPT) },
    ]);
    expect(await readRequestTexts(sessions, 3, 'part')).toEqual([PROMPT, undefined]);
  });

  test('refuses wrong numbers, and sessions that are not there', async ({ open }) => {
    const { sessions } = await open();
    await expectRefusal(sessions.getModelRequest({ ...KEY, seq: 1 }), 'SESSION_NOT_FOUND');
    await sessionWith(sessions, turns('u'));
    await expectRefusal(sessions.getModelRequest({ ...KEY, seq: 2 }), 'INVALID_INPUT', { path: 'seq' });
    await expectRefusal(sessions.getModelRequest({ ...KEY, seq: -1 }), 'INVALID_INPUT', { path: 'seq' });
    await expectRefusal(sessions.getModelRequest({ ...KEY, seq: 0 }), 'INVALID_INPUT', { path: 'seq' });
  });
});
