import type { Quotas } from '../../src/index.js';
import { SessionsClient } from '../../src/client/index.js';
import { ManualClock } from '../../src/testing/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp, frameworks } from './rest-app.js';

const ANN = { appName: 'shop', userId: 'ann' };
const KEY = { ...ANN, sessionId: 's' };
const PATH = '/apps/shop/users/ann/sessions';
const EVENT = { author: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } };
const MINUTE = Date.UTC(2026, 10, 23, 12, 1);

const options = (user: Quotas = { sessions: 1, appendsPerMinute: 2 }) => ({
  provider: 'memory' as const,
  clock: new ManualClock(MINUTE - 20_500),
  quotas: { user },
});
const RATE = { scope: 'user', quota: 'appendsPerMinute', used: 2, limit: 2, resetsAt: MINUTE };
const FULL = { scope: 'user', quota: 'sessions', used: 1, limit: 1 };

describe.each(frameworks)('quotas over REST on %s', (framework) => {
  let app: RestApp;

  beforeEach(async () => {
    app = await RestApp.start(framework, { sessions: options() });
    await app.request('POST', PATH, { sessionId: 's' });
  });
  afterEach(() => app.close());

  it('answer 429 with when to come back, and nothing is written', async () => {
    const append = () => app.request('POST', `${PATH}/s/events`, EVENT);
    for (let count = 0; count < 2; count++) expect((await append()).status).toBe(201);
    const { status, headers, body } = await append();
    expect([status, headers.get('retry-after')]).toEqual([429, '21']);
    expect(body).toMatchObject({ code: 'QUOTA_EXCEEDED', quota: RATE });
    expect((await app.request('GET', `${PATH}/s/events`)).body.events).toHaveLength(2);
  });

  it('answer an append that is repeated, over REST and by the client', async () => {
    const client = new SessionsClient({ url: app.url, retries: 0 });
    const events = [
      { ...EVENT, id: 'e-1' },
      { ...EVENT, id: 'e-2' },
    ];
    const stored = await client.appendBatch({ ...KEY, events });
    expect(stored.duplicate).toBe(false);
    expect(await client.appendBatch({ ...KEY, events })).toEqual({ ...stored, duplicate: true });
    const { status, headers, body } = await app.request('POST', `${PATH}/s/events`, events[0]);
    expect([status, headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(body).toEqual(stored.events[0]);
    const again = await client.append({ ...KEY, event: { ...EVENT, id: 'e-1' } });
    expect(again).toEqual({ event: stored.events[0], duplicate: true });
  });

  it('answer 429 without a time where only a deletion helps', async () => {
    const { status, headers, body } = await app.request('POST', PATH);
    expect([status, headers.get('retry-after')]).toEqual([429, null]);
    expect(body).toMatchObject({ code: 'QUOTA_EXCEEDED', quota: FULL });
    const usage = await app.request('GET', '/apps/shop/users/ann/usage');
    expect(usage.body.quotas).toEqual([FULL, { ...RATE, used: 0 }]);
  });

  it('of stored bytes answer 429 until something is deleted, and are seen in the usage', async () => {
    const full = await RestApp.start(framework, { sessions: options({ storedBytes: 300 }) });
    try {
      await full.request('POST', PATH, { sessionId: 's' });
      const event = { ...EVENT, customMetadata: { note: 'x'.repeat(300) } };
      const { status, headers, body } = await full.request('POST', `${PATH}/s/events`, event);
      expect([status, headers.get('retry-after')]).toEqual([429, null]);
      expect(body).toMatchObject({ code: 'QUOTA_EXCEEDED', quota: { quota: 'storedBytes', limit: 300 } });
      expect((await full.request('POST', `${PATH}/s/events`, EVENT)).status).toBe(201);
      const [quota] = (await full.request('GET', '/apps/shop/users/ann/usage')).body.quotas as [{ used: number }];
      expect(quota).toEqual({ scope: 'user', quota: 'storedBytes', used: expect.any(Number) as number, limit: 300 });
      expect(quota.used).toBeGreaterThan(100);
    } finally {
      await full.close();
    }
  });

  it('are an error of the client, which repeats only what time helps', async () => {
    const client = new SessionsClient({ url: app.url, retries: 0 });
    for (let count = 0; count < 2; count++) await client.appendEvent({ ...KEY, event: EVENT });
    const wait = { code: 'QUOTA_EXCEEDED', quota: RATE, isTemporary: true, retryAfterMs: 21_000 };
    await expect(client.appendEvent({ ...KEY, event: EVENT })).rejects.toMatchObject(wait);
    const full = { code: 'QUOTA_EXCEEDED', quota: FULL, isTemporary: false };
    await expect(new SessionsClient({ url: app.url }).createSession(ANN)).rejects.toMatchObject(full);
  });
});

describe('quotas over GraphQL', () => {
  let app: GraphqlApp;

  beforeEach(async () => (app = await GraphqlApp.start({ sessions: options() })));
  afterEach(() => app.close());

  it('answer an append that is repeated', async () => {
    await app.ask('mutation { createSession(appName: "shop", userId: "ann", sessionId: "s") { id } }');
    const append = (id: string) =>
      app.ask(`mutation {
        appendEvent(appName: "shop", userId: "ann", sessionId: "s", event: { id: "${id}", author: "user" }) { event { id seq } duplicate }
      }`);
    const first = await append('e-1');
    await append('e-2');
    expect((await append('e-3')).errors[0]?.extensions).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    const again = await append('e-1');
    expect(again.errors).toEqual([]);
    const { event } = first.data.appendEvent as { event: object };
    expect(again.data).toEqual({ appendEvent: { event, duplicate: true } });
  });

  it('are extensions of the error, and a part of the usage', async () => {
    const create = 'mutation { createSession(appName: "shop", userId: "ann") { id } }';
    expect((await app.ask(create)).errors).toEqual([]);
    const { errors } = await app.ask(create);
    expect(errors[0]?.extensions).toMatchObject({ code: 'QUOTA_EXCEEDED', status: 429, quota: FULL });
    const { data } = await app.ask(
      '{ usage(appName: "shop", userId: "ann") { quotas { scope quota used limit resetsAt } } }',
    );
    expect(data.usage).toEqual({
      quotas: [
        { ...FULL, resetsAt: null },
        { ...RATE, used: 0 },
      ],
    });
  });
});
