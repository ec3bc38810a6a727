import type { Server } from 'node:http';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { type INestApplication, type ModuleMetadata } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { Test } from '@nestjs/testing';
import { z } from 'zod';
import { AgentsModule } from '../../src/agents/index.js';
import { AdkRestModule, AgentsRestModule } from '../../src/agents/rest/index.js';
import { type SessionService, SessionsModule, defineState, getSessionsToken, serverOnly } from '../../src/index.js';
import { mountDocs } from '../../src/openapi/index.js';
import { SessionsGraphqlModule, sessionsGraphqlOptions } from '../../src/sessions/graphql/index.js';
import { OpenAccess, SessionAccessModule, SessionsRestModule } from '../../src/sessions/rest/index.js';
import { HTTP_APP, TestAgent } from '../support/http-app.js';

const MEMORY = { provider: 'memory', isGlobal: true } as const;
const SESSIONS = 'apps/shop/users/ann/sessions';

async function listening(imports: NonNullable<ModuleMetadata['imports']>): Promise<INestApplication<Server>> {
  const module = await Test.createTestingModule({ imports }).compile();
  const app = module.createNestApplication<INestApplication<Server>>(HTTP_APP);
  mountDocs(app);
  await app.listen(0, '127.0.0.1');
  return app;
}

/** Two stores, each with a session named after it. */
async function filled(app: INestApplication): Promise<void> {
  for (const name of [undefined, 'archive']) {
    const sessions = app.get<SessionService>(getSessionsToken(name), { strict: false });
    await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: name ?? 'main' });
  }
}

async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Record<string, unknown>;
}

async function listed(url: string): Promise<unknown> {
  const page = (await (await fetch(url)).json()) as { sessions?: readonly { id: string }[] };
  return page.sessions?.map(({ id }) => id);
}

const two = [SessionsModule.forRoot(MEMORY), SessionsModule.forRoot({ ...MEMORY, name: 'archive' })];

describe('an app with two stores', () => {
  it('serves each by routes of its own, which its docs tell apart', async () => {
    const app = await listening([
      ...two,
      SessionAccessModule.forRoot({ access: OpenAccess }),
      SessionsRestModule.forRoot(),
      SessionsRestModule.forRoot({ path: 'archive', sessionsName: 'archive' }),
    ]);
    await filled(app);
    const url = await app.getUrl();
    expect(await listed(`${url}/${SESSIONS}`)).toEqual(['main']);
    expect(await listed(`${url}/archive/${SESSIONS}`)).toEqual(['archive']);
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
    const ids = Object.values(paths).flatMap((item) =>
      Object.values(item as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
    );
    expect(ids).toContain('createSession_2');
    expect(new Set(ids).size).toBe(ids.length);
    await app.close();
  });

  it('serves by GraphQL the one that is named', async () => {
    const app = await listening([
      ...two,
      GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, ...sessionsGraphqlOptions() }),
      SessionAccessModule.forRoot({ access: OpenAccess }),
      SessionsGraphqlModule.forRoot({ sessionsName: 'archive' }),
    ]);
    await filled(app);
    const query = '{ sessions(appName: "shop", userId: "ann") { nodes { id } } }';
    expect(await post(`${await app.getUrl()}/graphql`, { query })).toEqual({
      data: { sessions: { nodes: [{ id: 'archive' }] } },
    });
    await app.close();
  });

  it('serves the agents of the one that AgentsModule names by all routes of agents', async () => {
    const app = await listening([
      ...two,
      AgentsModule.forRoot({ sessionsName: 'archive', isGlobal: true }),
      AgentsModule.forFeature([TestAgent]),
      SessionAccessModule.forRoot({ access: OpenAccess }),
      AgentsRestModule.forRoot(),
      AdkRestModule.forRoot({ path: 'adk', sessions: true }),
    ]);
    await filled(app);
    const url = await app.getUrl();
    await post(`${url}/${SESSIONS}/archive/run`, { newMessage: { parts: [{ text: 'hello' }] } });
    const sessions: unknown = await (await fetch(`${url}/adk/${SESSIONS}`)).json();
    expect(sessions).toMatchObject([{ id: 'archive' }]);
    const kept = app.get<SessionService>(getSessionsToken('archive'), { strict: false });
    const session = await kept.getSession({ appName: 'shop', userId: 'ann', sessionId: 'archive' });
    expect(session?.events).toHaveLength(2);
    await app.close();
  });

  it('keeps clients from what the server alone writes in either', async () => {
    const state = defineState({ paid: serverOnly(z.boolean()) });
    const app = await listening([
      SessionsModule.forRoot(MEMORY),
      SessionsModule.forRoot({ ...MEMORY, name: 'archive', state }),
      SessionAccessModule.forRoot({ access: OpenAccess }),
      SessionsRestModule.forRoot({ path: 'archive', sessionsName: 'archive' }),
    ]);
    const refused = await post(`${await app.getUrl()}/archive/${SESSIONS}`, { state: { paid: true } });
    expect(refused).toMatchObject({ status: 403 });
    await app.close();
  });
});

it('routes of a store with a name need a path', () => {
  expect(() => SessionsRestModule.forRoot({ sessionsName: 'archive' })).toThrow(/needs a path of its own/);
});

it('a second SessionsGraphqlModule is refused', async () => {
  const graphql = [{}, { sessionsName: 'archive' }].map((options) => SessionsGraphqlModule.forRoot(options));
  const schema = GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, ...sessionsGraphqlOptions() });
  const access = SessionAccessModule.forRoot({ access: OpenAccess });
  await expect(listening([...two, schema, access, ...graphql])).rejects.toThrow(/two SessionsGraphqlModules/);
});
