import 'reflect-metadata';
import { Get, Module, type Type } from '@nestjs/common';
import { Query } from '@nestjs/graphql';
import { AgentsGraphqlModule } from '../../src/agents/graphql/agents-graphql.module.js';
import { AdkSessionsController } from '../../src/agents/rest/adk-sessions.controller.js';
import { AdkAppsController } from '../../src/agents/rest/adk.controller.js';
import { AdkRestModule, AgentsRestModule } from '../../src/agents/rest/agents-rest.module.js';
import { OpenAccess, RequireAccess } from '../../src/sessions/rest/index.js';
import { ACCESS_REQUIREMENT } from '../../src/sessions/transport/session-access.js';
import { SearchGraphqlModule } from '../../src/search/graphql/search-graphql.module.js';
import { SearchRestModule } from '../../src/search/rest/search-rest.module.js';
import { GraphqlAccessGuard, SessionFields } from '../../src/sessions/graphql/access.guard.js';
import { SessionsGraphqlModule } from '../../src/sessions/graphql/sessions-graphql.module.js';
import { AgUiController } from '../../src/adapters/ag-ui/ag-ui.controller.js';
import { AccessGuard } from '../../src/sessions/rest/access.guard.js';
import { AppsController } from '../../src/sessions/rest/apps.controller.js';
import { ANSWER } from '../../src/sessions/rest/answer.interceptor.js';
import { SessionRoutes } from '../../src/sessions/rest/session-routes.js';
import { SessionsRestModule } from '../../src/sessions/rest/sessions-rest.module.js';
import { SummarizerGraphqlModule } from '../../src/summarizer/graphql/summarizer-graphql.module.js';
import { SummarizerRestModule } from '../../src/summarizer/rest/summarizer-rest.module.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp } from '../rest/rest-app.js';
import { ROWS, ROW_NAMES } from '../transports/rows.js';

const controllers = [SessionsRestModule, SummarizerRestModule, SearchRestModule, AgentsRestModule, AdkRestModule]
  .flatMap((module) => Reflect.getMetadata('controllers', module) as Type[])
  .concat(AdkSessionsController)
  // They ask about many apps, not about one: see test/agents/adk-routes and test/rest/apps.
  .filter((controller) => controller !== AdkAppsController && controller !== AppsController);
const resolvers = [SessionsGraphqlModule, SummarizerGraphqlModule, SearchGraphqlModule, AgentsGraphqlModule]
  .flatMap((module) => Reflect.getMetadata('providers', module) as Type[])
  .filter((provider) => Reflect.hasMetadata('graphql:resolver_type', provider));

/** The handlers of a class: methods that a decorator made one of. */
function handlersOf(owner: Type, mark: string): { name: string; handler: object; type: unknown }[] {
  const methods = Object.getOwnPropertyDescriptors(owner.prototype as object);
  return Object.entries(methods).flatMap(([name, { value }]) => {
    if (typeof value !== 'function' || name === 'constructor') return [];
    const type: unknown = Reflect.getMetadata(mark, value as object);
    return type === undefined ? [] : [{ name: `${owner.name}.${name}`, handler: value as object, type }];
  });
}

const guardsOf = (owner: object): unknown[] => (Reflect.getMetadata('__guards__', owner) ?? []) as unknown[];
const saysNothing = ({ handler }: { handler: object }): boolean => !Reflect.hasMetadata(ACCESS_REQUIREMENT, handler);

const DELETE = 3;

const streams = ({ handler }: { handler: object }): boolean =>
  JSON.stringify(Reflect.getMetadata('swagger/apiResponse', handler) ?? {}).includes('text/event-stream');

const answerOf = ({ handler }: { handler: object }): unknown => Reflect.getMetadata(ANSWER, handler);

