import type { EventInput } from '../../sessions/domain/event/event.js';
import type { MetadataDelta, SessionMetadata, SessionMetadataInput } from '../../sessions/domain/metadata/metadata.js';
import { topic } from '../contract-runner.js';
import {
  KEY,
  REFERENCE,
  type ServiceFixture,
  USER,
  appendAll,
  expectRefusal,
  load,
  rewindTo,
  createSummaryEvent,
  times,
  turns,
  userSays,
  wholeLog,
} from './support.js';

const NONE: SessionMetadata = { tags: [], labels: {}, fields: {} };
const START: SessionMetadata = {
  title: 'Refund',
  status: 'open',
  tags: ['new', 'vip'],
  labels: { region: 'eu' },
  fields: { cart: { items: [] }, none: null },
};

function changes(metadataDelta: MetadataDelta, more: EventInput = {}): EventInput {
  return { author: 'system', ...more, actions: { metadataDelta } };
}

/** With the path in the error. */
const INVALID: readonly (readonly [metadata: unknown, path: string])[] = [
  ['title', ''],
  [[], ''],
  [{ tag: 'vip' }, '.tag'],
  [{ title: 7 }, '.title'],
  [{ title: '' }, '.title'],
  [{ title: '\ud800' }, '.title'],
  [{ status: 'a\nb' }, '.status'],
  [{ status: ' open' }, '.status'],
  [{ status: 'é'.repeat(96) }, '.status'],
  [{ labels: ['x'] }, '.labels'],
  [{ labels: { a: 1 } }, '.labels.a'],
  [{ labels: { a: '' } }, '.labels.a'],
  [{ labels: { '': 'a' } }, '.labels[""]'],
  [{ fields: { 'a\u0000': 1 } }, '.fields["a\\u0000"]'],
  [{ fields: { a: { b: 1n } } }, '.fields.a.b'],
  [{ fields: 'cart' }, '.fields'],
];

const TOO_MUCH: readonly SessionMetadataInput[] = [
  { title: '😀'.repeat(1_001) },
  { labels: Object.fromEntries(times(17, (index) => [`l${index}`, 'x'])) },
  { fields: Object.fromEntries(times(65, (index) => [`f${index}`, 1])) },
  { fields: { a: 'x'.repeat(32_768) } },
];

