import { Controller, type INestApplication, Module, Post, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type UIMessage, convertToModelMessages, simulateReadableStream, stepCountIs, streamText, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';
import { AnswersChat, type ChatTurn, ChatsModule, CurrentTurn } from '../../../src/adapters/ai-sdk/index.js';
import { AgentsModule } from '../../../src/agents/index.js';
import { type LoggedEvent, SessionService, SessionsModule } from '../../../src/index.js';
import {
  type ClientWrites,
  SessionAccess,
  SessionAccessModule,
  clientAccess,
} from '../../../src/sessions/rest/index.js';
import { user } from './support/chat-app.js';
import { call, step, text } from './support/models.js';
import { httpAdapters } from './support/http-adapters.js';

interface Signed {
  readonly headers: Readonly<Record<string, string>>;
}

const userOf = (request: unknown) => ({ id: (request as Signed).headers['x-user'] });
const ownerOf = ({ headers }: Signed) => ({ appName: 'shop', userId: headers['x-user'] ?? 'nobody' });

const tools = {
  refund: tool({ inputSchema: z.object({}), needsApproval: true, execute: async () => 'refunded' }),
  paint: tool({ inputSchema: z.object({}) }),
};

/** Calls the tool that the user names, and answers everything else. */
const model = new MockLanguageModelV3({
  doStream: async ({ prompt }) => {
    const last = prompt.at(-1);
    const words = last?.role === 'user' ? JSON.stringify(last.content) : '';
    const name = Object.keys(tools).find((each) => words.includes(each));
    return { stream: simulateReadableStream({ chunks: step(...(name ? [call('c1', name, {})] : text('ok'))) }) };
  },
});

async function answer(turn: ChatTurn) {
  const messages = await convertToModelMessages(turn.messages);
  return streamText({ model, tools, messages, abortSignal: turn.signal, stopWhen: stepCountIs(3) });
}

@Controller()
class ChatController {
  @Post('chat')
  @AnswersChat({ of: ownerOf })
  answer(@CurrentTurn() turn: ChatTurn) {
    return answer(turn);
  }

  @Post('chat-without-edits')
  @AnswersChat({ of: ownerOf, edits: false })
  answerOnly(@CurrentTurn() turn: ChatTurn) {
    return answer(turn);
  }
}

class NobodyBegins extends SessionAccess {
  override userOf = userOf;
  allows = ({ action }: { readonly action: string }): boolean => action !== 'create';
}

function chatsWith(access: SessionAccess | undefined): Type {
  @Module({
    imports: [
      SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
      AgentsModule.forRoot({ isGlobal: true, pollMs: 50, drainMs: 0 }),
      ...(access ? [SessionAccessModule.forRoot({ access })] : []),
      ChatsModule.forRoot({ tools }),
    ],
    controllers: [ChatController],
  })
  class ChatsWithRule {}
  return ChatsWithRule;
}

describe.each(httpAdapters)('A chat on %s', (_name, adapter) => {
  let app: INestApplication;
  let url: string;

  async function start(access: SessionAccess | undefined): Promise<void> {
    app = await NestFactory.create(chatsWith(access), adapter(), { logger: false, forceCloseConnections: true });
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
  }
  const startFor = (writes: ClientWrites = {}) => start(clientAccess({ userOf, writes }));
  afterEach(() => app.close());

  async function post(body: object, { path = 'chat', as = 'ann' } = {}) {
    const response = await fetch(`${url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close', ...(as !== '' && { 'x-user': as }) },
      body: JSON.stringify({ id: 'c', ...body }),
    });
    return { status: response.status, text: await response.text() };
  }
  const log = async (userId = 'ann'): Promise<readonly LoggedEvent[]> =>
    (await app.get(SessionService).listEvents({ appName: 'shop', userId, sessionId: 'c' })).events;

  const hello = { messages: [user('m1', 'hello')] };
  const edit = { messages: [user('m1', 'another')], messageId: 'm1' };
  const again = { messages: [user('m1', 'hello')], trigger: 'regenerate-message' };

  it.each([
    { what: 'an edit', body: edit },
    { what: 'another answer', body: again },
  ])('refuses $what, which rewinds, unless the rule allows the control rewind', async ({ body }) => {
    await startFor();
    expect((await post(hello)).status).toBe(200);
    const before = await log();
    const refused = await post(body);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('rewind');
    expect(await log()).toEqual(before);
    await app.close();
    await startFor({ controls: ['rewind'] });
    await post(hello);
    expect((await post(body)).status).toBe(200);
    expect((await log()).filter(({ actions }) => actions?.rewind)).toHaveLength(1);
  });

  it.each([edit, again])('has no edits where the app wants none', async (body) => {
    await startFor({ controls: ['rewind'] });
    await post(hello, { path: 'chat-without-edits' });
    const before = await log();
    const refused = await post(body, { path: 'chat-without-edits' });
    expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('INVALID_INPUT') });
    expect(await log()).toEqual(before);
  });

  it('takes files, approvals and outputs of tools as far as the rule does', async () => {
    const picture = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' } as const;
    const withFile = { messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'see' }, picture] }] };
    await startFor({ content: ['text'] });
    expect((await post(withFile)).status).toBe(403);
    for (const [word, right] of [
      ['refund', { controls: ['approval'] }],
      ['paint', { content: ['text', 'functionResponse'] }],
    ] as const) {
      for (const isAllowed of [false, true]) {
        await app.close();
        await startFor(isAllowed ? right : {});
        await post({ messages: [user('m1', word)] });
        const length = (await log()).length;
        expect((await post({ messages: [answered(word, await log())] })).status).toBe(isAllowed ? 200 : 403);
        expect((await log()).length > length).toBe(isAllowed);
      }
    }
  });

  it('asks who calls, and whether they may begin a chat', async () => {
    await startFor();
    expect((await post(hello, { as: '' })).status).toBe(401);
    expect((await post(hello, { as: 'bob' })).status).toBe(200);
    await app.close();
    await start(new NobodyBegins());
    expect((await post(hello)).status).toBe(403);
    await expect(log()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await app.get(SessionService).createSession({ appName: 'shop', userId: 'ann', sessionId: 'c' });
    expect((await post(hello)).status).toBe(200);
  });

  it('is edited by its owner in an app without a rule', async () => {
    await start(undefined);
    await post(hello);
    expect((await post(edit)).status).toBe(200);
    expect((await log()).filter(({ actions }) => actions?.rewind)).toHaveLength(1);
  });
});

/** The message of the assistant, with what the page answers in it. */
function answered(name: string, events: readonly LoggedEvent[]): UIMessage {
  const invocationId = events[0]?.invocationId ?? '';
  const calls = events.flatMap(({ content }) => content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []);
  const approval = { id: calls.find((each) => each.name === 'adk_request_confirmation')?.id ?? '', approved: true };
  const state =
    name === 'paint' ? { state: 'output-available', output: 'red' } : { state: 'approval-responded', approval };
  const part = { type: `tool-${name}`, toolCallId: 'c1', input: {}, ...state };
  return { id: `answer:${invocationId}`, role: 'assistant', parts: [part] } as unknown as UIMessage;
}
