import {
  Controller,
  Get,
  type INestApplication,
  Inject,
  Module,
  Param,
  Post,
  Req,
  Res,
  UseFilters,
  UseGuards,
  applyDecorators,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { UIMessage, UIMessageChunk } from 'ai';
import {
  AnswersChat,
  ChatSessions,
  ChatsModule,
  type FastifyReply,
  type NodeResponse,
} from '../../../src/adapters/ai-sdk/index.js';
import { AgentsModule } from '../../../src/agents/index.js';
import { SessionService, SessionsModule } from '../../../src/index.js';
import {
  AccessGuard,
  type AccessRequest,
  LargeAnswer,
  OpensStream,
  ProblemFilter,
  RequireAccess,
  SessionAccess,
  SessionAccessModule,
  isClientWrite,
} from '../../../src/sessions/rest/index.js';
import { fillMemory } from '../../support/filled-memory.js';
import { until } from '../../support/until.js';
import { user } from './support/chat-app.js';
import { httpAdapters } from './support/http-adapters.js';

interface Signed {
  readonly headers: Readonly<Record<string, string>>;
}

const KEY = { appName: 'shop', userId: 'ann', sessionId: 'c' };
const ownerOf = ({ headers }: Signed) => ({ appName: 'shop', userId: headers['x-user'] ?? '' });

/** As docs/adapters/ai-sdk.md has it. */
const Asks = (action: 'read' | 'write', ...controls: string[]) =>
  applyDecorators(
    UseGuards(AccessGuard),
    UseFilters(ProblemFilter),
    RequireAccess(
      action,
      'session',
      () => ({ controls }),
      (_body, { id }, request: Signed) => ({ ...ownerOf(request), sessionId: id }),
    ),
  );

/** Lets each user do what it says, and takes back what they may read. */
class Rights extends SessionAccess {
  controls: readonly string[] = [];
  mayRead = true;

  override userOf = (request: unknown) => ({ id: (request as Signed).headers['x-user'] });
  allows = ({ action, user: { id }, userId }: AccessRequest): boolean =>
    id === userId && (this.mayRead || action !== 'read');
  override allowsWrite = ({ write }: AccessRequest): boolean => isClientWrite(write, { controls: this.controls });
}

let finish: () => void = () => undefined;

async function* answer(): AsyncGenerator<UIMessageChunk> {
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: 'ok' };
  await new Promise<void>((resolve) => (finish = resolve));
  yield { type: 'text-end', id: 't' };
}

@Controller('chat')
class ChatController {
  constructor(@Inject(ChatSessions) private readonly chats: ChatSessions) {}

  @Post()
  @AnswersChat({ of: ownerOf })
  answer() {
    return answer();
  }

  @Get(':id')
  @Asks('read')
  @LargeAnswer()
  messages(@Req() request: Signed, @Param('id') sessionId: string): Promise<UIMessage[]> {
    return this.chats.load({ ...ownerOf(request), sessionId });
  }

  @Get(':id/stream')
  @Asks('read')
  @OpensStream()
  async resume(
    @Req() request: Signed,
    @Param('id') sessionId: string,
    @Res() response: NodeResponse & FastifyReply,
  ): Promise<void> {
    await (await this.chats.resume({ ...ownerOf(request), sessionId }))?.pipeTo(response);
  }

  @Post(':id/stop')
  @Asks('write', 'stop')
  async stop(@Req() request: Signed, @Param('id') sessionId: string): Promise<{ stopped: boolean }> {
    return { stopped: await this.chats.stop({ ...ownerOf(request), sessionId }) };
  }

  @Post(':id/fork')
  @Asks('write', 'fork')
  async fork(@Req() request: Signed, @Param('id') sessionId: string): Promise<{ id: string }> {
    const { id } = await this.chats.fork({ ...ownerOf(request), sessionId });
    return { id };
  }
}

