import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { SessionService } from '../../src/index.js';
import type { OpenStorage } from '../../src/testing/open-storage.js';
import { storeOfEachKind } from '../support/stores.js';
import { SHOP, TEAMS, TeamAccess, contentOf, idsIn, moveTo, plant } from '../support/team-access.js';
import { GraphqlApp } from './graphql-app.js';
import { LiveWatch } from './live-watch.js';

describe.each(storeOfEachKind)('a rule that returns a filter, over GraphQL on $name', ({ open }) => {
  let store: OpenStorage;
  let app: GraphqlApp;
  const ask = (query: string, headers: Record<string, string> = TEAMS.north) => app.ask(query, {}, headers);
  const refusals = ({ errors }: Awaited<ReturnType<typeof ask>>) => errors.map(({ extensions }) => extensions?.code);

  beforeAll(async () => {
    store = await open({});
    const sessions = new SessionService({ storage: store.storage });
    app = await GraphqlApp.start({
      access: TeamAccess,
      streams: { recheckSeconds: 0.02 },
      services: { sessions },
    });
    await plant(sessions);
  });
  afterAll(async () => {
    await app.close();
    await store.destroy();
  });

  it('lists only what it matches, in each field of a document', async () => {
    const { data } = await ask(`{
      app: sessions(appName: "shop") { nodes { id } }
      ann: sessions(appName: "shop", userId: "ann") { nodes { id } }
      wide: sessions(appName: "shop", filter: { labels: { team: "south" } }) { nodes { id } }
      open: sessions(appName: "shop", filter: { status: "open" }) { nodes { id } }
    }`);
    const ids = Object.entries(data).map(([name, page]) => [name, idsIn((page as { nodes: unknown }).nodes)]);
    expect(Object.fromEntries(ids)).toEqual({ app: ['n1', 'n2'], ann: ['n1'], wide: [], open: ['n1'] });
  });

  it('lists only what it matches over a WebSocket', async () => {
    const client = createClient({
      url: app.webSocketUrl,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: TEAMS.south,
    });
    const { value } = await client.iterate({ query: '{ sessions(appName: "shop") { nodes { id } } }' }).next();
    expect(value).toEqual({ data: { sessions: { nodes: [{ id: 's1' }] } } });
    await client.dispose();
  });

  it('hides sessions of another team', async () => {
    const key = 'appName: "shop", userId: "ann", sessionId: "s1"';
    expect((await ask(`{ session(${key}) { id } }`)).data).toEqual({ session: null });
    const before = await contentOf(app.sessions, 's1');
    for (const mutation of [
      `appendEvent(${key}, event: {author: "user", actions: {metadataDelta: {labels: {team: "north"}}}}) { duplicate }`,
      `getOrCreateSession(${key}, metadata: {labels: {team: "north"}}) { id }`,
      `forkSession(${key}) { id }`,
      `rewindSession(${key}, toSeq: 0) { id }`,
    ]) {
      expect(refusals(await ask(`mutation { ${mutation} }`))).toEqual(['SESSION_NOT_FOUND']);
    }
    expect((await ask(`mutation { deleteSession(${key}) }`)).data).toEqual({ deleteSession: true });
    expect(await contentOf(app.sessions, 's1')).toEqual(before);
  });

  it('lets nobody move a session, or create one beyond it', async () => {
    const key = 'appName: "shop", userId: "ann", sessionId: "n1"';
    const event = '{author: "user", actions: {metadataDelta: {labels: {team: "south"}}}}';
    const made = 'appName: "shop", userId: "eve", sessionId: "made"';
    for (const mutation of [
      `appendEvent(${key}, event: ${event}) { duplicate }`,
      `appendEvents(${key}, events: [${event}]) { duplicate }`,
      `createSession(${made}) { id }`,
      `createSession(${made}, metadata: {labels: {team: "south"}}) { id }`,
      `getOrCreateSession(${made}, metadata: {labels: {team: "south"}}) { id }`,
    ]) {
      expect(refusals(await ask(`mutation { ${mutation} }`))).toEqual(['FORBIDDEN']);
    }
    const create = `mutation { getOrCreateSession(${made}, metadata: {labels: {team: "north"}}) { id } }`;
    for (let time = 1; time <= 2; time++) {
      expect((await ask(create)).data).toEqual({ getOrCreateSession: { id: 'made' } });
    }
  });

  it('refuses what belongs to no session', async () => {
    for (const field of ['usage(appName: "shop") { period }', 'appState(appName: "shop")'])
      expect(refusals(await ask(`{ ${field} }`))).toEqual(['FORBIDDEN']);
  });

  it('ends a subscription when the session does not match any more', async () => {
    const watchOf = (sessionId: string) =>
      new LiveWatch({
        url: app.webSocketUrl,
        variables: { ...SHOP, userId: 'ann', sessionId, afterSeq: 0 },
        connectionParams: TEAMS.north,
      });
    const hidden = watchOf('s1');
    await expect(hidden.next()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await hidden.return();
    const watch = watchOf('n1');
    expect((await watch.next()).value).toMatchObject({ seq: 1 });
    await moveTo(app.sessions, 'n1', 'south');
    const toTheEnd = async (): Promise<void> => {
      while ((await watch.next()).done !== true);
    };
    await expect(toTheEnd()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND', status: 404 });
    await watch.return();
    await moveTo(app.sessions, 'n1', 'north');
  });
});
