import type { EventInput } from '../../sessions/domain/event/event.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  USER,
  expectRefusal,
  load,
  sessionWith,
  times,
  userSays,
} from './support.js';

/** Objects and arrays, nested to this depth. */
function nested(levels: number): unknown {
  return times(levels - 1, (index) => index).reduce<unknown>((inner, index) => (index % 2 ? [inner] : { inner }), {});
}

function manyKeys(count: number): Record<string, number> {
  return Object.fromEntries(times(count, (index) => [`k${index}`, index]));
}

/** An event with this many bytes of text. */
function filled(bytes: number): EventInput {
  const text = 'é'.repeat(Math.floor(bytes / 2)) + 'x'.repeat(bytes % 2);
  return userSays(text, { id: 'e2', timestamp: 1_700_000_000_000 });
}

export const limits = topic<ServiceFixture>('limits', (test) => {
  test('a value may be 64 levels deep', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessions.createSession({ ...KEY, state: { k: nested(64) } });
    await sessions.appendEvent({
      session,
      event: { author: 'agent', actions: { stateDelta: { k: nested(64), 'user:k': nested(64) } } },
    });
    expect((await load(sessions)).state.get('k')).toEqual(nested(64));
    const before = await raw();
    const tooDeep = [
      sessions.createSession({ ...KEY, sessionId: 'other', state: { k: nested(65) } }),
      sessions.appendEvent({ session, event: { author: 'agent', actions: { stateDelta: { k: nested(65) } } } }),
      sessions.appendEvent({
        session,
        event: { author: 'agent', customMetadata: nested(64) as Record<string, unknown> },
      }),
      sessions.updateUserState({ ...USER, stateDelta: { k: nested(65) } }),
      sessions.appendEvent({
        session,
        event: { author: 'agent', customMetadata: nested(100_000) as Record<string, unknown> },
      }),
    ];
    for (const refusal of tooDeep) await expectRefusal(refusal, 'LIMIT_EXCEEDED');
    expect(await raw()).toEqual(before);
  });

  test('a change may touch 1,000 keys, removals included', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessions.createSession({ ...KEY, state: manyKeys(1000) });
    const actions = { stateDelta: manyKeys(999), stateRemovals: ['k999'] };
    await sessions.appendEvent({ session, event: { author: 'agent', actions } });
    expect(Object.keys((await load(sessions)).state.toRecord())).toHaveLength(999);
    const before = await raw();
    const tooMany = [
      sessions.createSession({ ...KEY, sessionId: 'other', state: manyKeys(1001) }),
      sessions.appendEvent({ session, event: { author: 'agent', actions: { stateDelta: manyKeys(1001) } } }),
      sessions.appendEvent({
        session,
        event: { author: 'agent', actions: { stateDelta: manyKeys(1000), stateRemovals: ['x'] } },
      }),
      sessions.updateUserState({ ...USER, stateDelta: manyKeys(1001) }),
    ];
    for (const refusal of tooMany) await expectRefusal(refusal, 'LIMIT_EXCEEDED');
    expect(await raw()).toEqual(before);
  });

  test('an event may have 1 MiB, in bytes of its stored text', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessionWith(sessions);
    const event = userSays('', { id: 'e1', timestamp: 1_700_000_000_000 });
    const { seq: _, ...empty } = await sessions.appendEvent({ session, event });
    const room = 1_048_576 - Buffer.byteLength(JSON.stringify(empty));
    const before = await raw();
    await expectRefusal(sessions.appendEvent({ session, event: filled(room + 1) }), 'LIMIT_EXCEEDED');
    expect(await raw()).toEqual(before);
    const stored = await sessions.appendEvent({ session, event: filled(room) });
    expect((await load(sessions)).events[1]).toEqual(stored);
  });

  test('initial state has the same byte limit as an event', async ({ open }) => {
    const { sessions, raw } = await open();
    const before = await raw();
    const state = Object.fromEntries(times(4, (index) => [`k${index}`, 'x'.repeat(300_000)]));
    await expectRefusal(sessions.createSession({ ...KEY, state }), 'LIMIT_EXCEEDED');
    await expectRefusal(sessions.updateUserState({ ...USER, stateDelta: state }), 'LIMIT_EXCEEDED');
    expect(await raw()).toEqual(before);
  });

  test('a value with many shared references is refused before it is serialised', async ({ open }) => {
    const { sessions } = await open();
    await sessionWith(sessions);
    let value: unknown = 'x'.repeat(1000);
    for (let level = 0; level < 40; level++) value = [value, value];
    const event = { author: 'user', customMetadata: { value } };
    await expectRefusal(sessions.appendEvent({ session: REFERENCE, event }), 'LIMIT_EXCEEDED');
  });

  test('every limit can be configured', async ({ open }) => {
    const { sessions } = await open({ limits: { maxDepth: 3, maxDeltaKeys: 2, maxEventBytes: 400 } });
    const session = await sessions.createSession({ ...KEY, state: { a: nested(3), b: 1 } });
    await sessions.appendEvent({ session, event: { author: 'agent', customMetadata: { ok: {} } } });
    const tooMuch: EventInput[] = [
      { author: 'agent', actions: { stateDelta: { k: nested(4) } } },
      { author: 'agent', actions: { stateDelta: manyKeys(3) } },
      { author: 'agent', customMetadata: { text: 'x'.repeat(400) } },
    ];
    for (const event of tooMuch) await expectRefusal(sessions.appendEvent({ session, event }), 'LIMIT_EXCEEDED');
  });
});
