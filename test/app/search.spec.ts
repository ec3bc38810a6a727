import { SessionsClient } from '../../src/client/index.js';
import { RunningApp } from './running-app.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's' };
const QUERY = `{ searchEvents(appName: "shop", userId: "ann", text: "parcel") { nodes { sessionId seq snippet } } }`;

/** Until the index has the event: search is behind an append by design. */
async function firstHits(client: SessionsClient): Promise<readonly object[]> {
  for (;;) {
    const { hits } = await client.searchEvents({ appName: 'shop', userId: 'ann', text: 'parcel' });
    if (hits.length > 0) return hits;
  }
}

describe('Search in the app of npm start', () => {
  let app: RunningApp | undefined;
  afterEach(() => app?.remove());

  const stores: Record<string, string>[] = [{}, { SESSIONS_PROVIDER: 'memory' }];
  it.each(stores)('finds with SEARCH=true what was said, over REST and GraphQL: %j', async (store) => {
    app = await RunningApp.start({ ...store, SEARCH: 'true', DEMO_AGENT: 'false' });
    const client = new SessionsClient({ url: app.url });
    await client.createSession(KEY);
    const content = { role: 'user', parts: [{ text: 'My parcel is late' }] };
    await client.appendEvent({ ...KEY, event: { author: 'user', content } });
    const hit = { sessionId: 's', seq: 1, snippet: expect.stringContaining('parcel') as string };
    expect(await firstHits(client)).toEqual([expect.objectContaining(hit)]);
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: QUERY }),
    });
    expect(await response.json()).toEqual({ data: { searchEvents: { nodes: [hit] } } });
  });

  it('is not there unless it is wanted', async () => {
    app = await RunningApp.start({ SESSIONS_PROVIDER: 'memory' });
    expect((await fetch(`${app.url}/apps/shop/users/ann/search?text=parcel`)).status).toBe(404);
  });
});