export const metadata = topic<ServiceFixture>('metadata', (test) => {
  test('a session has the metadata of its creation in every read', async ({ open }) => {
    const { sessions } = await open();
    const created = await sessions.createSession({ ...KEY, metadata: { ...START, tags: ['vip', 'new', 'vip'] } });
    expect(created.metadata).toEqual(START);
    expect((await load(sessions)).metadata).toEqual(START);
    expect((await sessions.getOrCreateSession({ ...KEY, metadata: { title: 'Other' } })).metadata).toEqual(START);
    for (const owner of [USER, { appName: 'shop' }]) {
      for (const includeState of [true, false]) {
        const { sessions: listed } = await sessions.listSessions({ ...owner, includeState });
        expect(listed.map((session) => session.metadata)).toEqual([START]);
      }
    }
  });

  test('a session without metadata has empty tags, labels and fields', async ({ open }) => {
    const { sessions } = await open();
    expect((await sessions.createSession(KEY)).metadata).toEqual(NONE);
    expect((await load(sessions)).metadata).toEqual(NONE);
  });

  test('an event changes only the entries that it names', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, metadata: START });
    await appendAll(sessions, [
      changes({ title: 'Order 7', tags: { add: ['a:b'], remove: ['new'] } }),
      changes({ labels: { region: null, tier: 'gold' }, fields: { cart: null }, fieldRemovals: ['none'] }),
    ]);
    const expected = { ...START, title: 'Order 7', tags: ['a:b', 'vip'], labels: { tier: 'gold' } };
    expect((await load(sessions)).metadata).toEqual({ ...expected, fields: { cart: null } });
    await appendAll(sessions, [changes({ title: null, status: null })]);
    const { title: _title, status: _status, ...left } = expected;
    expect((await load(sessions)).metadata).toEqual({ ...left, fields: { cart: null } });
  });

  test('the logged event has the change', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession(KEY);
    const delta = { title: 'Refund', tags: { add: ['b', 'a', 'b'] }, labels: {}, fields: { at: new Date(0) } };
    const [stored] = await appendAll(sessions, [changes(delta)]);
    const kept = { title: 'Refund', tags: { add: ['b', 'a'] }, fields: { at: '1970-01-01T00:00:00.000Z' } };
    expect(stored?.actions.metadataDelta).toEqual(kept);
    expect((await wholeLog(sessions))[0]?.actions.metadataDelta).toEqual(kept);
  });

  test('names are compared and sorted byte for byte, and no name is special', async ({ open }) => {
    const { sessions } = await open();
    const tags = ['A', '__proto__', 'a', 'a:b', 'constructor', 'e\u0301', "it's {x} %d", 'é', '～', '😀'];
    const session = await sessions.createSession({ ...KEY, metadata: { tags: tags.toReversed() } });
    const labels = Object.fromEntries(tags.map((tag) => [tag, `of ${tag}`]));
    const fields = Object.fromEntries(tags.map((tag) => [tag, { of: tag }]));
    await sessions.appendEvent({ session, event: changes({ labels, fields }) });
    for (const { metadata: seen } of [session, await load(sessions)]) expect(seen).toEqual({ tags, labels, fields });
    const labelRemovals = Object.fromEntries(tags.map((tag) => [tag, null]));
    const removal = { tags: { remove: tags }, labels: labelRemovals, fieldRemovals: tags };
    await sessions.appendEvent({ session, event: changes(removal) });
    for (const { metadata: seen } of [session, await load(sessions)]) expect(seen).toEqual(NONE);
  });

  test('concurrent writers do not erase the changes of each other', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, metadata: { tags: ['z'] } });
    const add = async (index: number) =>
      sessions.appendEvent({ session: REFERENCE, event: changes({ tags: { add: [`t${index}`] } }) });
    await Promise.all(times(9, add));
    expect((await load(sessions)).metadata.tags).toEqual([...times(9, (index) => `t${index}`), 'z']);
  });

  test('an object only has the changes that were appended through it', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({ ...KEY, metadata: START });
    const other = await load(sessions);
    await sessions.appendEvent({ session: other, event: changes({ status: 'closed' }) });
    await sessions.appendEvent({ session, event: changes({ tags: { remove: ['vip'] }, title: 'Order 7' }) });
    expect(session.metadata).toEqual({ ...START, title: 'Order 7', tags: ['new'] });
    expect(other.metadata).toEqual({ ...START, status: 'closed' });
    const parallel = times(8, async (index) =>
      sessions.appendEvent({ session, event: changes({ title: `Title ${index}` }) }),
    );
    const last = (await Promise.all(parallel)).toSorted((a, b) => a.seq - b.seq).at(-1);
    expect(session.metadata.title).toBe(last?.actions.metadataDelta?.title);
    expect((await load(sessions)).metadata.title).toBe(session.metadata.title);
  });

  test('a returned object is a copy', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession({ ...KEY, metadata: START });
    session.metadata.tags.push('mine');
    session.metadata.fields.cart = 'mine';
    expect((await load(sessions)).metadata).toEqual(START);
  });

  test('a repeated event is not applied again', async ({ open }) => {
    const { sessions } = await open();
    const session = await sessions.createSession(KEY);
    const event = changes({ tags: { add: ['a'] } }, { id: 'once' });
    await sessions.appendEvent({ session, event });
    await appendAll(sessions, [changes({ tags: { remove: ['a'] } })]);
    expect(await sessions.append({ session, event })).toMatchObject({ duplicate: true });
    expect((await load(sessions)).metadata).toEqual(NONE);
    const otherwise = changes({ tags: { add: ['b'] } }, { id: 'once' });
    await expectRefusal(sessions.appendEvent({ session, event: otherwise }), 'EVENT_CONFLICT');
  });

  test('the events of a batch change metadata in their order, all or none', async ({ open }) => {
    const { sessions, raw } = await open();
    const session = await sessions.createSession({ ...KEY, metadata: { tags: times(63, (index) => `t${index}`) } });
    const before = await raw();
    const add = (tag: string) => changes({ tags: { add: [tag] } });
    const refused = sessions.appendEvents({ session, events: [add('a'), userSays('hello'), add('b')] });
    await expectRefusal(refused, 'LIMIT_EXCEEDED', { path: '$.events' });
    expect(await raw()).toEqual(before);
    const events = [
      changes({ title: 'One', tags: { add: ['a', 'b'] } }),
      changes({ title: 'Two', tags: { remove: ['a'] } }),
      changes({ status: 'open' }),
    ];
    await sessions.appendEvents({ session, events });
    for (const { metadata: seen } of [session, await load(sessions)]) {
      expect(seen).toMatchObject({ title: 'Two', status: 'open' });
      expect(seen.tags).toHaveLength(64);
      expect(seen.tags).toContain('b');
    }
  });

  test('a rewind does not change metadata', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, metadata: START });
    await appendAll(sessions, [userSays('one'), changes({ title: 'Order 7' }), userSays('two')]);
    expect((await sessions.rewindSession({ ...KEY, toSeq: 1 })).metadata.title).toBe('Order 7');
    await appendAll(sessions, [rewindTo(0, { metadataDelta: { title: 'Begun again' } })]);
    expect((await load(sessions)).metadata).toEqual({ ...START, title: 'Begun again' });
  });

  test('a fork of any moment has the current metadata of its source, which then changes independently', async ({
    open,
  }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, metadata: START });
    await appendAll(sessions, [userSays('one'), changes({ title: 'Order 7' })]);
    const fork = await sessions.forkSession({ ...KEY, newSessionId: 'f', atSeq: 1 });
    expect(fork.metadata).toEqual({ ...START, title: 'Order 7' });
    await sessions.appendEvent({ session: fork, event: changes({ title: 'Fork' }) });
    expect((await load(sessions, { sessionId: 'f' })).metadata.title).toBe('Fork');
    expect((await load(sessions)).metadata.title).toBe('Order 7');
  });

  test('a summary cannot change metadata, and trimming events does not either', async ({ open }) => {
    const { sessions } = await open({ history: { maxEvents: 2, keepHistory: false } });
    await sessions.createSession(KEY);
    await appendAll(sessions, [changes({ title: 'Refund', tags: { add: ['vip'] } }), ...turns('u', 'a', 'u', 'a')]);
    const summary = createSummaryEvent(1, 3);
    const changing = { ...summary, actions: { ...summary.actions, metadataDelta: { title: 'Other' } } };
    await expectRefusal(sessions.appendEvent({ session: REFERENCE, event: changing }), 'INVALID_INPUT');
    await appendAll(sessions, [summary, ...turns('u', 'a', 'u', 'a')]);
    expect((await load(sessions)).metadata).toEqual({ ...NONE, title: 'Refund', tags: ['vip'] });
  });

  test('a new session with the same id has no metadata', async ({ open }) => {
    const { sessions } = await open();
    await sessions.createSession({ ...KEY, metadata: START });
    await sessions.deleteSession(KEY);
    expect((await sessions.createSession(KEY)).metadata).toEqual(NONE);
  });

  test('an event that exceeds the limit together with stored metadata is refused, and nothing is written', async ({
    open,
  }) => {
    const { sessions, raw } = await open();
    const session = await sessions.createSession({ ...KEY, metadata: { tags: times(64, (index) => `t${index}`) } });
    const before = await raw();
    const event = changes({ tags: { add: ['one more'] } });
    await expectRefusal(sessions.appendEvent({ session, event }), 'LIMIT_EXCEEDED', {
      path: '$.actions.metadataDelta',
    });
    expect(await raw()).toEqual(before);
    await sessions.appendEvent({ session, event: changes({ tags: { add: ['one more'], remove: ['t0'] } }) });
    expect(session.metadata.tags).toHaveLength(64);
  });

  test('invalid metadata is refused at creation and in an event, with its path', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessions.createSession(KEY);
    const before = await raw();
    for (const [given, path] of INVALID) {
      const created = sessions.createSession({ ...KEY, sessionId: 'new', metadata: given as SessionMetadata });
      await expectRefusal(created, 'INVALID_INPUT', { path: `$.metadata${path}` });
      const appended = sessions.appendEvent({ session: REFERENCE, event: changes(given as MetadataDelta) });
      await expectRefusal(appended, 'INVALID_INPUT', { path: `$.actions.metadataDelta${path}` });
    }
    const both: MetadataDelta[] = [{ tags: { add: ['a'], remove: ['a'] } }, { fields: { a: 1 }, fieldRemovals: ['a'] }];
    for (const delta of both) {
      await expectRefusal(sessions.appendEvent({ session: REFERENCE, event: changes(delta) }), 'INVALID_INPUT');
    }
    expect(await raw()).toEqual(before);
  });

  test('too much metadata is refused at creation and in an event', async ({ open }) => {
    const { sessions, raw } = await open();
    await sessions.createSession({ ...KEY, metadata: { title: '😀'.repeat(1_000), status: 'é'.repeat(95) } });
    const before = await raw();
    for (const given of TOO_MUCH) {
      const created = sessions.createSession({ ...KEY, sessionId: 'new', metadata: given });
      await expectRefusal(created, 'LIMIT_EXCEEDED');
      await expectRefusal(
        sessions.appendEvent({ session: REFERENCE, event: changes(given as MetadataDelta) }),
        'LIMIT_EXCEEDED',
      );
    }
    expect(await raw()).toEqual(before);
  });
});
