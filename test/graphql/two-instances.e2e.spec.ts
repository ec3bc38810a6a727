import { SessionsClient } from '../../src/client/index.js';
import type { LoggedEvent } from '../../src/index.js';
import { describeChosen, sharedStoreOfEachKind } from '../support/processes/shared-stores.js';
import { type Place, openPlace } from '../module/support/places.js';
import { RestApp } from '../rest/rest-app.js';
import { GraphqlApp } from './graphql-app.js';
import { LiveWatch } from './live-watch.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's 1' };
const EVENTS = 30;
const ALL = Array.from({ length: EVENTS }, (_, index) => index + 1);
const APPEND = `mutation ($input: JSON!) {
  appendEvent(appName: "shop", userId: "ann", sessionId: "s 1", event: $input) { event { seq } }
}`;

describeChosen('two instances on one $name', sharedStoreOfEachKind, ({ name }) => {
  // Stores that announce changes need no polling.
  const isHeard = name === 'redis' || name === 'redis-cluster' || name === 'postgres';
  const watchPollMs = isHeard ? 1_000_000 : 20;
  let place: Place;
  let rest: RestApp;
  let graphql: GraphqlApp;
  let client: SessionsClient;

  beforeEach(async () => {
    place = await openPlace(name);
    const sessions = { ...place.settings, watchPollMs };
    rest = await RestApp.start('Express', { sessions });
    graphql = await GraphqlApp.start({ sessions });
    client = new SessionsClient({ url: rest.url });
    await client.createSession(KEY);
  });

  afterEach(async () => {
    await Promise.all([rest.close(), graphql.close()]);
    await place.remove();
  });

  it('deliver by subscription what was appended over REST at the other', async () => {
    const watch = new LiveWatch({ url: graphql.webSocketUrl, variables: { ...KEY, afterSeq: 0 } });
    const seen = take(watch);
    for (const number of ALL) await client.appendEvent({ ...KEY, event: { author: 'user', id: `e-${number}` } });
    expect(await seen).toEqual(ALL);
    await watch.return();
  });

  it('deliver by server-sent events what was appended over GraphQL at the other', async () => {
    const watch = client.watch({ ...KEY, afterSeq: 0 });
    const seen = take(watch);
    for (const number of ALL) {
      const { errors } = await graphql.ask(APPEND, { input: { id: `e-${number}`, author: 'user' } });
      expect(errors).toEqual([]);
    }
    expect(await seen).toEqual(ALL);
    await watch.return?.();
  });
});

async function take(watch: AsyncIterator<LoggedEvent, undefined>): Promise<number[]> {
  const seqs: number[] = [];
  while (seqs.length < EVENTS) seqs.push((await watch.next()).value?.seq ?? 0);
  return seqs;
}
