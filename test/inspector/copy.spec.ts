import { fileNameOf } from '../../inspector/src/copy/copy-file.js';
import { CopyReads } from '../../inspector/src/copy/copy-reads.js';
import { type ReadCopyOptions, readCopy } from '../../inspector/src/copy/read-copy.js';
import type { SessionCopy } from '../../inspector/src/copy/session-copy.js';
import type { SessionReads } from '../../inspector/src/session-reads.js';
import { InMemorySessionStorage, SessionService } from '../../src/index.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const HOSTILE = '</script><script>alert(1)</script><!-- \u2028\u2029 \u202e';

describe('a copy of a session', () => {
  let sessions: SessionService;
  let reads: SessionReads;
  beforeEach(() => {
    sessions = new SessionService({ storage: new InMemorySessionStorage() });
    // It has the methods of the client.
    reads = sessions;
  });
  afterEach(() => sessions.close());

  /** A log with state in all scopes, calls, and a rewind over some of it. */
  const fill = async (): Promise<void> => {
    const session = await sessions.createSession({ ...KEY, state: { step: 0, gone: true, 'app:currency': 'EUR' } });
    const deltas = [
      { stateDelta: { step: 1, 'user:theme': 'dark', 'temp:x': 1 } },
      { stateDelta: JSON.parse(`{"__proto__":"own","constructor":null}`) as Record<string, unknown> },
      { stateDelta: { step: 2, 'app:currency': 'USD' }, stateRemovals: ['gone'] },
      { stateDelta: { step: 2 } },
      { stateDelta: { step: { deep: [3] } }, stateRemovals: ['user:theme'] },
    ];
    for (const actions of deltas) await sessions.appendEvent({ session, event: { author: 'tool', actions } });
    await sessions.rewindSession({ ...KEY, toSeq: 3 });
    const later = await sessions.getSession(KEY);
    if (!later) throw new Error('The session is gone.');
    await sessions.appendEvent({ session: later, event: { author: HOSTILE, content: { parts: [{ text: HOSTILE }] } } });
  };

  it('answers what the app answers: the log, the view, the state at each event and who set a key', async () => {
    await fill();
    const copy = new CopyReads(await copied(reads));
    const { state: _state, ...shown } = plain(await sessions.getSession(KEY)) as { state: unknown };
    expect(plain(await copy.getSession(KEY))).toEqual(shown);
    const { lastSeq } = await sessions.listEvents(KEY);
    for (let seq = 0; seq <= lastSeq; seq++) {
      expect(plain(await copy.stateAt({ ...KEY, seq }))).toEqual(plain(await sessions.stateAt({ ...KEY, seq })));
    }
    for (const part of [{}, { fromSeq: 2, toSeq: 4 }]) {
      const { events } = await sessions.explainView({ ...KEY, ...part });
      expect(plain(await copy.explainView({ ...KEY, ...part }))).toEqual(plain({ events }));
    }
    for (const key of ['step', '__proto__', 'constructor', 'app:currency', 'user:theme', 'gone', 'never', undefined]) {
      const asked = { ...KEY, key };
      expect(plain(await copy.stateChanges(asked))).toEqual(plain(await sessions.stateChanges(asked)));
    }
    for (const asked of [{}, { order: 'desc' }, { afterSeq: 2, limit: 3 }, { beforeSeq: 4 }] as const) {
      const [{ nextCursor: one, ...mine }, { nextCursor: other, ...theirs }] = await Promise.all([
        copy.listEvents({ ...KEY, ...asked }),
        sessions.listEvents({ ...KEY, ...asked }),
      ]);
      expect(plain(mine)).toEqual(plain(theirs));
      expect(one === undefined).toBe(other === undefined);
    }
    for await (const event of copy.watch()) throw new Error(`event ${event.seq} came to a copy`);
  });

  it('goes through its pages without losing or repeating anything', async () => {
    await fill();
    const copy = new CopyReads(await copied(reads));
    for (const order of ['asc', 'desc'] as const) {
      const { events } = await copy.listEvents({ ...KEY, order });
      const pages = await pagesOf((cursor) => copy.listEvents({ ...KEY, order, limit: 2, cursor }));
      expect(pages.flatMap((page) => page.events)).toEqual(events);
    }
    const { changes } = await copy.stateChanges(KEY);
    const pages = await pagesOf((cursor) => copy.stateChanges({ ...KEY, limit: 1, cursor }));
    expect(pages.length).toBeGreaterThan(3);
    expect(pages.flatMap((page) => page.changes)).toEqual(changes);
  });

  it('has the newest events of a long log, with the state that was before them', async () => {
    await fill();
    const whole = await sessions.listEvents(KEY);
    for (const most of [{ mostEvents: 3 }, { mostCharacters: 1_000 }]) {
      const cut = await copied(reads, most);
      expect(cut.count).toBe(whole.lastSeq);
      expect(cut.events.length).toBeLessThan(whole.lastSeq);
      expect(cut.events).toEqual(plain(whole.events.slice(-cut.events.length)));
      const copy = new CopyReads(cut);
      expect(await copy.listEvents(KEY)).toMatchObject({ firstSeq: cut.before.seq + 1, lastSeq: whole.lastSeq });
      // The view may have events that are not in the copy.
      expect((await copy.getSession(KEY)).events.map(({ seq }) => seq)).toEqual([1, 2, 3, 7]);
      for (let seq = cut.before.seq; seq <= whole.lastSeq; seq++) {
        expect(plain(await copy.stateAt({ ...KEY, seq }))).toEqual(plain(await sessions.stateAt({ ...KEY, seq })));
      }
      await expect(copy.stateAt({ ...KEY, seq: cut.before.seq - 1 })).rejects.toThrow('is not in this copy');
    }
  });

  it('begins where the log begins, if older events were trimmed', async () => {
    const history = { maxEvents: 1, keepHistory: false };
    sessions = new SessionService({ storage: new InMemorySessionStorage(), history });
    const session = await sessions.createSession(KEY);
    for (let step = 1; step <= 70; step++) {
      await sessions.appendEvent({ session, event: { author: 'tool', actions: { stateDelta: { step } } } });
    }
    await sessions.whenIdle();
    const { firstSeq } = await sessions.listEvents(KEY);
    expect(firstSeq).toBeGreaterThan(1);
    const cut = await copied(sessions);
    expect(cut).toMatchObject({ count: 71 - firstSeq, before: { seq: firstSeq - 1, state: { step: firstSeq - 1 } } });
    expect(cut.events).toHaveLength(cut.count);
  });

  it('keeps the state of a log of thousands of events in reach, and right', async () => {
    const session = await sessions.createSession(KEY);
    for (let first = 1; first <= 2_500; first += 100) {
      const events = Array.from({ length: 100 }, (_, index) => ({
        author: 'tool',
        actions: { stateDelta: { step: first + index, [`of ${first}`]: index } },
      }));
      await sessions.appendEvents({ session, events });
    }
    const progress: unknown[] = [];
    const copy = new CopyReads(await copied(reads, { onProgress: (each) => progress.push(each) }));
    expect(progress).toEqual([1_000, 2_000, 2_500].map((read) => ({ read, total: 2_500 })));
    for (const seq of [2_500, 1, 999, 1_000, 1_001, 2_400, 2_000, 0]) {
      expect(plain(await copy.stateAt({ ...KEY, seq }))).toEqual(plain(await sessions.stateAt({ ...KEY, seq })));
    }
  });

  it('has no text that could end its element, or begin another one', async () => {
    await fill();
    const { json } = await readCopy(reads, KEY, WITHOUT_END);
    expect(json.join('')).not.toMatch(/[<\u2028\u2029]/);
    expect((await copied(reads)).events.at(-1)?.author).toBe(HOSTILE);
  });

  it('is of one moment: what is appended meanwhile is not in it', async () => {
    await fill();
    const session = await sessions.getSession(KEY);
    const { lastSeq } = await sessions.listEvents(KEY);
    const slow: SessionReads = {
      ...methodsOf(reads),
      listEvents: async (request) => {
        await sessions.appendEvent({ session: session as never, event: { author: 'late' } });
        return reads.listEvents(request);
      },
    };
    const copy = await copied(slow);
    expect(copy.session.version).toBe(lastSeq);
    expect(copy.events.map(({ seq }) => seq)).toEqual(Array.from({ length: lastSeq }, (_, index) => index + 1));
  });

  it('can be given up', async () => {
    await fill();
    const ended = new AbortController();
    const options = { signal: ended.signal, onProgress: () => ended.abort() };
    let asked = 0;
    const counted: SessionReads = {
      ...methodsOf(reads),
      listEvents: (request) => {
        asked += 1;
        return reads.listEvents({ ...request, limit: 1 });
      },
    };
    await expect(readCopy(counted, KEY, options)).rejects.toThrow(/abort/);
    expect(asked).toBe(1);
  });

  it('of a session that is not there is an error', async () => {
    await expect(readCopy(reads, KEY, WITHOUT_END)).rejects.toThrow('does not exist');
  });

  it.each([
    ['Ann asks for a refund', 'session-Ann-asks-for-a-refund.html'],
    ['../../etc/passwd', 'session-etc-passwd.html'],
    ['Zoë 東京', 'session-Zoë-東京.html'],
    ['\u202egpj.exe', 'session-gpj-exe.html'],
    ['  ', 'session.html'],
    ['a'.repeat(300), `session-${'a'.repeat(60)}.html`],
  ])('of %j gets a name that all systems take', (title, name) => {
    expect(fileNameOf(title)).toBe(name);
  });
});

const WITHOUT_END: ReadCopyOptions = { onProgress: () => undefined, signal: new AbortController().signal };

async function copied(reads: SessionReads, options: Partial<ReadCopyOptions> = {}): Promise<SessionCopy> {
  const { json } = await readCopy(reads, KEY, { ...WITHOUT_END, ...options });
  return JSON.parse(json.join('')) as SessionCopy;
}

function methodsOf(reads: SessionReads): SessionReads {
  return {
    getSession: (key) => reads.getSession(key),
    listEvents: (request) => reads.listEvents(request),
    explainView: (request) => reads.explainView(request),
    stateAt: (request) => reads.stateAt(request),
    stateChanges: (request) => reads.stateChanges(request),
    watch: (request) => reads.watch(request),
    getModelRequest: (request) => reads.getModelRequest(request),
  };
}

async function pagesOf<Page extends { readonly nextCursor?: string }>(
  read: (cursor: string | undefined) => Promise<Page>,
): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    pages.push(page);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

/** As JSON gives it. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
