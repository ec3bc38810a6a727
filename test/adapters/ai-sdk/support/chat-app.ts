import {
  type ToolSet,
  type UIMessage,
  type UIMessageChunk,
  convertToModelMessages,
  readUIMessageStream,
  stepCountIs,
  streamText,
} from 'ai';
import type { MockLanguageModelV3 } from 'ai/test';
import { AgentSessions } from '../../../../src/agents/index.js';
import {
  type ChatAnswer,
  type ChatHandler,
  ChatSessions,
  type ChatRequest,
} from '../../../../src/adapters/ai-sdk/index.js';
import { SessionService } from '../../../../src/index.js';
import type { SessionStorage } from '../../../../src/storage.js';
import type { AnswerRequest } from '../../../../src/adapters/ai-sdk/index.js';

export const KEY = { appName: 'shop', userId: 'ann', sessionId: 'chat-1' };

/** An instance of an app with chats, over a store that others may share. */
export class ChatApp {
  readonly sessions: SessionService;
  readonly agents: AgentSessions;
  readonly chats: ChatSessions;
  readonly errors: unknown[] = [];

  constructor(storage: SessionStorage, tools?: ToolSet) {
    const onError = (error: unknown): void => void this.errors.push(error);
    this.sessions = new SessionService({ storage });
    this.agents = new AgentSessions({
      sessions: this.sessions,
      turnTtlMs: 5_000,
      pollMs: 50,
      partials: { flushMs: 5 },
      onError,
    });
    this.chats = new ChatSessions({ sessions: this.sessions, agents: this.agents, tools, pollMs: 50, onError });
  }

  /** Answers as the page asks. */
  async ask(request: ChatRequest, handler: ChatHandler, more: Partial<AnswerRequest> = {}): Promise<ChatAnswer> {
    const { appName, userId, sessionId } = KEY;
    return this.chats.answer({ appName, userId, request: { id: sessionId, ...request }, ...more }, handler);
  }

  async load(): Promise<UIMessage[]> {
    return this.chats.load(KEY);
  }

  /** The log, line by line. */
  async log(): Promise<string[]> {
    const { events } = await this.sessions.listEvents({ ...KEY, limit: 1_000 });
    return events.map(({ author, content, interrupted, errorCode, actions }) => {
      const parts = (content?.parts ?? []).map(({ text, thought, functionCall, functionResponse }) => {
        if (functionCall) return `?${functionCall.name}`;
        if (functionResponse) return `!${functionResponse.name} ${JSON.stringify(functionResponse.response)}`;
        return thought === true ? `(${text})` : String(text);
      });
      const end = [...(interrupted ? [errorCode] : []), ...(actions.rewind ? ['rewind'] : [])];
      return [author, ...parts, ...end].join(' ');
    });
  }

  /** The storage stays open: other instances use it. */
  async close(): Promise<void> {
    await this.agents.close();
    await this.sessions.finish();
  }
}

/** A handler as in the documentation. */
export function handlerOf(model: MockLanguageModelV3, tools?: ToolSet): ChatHandler {
  return async ({ messages, signal }) =>
    streamText({
      model,
      messages: await convertToModelMessages(messages, { tools }),
      abortSignal: signal,
      tools,
      stopWhen: stepCountIs(5),
      onError: () => undefined,
    });
}

export function user(id: string, text: string): UIMessage {
  return { id, role: 'user', parts: [{ type: 'text', text }] };
}

/** The message that a page makes of an answer, from a copy of what it had. */
export async function read(
  stream: ReadableStream<UIMessageChunk>,
  message?: UIMessage,
): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined;
  const shown = readUIMessageStream({ stream, ...(message && { message: structuredClone(message) }) });
  for await (const next of shown) last = next;
  return last;
}

/** The chunks. */
export async function chunksOf(stream: ReadableStream<UIMessageChunk>): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

export function saidIn(chunks: readonly UIMessageChunk[]): string {
  return chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
}
