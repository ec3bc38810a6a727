import { Controller, Get, Injectable, Module, UseGuards } from '@nestjs/common';
import { Args, ArgsType, Field, Query, Resolver } from '@nestjs/graphql';
import {
  type Agent,
  type AgentContext,
  AgentHandler,
  AgentRegistry,
  AgentsModule,
  type RunHandler,
} from '../../src/agents/index.js';
import { CurrentSession, type Session, SessionState, type State } from '../../src/index.js';
import { GraphqlAccessGuard, RequireAccess } from '../../src/sessions/graphql/index.js';
import { AccessGuard, clientAccess } from '../../src/sessions/rest/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp, frameworks } from '../rest/rest-app.js';
import { text } from './support/handlers.js';

const KEY = { appName: 'shop', userId: 'ann', sessionId: 's-1' };
const NOTES = 'apps/:appName/users/:userId/sessions/:sessionId';

@ArgsType()
class SessionArguments {
  @Field(() => String)
  appName!: string;

  @Field(() => String)
  userId!: string;

  @Field(() => String)
  sessionId!: string;
}

@Controller()
class NotesController {
  @Get(`${NOTES}/topic`)
  @UseGuards(AccessGuard)
  @RequireAccess('read', 'session')
  topic(
    @CurrentSession() session: Session,
    @SessionState() state: State,
    @SessionState('topic') topic: unknown,
    @SessionState('none') none = 'nothing',
    @CurrentSession({ config: { numRecentEvents: 0 } }) narrow: Session,
  ): object {
    const isShared = session.state === state;
    return { id: session.id, topic, none, isShared, events: [session.events.length, narrow.events.length] };
  }

  @Get(`${NOTES}/open`)
  open(@CurrentSession() session: Session): string {
    return session.id;
  }

  @Get(`${NOTES}/other`)
  @UseGuards(AccessGuard)
  @RequireAccess('list', 'sessions')
  other(@SessionState('topic') topic: unknown): object {
    return { topic };
  }

  @Get('my/:name')
  mine(
    @SessionState<Asking>('topic', {
      of: ({ headers, params }) => ({ ...KEY, userId: headers.user, sessionId: params.name }),
    })
    topic: unknown,
  ): object {
    return { topic };
  }
}

interface Asking {
  readonly headers: { readonly user: string };
  readonly params: { readonly name: string };
}

@Module({ controllers: [NotesController] })
class NotesModule {}

@Injectable()
@AgentHandler('shop')
class Support implements Agent {
  async *run(
    @SessionState('user:name') name = 'you',
    context: AgentContext,
    @CurrentSession() session: Session,
    @SessionState() state: State,
  ): ReturnType<RunHandler> {
    state['asked'] = session.version;
    yield text(`${name}: ${context.message.parts?.[0]?.text}`);
  }
}

const userOf = (request: unknown) => ({ id: (request as { headers: Record<string, string> }).headers['user'] ?? '' });

describe.each(frameworks)('parameters with a session on %s', (framework) => {
  let app: RestApp;

  beforeAll(async () => {
    app = await RestApp.start(framework, {
      access: clientAccess({ userOf }),
      isAccessGlobal: true,
      imports: [NotesModule],
    });
    await app.sessions.createSession({ ...KEY, state: { topic: 'refunds' } });
    await app.sessions.appendEvent({ session: { ...KEY, id: 's-1' }, event: { author: 'agent' } });
  });
  afterAll(() => app.close());

  const get = (path: string, user = 'ann') => app.request('GET', path, undefined, { user });
  const SESSION = '/apps/shop/users/ann/sessions/s-1';

  it('get the session of the route, loaded once, where the rule allows it', async () => {
    const reads = jest.spyOn(app.sessions, 'getSession');
    const { body } = await get(`${SESSION}/topic`);
    expect(body).toEqual({ id: 's-1', topic: 'refunds', none: 'nothing', isShared: true, events: [1, 0] });
    expect(reads).toHaveBeenCalledTimes(2);
    reads.mockRestore();
    expect(await get(`${SESSION}/topic`, 'bob')).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
    expect(await get(`${SESSION}0/topic`)).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
  });

  it('are closed where nobody has checked the session', async () => {
    for (const path of ['open', 'other']) {
      const refused = await get(`${SESSION}/${path}`);
      expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
      expect(refused.text).not.toContain('refunds');
    }
  });

  it('get the session that a request names otherwise', async () => {
    expect((await get('/my/s-1')).body).toEqual({ topic: 'refunds' });
    expect((await get('/my/s-1', 'bob')).status).toBe(404);
  });
});

@Resolver()
class NotesResolver {
  @Query(() => String)
  @UseGuards(GraphqlAccessGuard)
  @RequireAccess('read', 'session')
  topic(@Args({ type: () => SessionArguments }) _key: SessionArguments, @SessionState('topic') topic: string): string {
    return topic;
  }

  @Query(() => String)
  open(@Args({ type: () => SessionArguments }) _key: SessionArguments, @SessionState('topic') topic: string): string {
    return topic;
  }
}

@Module({ providers: [NotesResolver] })
class NotesFields {}

it('parameters with a session work in resolvers', async () => {
  const app = await GraphqlApp.start({
    access: clientAccess({ userOf }),
    isAccessGlobal: true,
    imports: [NotesFields],
  });
  await app.sessions.createSession({ ...KEY, state: { topic: 'refunds' } });
  const key = '(appName: "shop", userId: "ann", sessionId: "s-1")';
  expect((await app.ask(`{ topic${key} }`, {}, { user: 'ann' })).data).toEqual({ topic: 'refunds' });
  expect((await app.ask(`{ open${key} }`, {}, { user: 'ann' })).errors).toHaveLength(1);
  expect((await app.ask(`{ topic${key} }`, {}, { user: 'bob' })).errors).toHaveLength(1);
  await app.close();
});

it('parameters with a session work in agents', async () => {
  const app = await RestApp.start('Express', {
    imports: [AgentsModule.forRoot({ isGlobal: true }), AgentsModule.forFeature([Support])],
  });
  const registry = app.get(AgentRegistry);
  const first = await registry.run({ ...KEY, newMessage: 'hi' }).result;
  expect(first.events[0]?.content).toEqual({ role: 'model', parts: [{ text: 'you: hi' }] });
  await app.sessions.updateUserState({ ...KEY, stateDelta: { name: 'Ann' } });
  const { events, session } = await registry.run({ ...KEY, newMessage: 'hi' }).result;
  expect(events[0]?.content?.parts?.[0]?.text).toBe('Ann: hi');
  expect(session.state.get('asked')).toBe(3);
  await app.close();
});
