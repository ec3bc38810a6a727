import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import {
  CALLERS,
  type Who,
  type Write,
  WRITES_BY_CALLER,
  accessByCallerRole,
  addSession,
  everythingIn,
  refusalOf,
} from '../support/writes.js';
import { GraphqlApp } from './graphql-app.js';
import type { GraphqlProblem } from './remote-error.js';

type Transport = (app: GraphqlApp, write: Write, who: Who) => Promise<readonly GraphqlProblem[]>;

const documentOf = ({ graphql: { mutation, input } }: Write): string =>
  `mutation ${input === undefined ? '' : '($input: JSON!)'} { ${mutation} }`;

const overHttp: Transport = async (app, write, who) =>
  (await app.ask(documentOf(write), { input: write.graphql.input }, CALLERS[who])).errors;

const overWebSocket: Transport = async (app, write, who) => {
  const client = createClient({
    url: app.webSocketUrl,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: CALLERS[who],
  });
  try {
    const answers = client.iterate({ query: documentOf(write), variables: { input: write.graphql.input } });
    const { value } = (await answers.next()) as { value: { errors?: readonly GraphqlProblem[] } };
    return value.errors ?? [];
  } finally {
    await client.dispose();
  }
};

describe.each([
  ['HTTP', overHttp],
  ['a WebSocket', overWebSocket],
])('write access with GraphQL over %s', (_name, send) => {
  let app: GraphqlApp;

  beforeAll(async () => {
    app = await GraphqlApp.start({
      access: accessByCallerRole(),
      summarizer: { autoSummarize: false, keepRecentEvents: 0 },
    });
    await addSession(app.sessions);
  });
  afterAll(() => app.close());

  it.each(WRITES_BY_CALLER)('$what by $who', async ({ write, who }) => {
    const before = await everythingIn(app.sessions);
    const statuses = (await send(app, write, who)).map(({ extensions }) => extensions.status);
    const refusal = refusalOf(write, who);
    if (refusal === undefined) {
      for (const status of statuses) expect([401, 403, 404]).not.toContain(status);
      return;
    }
    expect(statuses).toEqual([refusal]);
    expect(await everythingIn(app.sessions)).toEqual(before);
  });
});
