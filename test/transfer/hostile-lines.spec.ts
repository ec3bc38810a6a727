import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { diagnose } from '../../src/doctor/index.js';
import { exportSessions, importSessions } from '../../src/transfer/index.js';
import { filledStore, importLines, linesOf } from './support.js';

/** JSON that somebody may write into any place of a file. */
const HOSTILE = [7, -1, 1.5, true, 'x', '', '\u0000', [], [7], [null], {}, { x: 7 }, { toSeq: 'x' }, null];

type Fields = Record<string, unknown>;

/** The places of an event that the package reads, and the objects around them. */
const PLACES = `
  id invocationId author branch timestamp partial content actions longRunningToolIds
  usageMetadata customMetadata errorCode content.parts content.parts.0 content.role content.parts.0.text content.parts.0.functionCall content.parts.0.functionResponse
  content.parts.0.functionCall.id content.parts.0.functionCall.name content.parts.0.functionCall.args actions.stateDelta actions.stateRemovals actions.metadataDelta
  actions.compaction actions.rewind actions.stateDelta.temp:x actions.stateDelta.user: actions.metadataDelta.tags usageMetadata.totalTokenCount
`
  .trim()
  .split(/\s+/);

function withValue(object: Fields, [name = '', ...rest]: readonly string[], value: unknown): Fields {
  const copy = Array.isArray(object) ? ([...object] as unknown as Fields) : { ...object };
  copy[name] = rest.length === 0 ? value : withValue((copy[name] ?? {}) as Fields, rest, value);
  return copy;
}

const withNumberForIds = (event: Fields): Fields => ({ ...event, longRunningToolIds: 7 });

