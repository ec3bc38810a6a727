import { InMemorySessionStorage, SessionService } from '../../src/index.js';
import { REQUEST_FIELDS } from '../../src/sessions/request-fields.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };

/** Fields that are long enough to tell a slip, by their methods. */
const FIELDS = Object.entries(REQUEST_FIELDS).flatMap(([method, names]) =>
  names.filter((name) => name.length > 3).map((name) => ({ method, name })),
);

type Method = (request: object, decide: () => void) => Promise<unknown> | AsyncIterable<unknown>;

describe('requests of the service', () => {
  let sessions: SessionService;

  beforeEach(async () => {
    sessions = new SessionService({ storage: new InMemorySessionStorage() });
    await sessions.createSession(KEY);
  });

  afterEach(() => sessions.close());

  /** Calls a method with plain JavaScript. */
  async function called(method: string, request: object): Promise<unknown> {
    const call = Reflect.get(sessions, method) as Method;
    return call.call(sessions, request, () => undefined);
  }

  it.each(FIELDS)('of $method refuse $name in another spelling, and say what was meant', async ({ method, name }) => {
    const slip = name.slice(0, -2) + name.slice(-1);
    const { [name as keyof typeof KEY]: _, ...others } = KEY;
    for (const wrong of [slip, name.toUpperCase()]) {
      await expect(called(method, { ...others, [wrong]: 1 })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        path: wrong,
        message: expect.stringMatching(/did you mean \w+\?/),
      });
    }
  });

  it('of a view refuse a config in another spelling', async () => {
    const config = { numRecentEvent: 2 } as object;
    const misspelled = { code: 'INVALID_INPUT', path: 'config.numRecentEvent' };
    await expect(sessions.getSession({ ...KEY, config })).rejects.toMatchObject(misspelled);
    await expect(sessions.explainView({ ...KEY, config })).rejects.toMatchObject(misspelled);
  });

  it('may have more: a request may be an object of the app', async () => {
    const row = { ...KEY, title: 'Ann', limitation: 1, toolCalls: [], orderId: 7 };
    expect(await sessions.getSession(row)).toMatchObject({ id: 's-1' });
    expect((await sessions.listSessions(row)).sessions).toHaveLength(1);
  });
});