describe.each(httpAdapters)('A controller of chats on %s', (_name, adapter) => {
  let app: INestApplication;
  let url: string;
  let rights: Rights;

  beforeEach(async () => {
    rights = new Rights();
    const streams = { maxStreamsPerClient: 1, recheckSeconds: 0.02 };
    @Module({
      imports: [
        SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
        AgentsModule.forRoot({ isGlobal: true, pollMs: 50, drainMs: 0 }),
        SessionAccessModule.forRoot({ access: rights, streams }),
        ChatsModule.forRoot(),
      ],
      controllers: [ChatController],
    })
    class ChatsOfUsers {}
    app = await NestFactory.create(ChatsOfUsers, adapter(), { logger: false, forceCloseConnections: true });
    await app.listen(0, '127.0.0.1');
    url = `${await app.getUrl()}/chat`;
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    finish();
    await app.close();
  });

  const send = (method: string, path: string, body?: object, as = 'ann'): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: { connection: 'close', ...(body && { 'content-type': 'application/json' }), 'x-user': as },
      ...(body && { body: JSON.stringify(body) }),
    });
  const say = (id: string): Promise<Response> => send('POST', '', { id, messages: [user(`m-${id}`, 'hello')] });
  const isRunning = async (): Promise<boolean> => (await app.get(SessionService).getTurn(KEY)) !== undefined;

  /** The beginning of an answer that does not end. */
  async function begin(): Promise<Response> {
    const response = await say('c');
    await until(isRunning);
    return response;
  }

  it('asks the rule before it reads, resumes, stops and branches off', async () => {
    const stream = await begin();
    rights.mayRead = false;
    for (const path of ['/c', '/c/stream']) expect((await send('GET', path)).status).toBe(404);
    expect((await send('GET', '/c', undefined, '')).status).toBe(401);
    await stream.text().catch(() => undefined);
    for (const [path, control] of [
      ['/c/fork', 'fork'],
      ['/c/stop', 'stop'],
    ] as const) {
      rights.controls = [];
      const refused = await send('POST', path, {});
      expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining(control)]);
      expect(await isRunning()).toBe(true);
      expect((await app.get(SessionService).listSessions({ appName: 'shop' })).sessions.length).toBe(1);
      rights.controls = [control];
      if (control === 'stop') expect(await (await send('POST', path, {})).json()).toEqual({ stopped: true });
    }
    rights.controls = ['fork'];
    expect((await send('POST', '/c/fork', {})).status).toBe(201);
  });

  it('ends the stream of an answer when access is revoked, and the answer goes on', async () => {
    const stream = await begin();
    rights.mayRead = false;
    await expect(stream.text()).rejects.toThrow();
    expect(await isRunning()).toBe(true);
    finish();
    await until(async () => !(await isRunning()));
    rights.mayRead = true;
    expect(await (await send('GET', '/c')).text()).toContain('ok');
  });

  it('answers no more at once than a client may have streams', async () => {
    const stream = await begin();
    const refused = await say('d');
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('maxStreamsPerClient')]);
    expect((await app.get(SessionService).listSessions({ appName: 'shop' })).sessions.map(({ id }) => id)).toEqual([
      'c',
    ]);
    expect((await send('GET', '/c/stream')).status).toBe(429);
    finish();
    expect(await stream.text()).toContain('[DONE]');
    await until(async () => {
      const next = await send('GET', '/c/stream');
      await next.text();
      return next.status === 200;
    });
  });

  it('loads when there is memory for it', async () => {
    const stream = await begin();
    finish();
    await stream.text();
    const { giveBack, asked } = await fillMemory('user ann');
    const read = jest.spyOn(app.get(SessionService), 'listEvents');
    const loaded = send('GET', '/c');
    await until(() => asked.mock.calls.length === 1);
    expect(read).not.toHaveBeenCalled();
    giveBack();
    expect(await (await loaded).text()).toContain('ok');
  });
});