describe('An import', () => {
  let lines: string[];

  beforeAll(async () => {
    const storage = new InMemorySessionStorage();
    const sessions = new SessionService({ storage });
    const session = await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's', state: { a: 1 } });
    const call = { role: 'model', parts: [{ functionCall: { id: 'c', name: 'find', args: {} } }] };
    await sessions.appendEvents({
      session,
      events: [
        { author: 'user', content: { role: 'user', parts: [{ text: 'hi' }] } },
        { author: 'agent', content: call, actions: { stateDelta: { a: 2 } } },
      ],
    });
    lines = await linesOf(storage);
  });

  /** The export with other fields in its last event, in a file that is whole. */
  async function* changedFile(change: (event: Fields) => Fields): AsyncGenerator<string> {
    const { createHash } = await import('node:crypto');
    const body = lines.map((line) => JSON.parse(line) as Fields);
    const last = body.findLast(({ kind }) => kind === 'event');
    if (last) last['event'] = change(last['event'] as Fields);
    const digest = createHash('sha256');
    for (const { kind, event } of body) if (kind === 'event') digest.update(`${JSON.stringify(event)}\n`);
    for (const line of body) if (line['kind'] === 'end') line['digest'] = digest.digest('hex');
    const file = createHash('sha256');
    for (const line of body) {
      if (line['kind'] === 'footer') line['digest'] = file.digest('hex');
      const text = `${JSON.stringify(line)}\n`;
      if (line['kind'] !== 'footer') file.update(text);
      yield text;
    }
  }

  it('takes its own file again', async () => {
    const storage = new InMemorySessionStorage();
    expect(
      await importSessions(
        storage,
        changedFile((event) => event),
      ),
    ).toMatchObject({ sessions: { created: 1 } });
  });

  it('takes a fork that begins with the summary of its origin', async () => {
    const sessions = new SessionService({ storage: new InMemorySessionStorage() });
    const key = { appName: 'shop', userId: 'ann', sessionId: 's' };
    const session = await sessions.createSession(key);
    const compaction = { fromSeq: 1, toSeq: 1 };
    const content = { role: 'user', parts: [{ text: 'before' }] };
    await sessions.appendEvents({ session, events: [{ author: 'user' }, { author: 'agent' }] });
    await sessions.appendEvent({ session, event: { author: 'system', content, actions: { compaction } } });
    await sessions.forkSession({ ...key, newSessionId: 'fork' });
    const target = new InMemorySessionStorage();
    expect(await importSessions(target, exportSessions(sessions))).toMatchObject({ sessions: { created: 2 } });
    expect((await diagnose({ storage: target })).findings).toEqual([]);
  });

  it.each(PLACES)(
    'stores no %s that an append refuses, so that the rest of the package can read what it stored',
    async (place) => {
      for (const value of HOSTILE) {
        const storage = new InMemorySessionStorage();
        const sessions = new SessionService({ storage });
        const result = await importSessions(
          storage,
          changedFile((event) => withValue(event, place.split('.'), value)),
        ).catch((error: unknown) => error);
        if (result instanceof Error) {
          expect(result).toMatchObject({ code: 'TRANSFER_FILE_INVALID' });
          continue;
        }
        const key = { appName: 'shop', userId: 'ann', sessionId: 's' };
        expect((await sessions.getSession(key))?.events.length).toBeGreaterThan(0);
        expect((await sessions.listEvents(key)).events).toHaveLength(2);
        expect((await diagnose({ storage })).counts).not.toHaveProperty('EVENT_UNREADABLE');
        for await (const line of exportSessions(storage)) expect(line).not.toContain('"skipped"');
        await sessions.forkSession({ ...key, newSessionId: 'fork' });
      }
    },
  );

  it('refuses an event whose id another one of the session has, and leaves the session out if that is wanted', async () => {
    const first = lines.map((line) => JSON.parse(line) as Fields).find(({ kind }) => kind === 'event');
    const id = (first?.['event'] as Fields | undefined)?.['id'];
    const twice = (): AsyncGenerator<string> => changedFile((event) => ({ ...event, id }));
    const refusal = /^Line \d+ cannot be imported: the session has another event of this id\.$/;
    await expect(importSessions(new InMemorySessionStorage(), twice())).rejects.toThrow(refusal);
    await expect(importSessions(new InMemorySessionStorage(), twice(), { dryRun: true })).rejects.toThrow(refusal);
    const storage = new InMemorySessionStorage();
    const { sessions, problems } = await importSessions(storage, twice(), { onBad: 'skip' });
    expect(sessions).toMatchObject({ created: 0 });
    expect(problems).toHaveLength(1);
    expect((await new SessionService({ storage }).listSessions({ appName: 'shop' })).sessions).toEqual([]);
  });

  it('says which field of which line an append would refuse, and leaves its session out if that is wanted', async () => {
    await expect(importSessions(new InMemorySessionStorage(), changedFile(withNumberForIds))).rejects.toThrow(
      /^Line \d+ cannot be imported: \$\.longRunningToolIds: must be an array, such as \['call-1'\]\.$/,
    );
    const storage = new InMemorySessionStorage();
    const { sessions, problems } = await importSessions(storage, changedFile(withNumberForIds), { onBad: 'skip' });
    expect(sessions).toMatchObject({ created: 0 });
    expect(problems).toContainEqual(
      expect.objectContaining({ sessionId: 's', problem: expect.stringContaining('longRunningToolIds') }),
    );
    expect((await new SessionService({ storage }).listSessions({ appName: 'shop' })).sessions).toEqual([]);
  });

  it.each([
    ['state of another scope', '"state":{"user:a":1'],
    ['a state key without name', '"state":{"":1'],
    ['metadata that no session has', '"metadata":{"ghost":1'],
    ['a tag that is no tag', '"metadata":{"tag:x":7'],
  ])('refuses a session with %s', async (_what, instead) => {
    const { storage, clock } = await filledStore();
    const all = await linesOf(storage);
    const changed = all.map((line) => line.replace(/"(state|metadata)":\{(?=")/, `${instead},`));
    const target = new InMemorySessionStorage({ clock });
    await expect(importLines(target, changed)).rejects.toMatchObject({ code: 'TRANSFER_FILE_INVALID' });
  });

  it.each([
    ['open brackets', '['.repeat(10_000_000)],
    ['brackets', '['.repeat(5_000_000) + ']'.repeat(5_000_000)],
    ['objects', '{"a":'.repeat(2_000_000)],
    ['brackets after an escaped quote', `["\\"",${'['.repeat(10_000_000)}`],
  ])('refuses 10 MB of %s without parsing them', async (_what, text) => {
    const parse = jest.spyOn(JSON, 'parse');
    const file = [lines[0] ?? '', `${text}\n`];
    await expect(importLines(new InMemorySessionStorage(), file)).rejects.toThrow(
      'Line 2 cannot be imported: it is nested too deeply.',
    );
    expect(parse.mock.calls.every(([given]) => given.length < 10_000)).toBe(true);
    parse.mockRestore();
  });

  it('takes brackets inside of texts for what they are', async () => {
    const storage = new InMemorySessionStorage();
    const text = '\\"[{'.repeat(5_000);
    const withText = changedFile((event) => ({ ...event, customMetadata: { text } }));
    expect(await importSessions(storage, withText)).toMatchObject({ sessions: { created: 1 } });
  });
});
