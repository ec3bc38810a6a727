import type { Session } from '../../src/index.js';
import { RestApp, frameworks } from './rest-app.js';

const SESSIONS = '/apps/shop/users/ann/sessions';
const PAGE = 100_000;
const LONG = 'x'.repeat(20_000);

interface Page {
  readonly events: readonly { readonly seq: number }[];
  readonly sessions: readonly Session[];
  readonly nextCursor?: string;
}

describe.each(frameworks)('pages with a byte limit on %s', (framework) => {
  let app: RestApp;

  beforeEach(async () => {
    app = await RestApp.start(framework, { sessions: { limits: { maxPageBytes: PAGE, maxViewBytes: PAGE } } });
  });

  afterEach(() => app.close());

  const list = async (query: string): Promise<Page> =>
    (await app.request('GET', `${SESSIONS}?${query}`)).body as unknown as Page;

  async function fillLog(): Promise<void> {
    await app.sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 's' });
    for (let number = 0; number < 12; number++) {
      const event = { author: 'user', content: { parts: [{ text: LONG }] } };
      await app.sessions.appendEvent({ session: { appName: 'shop', userId: 'ann', id: 's' }, event });
    }
  }

  it('end early, and links continue through all events', async () => {
    await fillLog();
    const seqs: number[] = [];
    let path: string | undefined = `${SESSIONS}/s/events?limit=1000`;
    while (path !== undefined) {
      const { body, headers, text } = await app.request('GET', path);
      expect(text.length).toBeLessThan(PAGE * 1.1);
      seqs.push(...(body as unknown as Page).events.map(({ seq }) => seq));
      path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(seqs).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  });

  it('differ from views, which hold the newest events that fit and report it', async () => {
    await fillLog();
    const { body } = await app.request('GET', `${SESSIONS}/s`);
    expect(body).toMatchObject({ events: [9, 10, 11, 12].map((seq) => ({ seq })), eventsTruncated: true });
    const { body: short } = await app.request('GET', `${SESSIONS}/s?numRecentEvents=3`);
    expect(short).not.toHaveProperty('eventsTruncated');
  });

  it('refuse a response that exceeds the maximum string length with a client error', async () => {
    const tooLong = {
      toJSON() {
        throw new RangeError('Invalid string length');
      },
    };
    jest.spyOn(app.sessions, 'getAppState').mockResolvedValue(tooLong);
    const { status, body } = await app.request('GET', '/apps/shop/state');
    expect(status).toBe(413);
    expect(body).toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  describe('of sessions that share a large state', () => {
    beforeEach(async () => {
      for (let number = 0; number < 12; number++) {
        const state = number === 0 ? { 'user:long': LONG } : {};
        await app.sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: `s-${number}`, state });
      }
    });

    it('end early', async () => {
      const first = await list('limit=1000');
      expect(first.sessions).toHaveLength(4);
      const second = await list(`limit=1000&cursor=${first.nextCursor}`);
      expect(second.sessions).toHaveLength(4);
      expect(new Set([...first.sessions, ...second.sessions].map(({ id }) => id)).size).toBe(8);
    });

    it('are complete without the state', async () => {
      const { sessions, nextCursor } = await list('includeState=false');
      expect(sessions).toHaveLength(12);
      expect(sessions[0]?.state).toEqual({});
      expect(nextCursor).toBeUndefined();
    });

    it.each([
      ['page=1', 413, 'LIMIT_EXCEEDED'],
      ['offset=1', 413, 'LIMIT_EXCEEDED'],
      ['includeState=no', 400, 'INVALID_INPUT'],
    ])('are refused: %s', async (query, status, code) => {
      const answer = await app.request('GET', `${SESSIONS}?${query}`);
      expect(answer.status).toBe(status);
      expect(answer.body).toMatchObject({ code });
    });
  });
});