describe('answers', () => {
  const routes = [...controllers, AgUiController].flatMap((owner) => handlersOf(owner, 'path'));

  it('in server-sent events count as a stream of their client', () => {
    const streaming = routes.filter(streams);
    expect(streaming.length).toBeGreaterThanOrEqual(5);
    expect(streaming.filter((route) => answerOf(route) !== 'stream').map(({ name }) => name)).toEqual([]);
  });

  it('to all other requests take memory of all answers', () => {
    const small = ROW_NAMES.filter((name) => ROWS[name].route?.holds === 'little');
    const others = routes.filter((r) => !streams(r) && Reflect.getMetadata('method', r.handler) !== DELETE);
    const bare = others
      .filter((route) => answerOf(route) === undefined)
      .map(({ name }) => name.slice(name.indexOf('.') + 1));
    // A route without a row needs `@LargeAnswer()`. A row needs `holds: 'little'` if nobody but the service says how large its answer is.
    expect(bare.toSorted()).toEqual(small.toSorted());
  });
});

describe('routes and fields', () => {
  it('are found', () => {
    expect(controllers.length).toBeGreaterThanOrEqual(5);
    expect(resolvers.length).toBeGreaterThanOrEqual(4);
  });

  it.each(controllers.map((owner) => ({ name: owner.name, owner })))(
    '$name is guarded, and says what it does',
    ({ owner }) => {
      expect(guardsOf(owner)).toContain(AccessGuard);
      const routes = handlersOf(owner, 'path');
      expect(routes).not.toEqual([]);
      expect(routes.filter(saysNothing).map(({ name }) => name)).toEqual([]);
    },
  );

  it.each(resolvers.map((owner) => ({ name: owner.name, owner })))(
    '$name is guarded, and says what it does',
    ({ owner }) => {
      expect(guardsOf(owner)).toContain(GraphqlAccessGuard);
      const fields = handlersOf(owner, 'graphql:resolver_type');
      expect(fields).not.toEqual([]);
      // Guards do not see fields of types, so that each of these checks access itself: see its own tests before adding one.
      const ofTypes = fields.filter(({ type }) => !['Query', 'Mutation', 'Subscription'].includes(String(type)));
      expect(ofTypes.map(({ name }) => name).filter((name) => name !== 'SessionsResolver.events')).toEqual([]);
      expect(
        fields
          .filter((field) => !ofTypes.includes(field))
          .filter(saysNothing)
          .map(({ name }) => name),
      ).toEqual([]);
    },
  );
});

@SessionRoutes('apps/:appName/new')
class NewController {
  @Get('silent')
  silent(): string {
    return 'secret';
  }

  @Get('stated')
  @RequireAccess('read', 'appState')
  stated(): { open: boolean } {
    return { open: true };
  }
}

@SessionFields()
class NewResolver {
  @Query(() => String)
  silent(): string {
    return 'secret';
  }

  @Query(() => String)
  @RequireAccess('read', 'appState')
  stated(): string {
    return 'open';
  }
}

@Module({ controllers: [NewController] })
class NewRoutes {}
@Module({ providers: [NewResolver] })
class NewFields {}

describe('a new route or field', () => {
  it('is closed over REST for all users until it declares its access', async () => {
    const app = await RestApp.start('Express', { access: OpenAccess, isAccessGlobal: true, imports: [NewRoutes] });
    const refused = await app.request('GET', '/apps/shop/new/silent');
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect(refused.text).not.toContain('secret');
    expect((await app.request('GET', '/apps/shop/new/stated')).body).toEqual({ open: true });
    await app.close();
  });

  it('is closed over GraphQL for all users until it declares its access', async () => {
    const app = await GraphqlApp.start({ access: OpenAccess, isAccessGlobal: true, imports: [NewFields] });
    const refused = await app.ask('{ silent }');
    expect(refused.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', status: 403 } }]);
    expect(refused.text).not.toContain('secret');
    expect((await app.ask('{ stated }')).data).toEqual({ stated: 'open' });
    await app.close();
  });

  it('is not answered where the app has no rule at all: it does not start', async () => {
    const starting = RestApp.start('Express', { access: undefined });
    await expect(starting).rejects.toThrow(/There is no access rule: import SessionAccessModule\.forRoot/);
    const graphql = GraphqlApp.start({ access: undefined });
    await expect(graphql).rejects.toThrow(/There is no access rule/);
  });
});

describe('the rule of an app', () => {
  it('is one object for all transports', async () => {
    let made = 0;
    class Counted extends OpenAccess {
      constructor() {
        super();
        made += 1;
      }
    }
    const app = await RestApp.start('Express', { access: Counted, isAccessGlobal: true, summarizer: {} });
    expect(made).toBe(1);
    await app.close();
  });
});
