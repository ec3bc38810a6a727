import { randomUUID } from 'node:crypto';
import { type ToolSet, type UIMessage, safeValidateUIMessages, validateUIMessages } from 'ai';
import { type AgentSessions, hasEnded, invocationOfMessage, runningInvocation } from '../../agents/index.js';
import { checkedSessionKey, inCommits, isByUser } from '../../adapter.js';
import {
  EventConflictError,
  type EventInput,
  InvalidInputError,
  type LoggedEvent,
  type Session,
  type SessionKey,
  SessionNotFoundError,
  type SessionService,
} from '../../index.js';
import { answering } from './answering.js';
import { ChatAnswer } from './chat-answer.js';
import { hasWholeAnswer, newestEvents, searchLog, shownIn } from './chat-log.js';
import {
  type AnswerRequest,
  type ChatSessionsOptions,
  type ForkRequest,
  type LoadRequest,
  type ResumeRequest,
  type Validation,
  checkChats,
  checkedFields,
} from './chat-options.js';
import {
  type ChatRequest,
  type PlannedRun,
  type ReplacedMessage,
  againOf,
  assertBody,
  continuingRun,
  findChatEntry,
  isAskedAgain,
  isSameAs,
  newMessageRun,
  replacingRun,
  sentMessage,
} from './chat-request.js';
import type { ChatStream } from './chat-stream.js';
import type { ChatHandler } from './chat-turn.js';
import { type AskedMessage, askedMessage, assertEdits, writeOfAnswers, writeOfMessage } from './chat-writes.js';
import type { ReadingOptions } from './event-items.js';
import { followedAnswer } from './followed-answer.js';
import { savedEvents } from './saved-messages.js';
import { sdkFieldsOf } from './sdk-fields.js';
import { type ChatEntry, formatAnswerMessageId, toChatEntries } from './ui-messages.js';

/**
 * Chats of pages that use the AI SDK, as sessions.
 *
 * @example
 * const chats = new ChatSessions({ sessions, agents });
 * await chats.answer({ appName: 'shop', userId: 'ann', request: body }, async ({ messages, signal }) =>
 *   streamText({ model, messages: await convertToModelMessages(messages), abortSignal: signal }),
 * ).then((answer) => answer.pipeTo(response));
 */
export class ChatSessions {
  readonly #sessions: SessionService;
  readonly #agents: AgentSessions;
  readonly #tools: ToolSet | undefined;
  readonly #validation: Validation;
  readonly #agentName: string;
  readonly #reading: ReadingOptions;
  readonly #follow: { readonly pollMs: number; readonly onError: (error: unknown) => void };

  constructor(options: ChatSessionsOptions) {
    checkChats(options);
    const { sessions, agents, tools, agentName = 'assistant', pollMs = 1_000, onError, ...rest } = options;
    this.#sessions = sessions;
    this.#agents = agents;
    this.#tools = tools;
    this.#validation = rest;
    this.#agentName = agentName;
    this.#reading = { toolNames: tools && new Set(Object.keys(tools)) };
    this.#follow = { pollMs, onError: onError ?? warnOfUnreadChat };
  }

  /**
   * Answers what a page sends: a new message, an edited one, one to answer again, or answers to approvals and tools. The message is
   * stored before the handler is called, and each step of the answer when it is complete. Repeated requests are answered once.
   *
   * @example
   * const answer = await chats.answer({ appName: 'shop', userId: user.id, request: body, policy: 'enqueue' }, handler);
   * await answer.pipeTo(response);
   */
  async answer(asking: AnswerRequest, handler: ChatHandler): Promise<ChatAnswer> {
    const { sessionId, request, edits = true, mayWrite, ...asked } = checkedFields('answer', asking);
    assertBody(request);
    const key = checkedSessionKey({ ...asked, sessionId: sessionId ?? readChatId(request) });
    const message = await this.#asked(request);
    assertEdits(message, edits);
    const isNew = (): Promise<boolean> => isMissing(this.#sessions, key);
    if (!message.isContinued) await mayWrite?.({ ...key, write: writeOfMessage(message), isNew });
    const { continued, ...planned } = await this.#plan(key, message, request.messageId);
    if (message.isContinued) await mayWrite?.({ ...key, write: writeOfAnswers(planned), isNew });
    const { invocationId } = planned;
    const messageId = continued ?? formatAnswerMessageId(invocationId);
    const pageTools = Object.entries(this.#tools ?? {}).filter(([, tool]) => typeof tool.execute !== 'function');
    const known = { ...this.#reading, tools: this.#tools, pageTools: new Set(pageTools.map(([name]) => name)) };
    const options = { ...known, invocationId, handler };
    return new ChatAnswer(messageId, this.#reading, (listener) =>
      this.#agents.run(
        { ...asked, ...key, ...planned, agentName: this.#agentName },
        answering({ ...options, listener }),
      ),
    );
  }

  /**
   * The running answer from its beginning, wherever it runs: for `resume` of `useChat`. Undefined if there is none, and none has just
   * ended. It replaces what the page has of it: pages resume only if the loaded messages lack an answer.
   *
   * @example
   * const stream = await chats.resume({ appName: 'shop', userId: user.id, sessionId: id });
   * if (stream) await stream.pipeTo(response);
   * else response.status(204).end();
   */
  async resume(resuming: ResumeRequest): Promise<ChatStream | undefined> {
    const { recentMs = RECENT_MS, ...request } = checkedFields('resume', resuming);
    const key = checkedSessionKey(request);
    const turn = await this.#sessions.getTurn(key).catch(undefinedIfMissing);
    const running = runningInvocation(turn);
    if (running === undefined && recentMs === 0) return undefined;
    const session = await this.#sessions.getSession(key);
    const isRecent = session !== undefined && session.lastUpdateTime > Date.now() - recentMs;
    const invocationId = running ?? (isRecent ? session.events.findLast(invocationOfMessage)?.invocationId : undefined);
    if (!session || invocationId === undefined) return undefined;
    const env = { sessions: this.#sessions, ...this.#follow };
    return followedAnswer(env, { key, session, invocationId, agentName: this.#agentName }, this.#reading);
  }

  /**
   * Stops the running answer, from any process. What was said is kept.
   * @example await chats.stop({ appName: 'shop', userId: user.id, sessionId: id });
   */
  async stop(request: SessionKey): Promise<boolean> {
    return this.#agents.stop(checkedSessionKey(request)).catch((error: unknown) => {
      if (error instanceof SessionNotFoundError) return false;
      throw error;
    });
  }

  /**
   * The messages of a chat for a page, whoever wrote them: without what was rewound, and without a running answer, which
   * {@link resume} gives. Those that do not fit the schemas are left out, and `onError` is told. None if there is no such chat.
   *
   * @example const messages = await chats.load({ appName: 'shop', userId: user.id, sessionId: id });
   */
  async load<Message extends UIMessage = UIMessage>(loading: LoadRequest): Promise<Message[]> {
    const { limit = 1_000, ...request } = checkedFields('load', loading);
    const key = checkedSessionKey(request);
    const turn = await this.#sessions.getTurn(key).catch(undefinedIfMissing);
    const log = await newestEvents(this.#sessions, key, limit).catch(undefinedIfMissing);
    if (!log) return [];
    const events = shownIn(log);
    const running = runningInvocation(turn);
    const isRunning = ({ invocationId, author }: LoggedEvent): boolean => invocationId === running && author !== 'user';
    // An answer that is complete is no longer resumed.
    const shown = hasEnded(events.filter(isRunning)) ? events : events.filter((event) => !isRunning(event));
    const messages = toChatEntries(shown, this.#reading).map(({ message }) => message);
    // The schemas of the options say what the caller's type says.
    return (await this.#fitting(messages)) as Message[];
  }

  /**
   * Stores messages that are complete, each once: for apps that answer without {@link answer}.
   * @example onFinish: ({ messages }) => chats.save({ appName: 'shop', userId: user.id, sessionId: id }, messages);
   */
  async save(request: SessionKey, messages: readonly UIMessage[]): Promise<void> {
    const key = checkedSessionKey(request);
    const checked = await this.#checked(messages);
    const session = await this.#sessions.getOrCreateSession(key);
    const stored = new Set(session.events.map(({ id }) => id));
    const events = checked.flatMap((message) => savedEvents(message, this.#agentName));
    const added = events.filter(({ id }) => id === undefined || !stored.has(id));
    for (const batch of inCommits(added)) await this.#append(session, batch);
  }

  /** Some may be in the log, but not in the view, or just have been stored by somebody else: then one by one. */
  async #append(session: Session, events: readonly EventInput[]): Promise<void> {
    try {
      await this.#sessions.appendEvents({ session, events });
    } catch (error) {
      if (!(error instanceof EventConflictError)) throw error;
      for (const event of events) await this.#sessions.appendEvent({ session, event });
    }
  }

  /**
   * Branches a chat off before one of its messages. The chat stays as it is.
   * @example const { id } = await chats.fork({ appName: 'shop', userId: user.id, sessionId, beforeMessage: 'm-3' });
   */
  async fork(forking: ForkRequest): Promise<Session> {
    const { beforeMessage, newSessionId, ...request } = checkedFields('fork', forking);
    const key = checkedSessionKey(request);
    if (beforeMessage === undefined) return this.#sessions.forkSession({ ...key, newSessionId });
    const entry = await searchLog(this.#sessions, key, (log, isWhole) => {
      const entries = this.#entriesIn(log);
      const found = findChatEntry(entries, beforeMessage);
      // Its first events may be before these.
      return found !== entries[0] || isWhole ? found : undefined;
    });
    if (!entry) throw new InvalidInputError('must be the id of a message of the chat', 'beforeMessage');
    return this.#sessions.forkSession({ ...key, newSessionId, atSeq: (entry.events[0]?.seq ?? 1) - 1 });
  }

  async #asked(request: ChatRequest): Promise<AskedMessage> {
    const [message] = await this.#checked([sentMessage(request)]);
    if (!message) throw new InvalidInputError('must have the message to answer', 'request.messages');
    return askedMessage(message, request);
  }

  async #plan(
    key: SessionKey,
    { message, isAgain, isEdit, isContinued }: AskedMessage,
    messageId: unknown,
  ): Promise<PlannedRun> {
    if (isContinued) return this.#continuing(key, message);
    if (!isAgain && !isEdit && message.role === 'user') return newMessageRun(message);
    const { replaced, isTaken } = await this.#replaced(key, message.id, isAgain, messageId);
    const [said] = replaced?.events ?? [];
    const repeated = said && (await this.#repeated(key, said, { message, messageId, isAgain }));
    if (repeated) return repeated;
    if (replaced) return replacingRun(replaced, isAgain ? { messageId } : { message }, randomUUID);
    // Another page took it back: as a new message, it would be the old one.
    if (isTaken) {
      throw new InvalidInputError('must be a message of the chat', 'message.id');
    }
    return newMessageRun(message);
  }

  async #continuing(key: SessionKey, message: UIMessage): Promise<PlannedRun> {
    const session = await this.#sessions.getSession(key);
    const known = findChatEntry(toChatEntries(session?.events ?? [], this.#reading), message.id)?.message;
    if (!known) throw new InvalidInputError('must be a message of the chat', 'message.id');
    const waiting = new Set(
      (session?.events ?? []).flatMap((event) => (isByUser(event) ? [] : (event.longRunningToolIds ?? []))),
    );
    const run = continuingRun(known, message, waiting);
    if ((run.newMessage.parts ?? []).length > 0) return run;
    // The request was repeated: the answers are in the log.
    const stored = session?.events.findLast((event) => sdkFieldsOf(event)?.continues === message.id);
    const invocationId = stored && invocationOfMessage(stored);
    if (!stored || invocationId === undefined)
      throw new InvalidInputError('answers nothing that waits for an answer', 'message');
    return { invocationId, newMessage: stored.content ?? {}, continued: message.id };
  }

  /** The run of this message, if the request was repeated, or two tabs asked for the same. One without a whole answer is tried again. */
  async #repeated(
    key: SessionKey,
    said: LoggedEvent,
    {
      message,
      messageId,
      isAgain,
    }: { readonly message: UIMessage; readonly messageId: unknown; readonly isAgain: boolean },
  ): Promise<PlannedRun | undefined> {
    const invocationId = invocationOfMessage(said);
    if (invocationId === undefined) return undefined;
    const turn = await this.#sessions.getTurn(key);
    const isRunning = runningInvocation(turn) === invocationId;
    const isSame = isRunning
      ? isAgain || isSameAs(said, message)
      : isAgain && isAskedAgain(said, messageId) && (await hasWholeAnswer(this.#sessions, key, said));
    return isSame ? { invocationId, newMessage: said.content ?? {} } : undefined;
  }

  /** The message of the user to replace, and whether there is or was one with this id. */
  async #replaced(key: SessionKey, id: string, isAgain: boolean, messageId: unknown): Promise<ReplacedMessage> {
    let isTaken = false;
    let newest: ChatEntry | undefined;
    const found = await searchLog(this.#sessions, key, (log, isWhole): ReplacedMessage | undefined => {
      const entries = this.#entriesIn(log);
      newest ??= entries.findLast(({ message }) => message.role === 'user');
      isTaken ||= log.some((event) => invocationOfMessage(event) === id);
      const place = isAgain ? againOf(entries, messageId, id) : { replaced: findChatEntry(entries, id) };
      return place?.replaced || (place && isWhole) ? { ...place, isTaken } : undefined;
    }).catch(undefinedIfMissing);
    if (found || !isAgain) return found ?? { isTaken };
    if (messageId === undefined) return { replaced: newest, isTaken };
    throw new InvalidInputError('must be a message of the chat', 'request.messageId');
  }

  #entriesIn(log: readonly LoggedEvent[]): ChatEntry[] {
    return toChatEntries(shownIn(log), this.#reading);
  }

  /** What is wrong with a message of a page is the fault of the request. */
  async #checked(messages: readonly unknown[]): Promise<UIMessage[]> {
    if (messages.length === 0) return [];
    try {
      return await validateUIMessages({ ...this.#validation, messages });
    } catch {
      throw new InvalidInputError('must be messages of the AI SDK, with valid metadata and data', 'messages');
    }
  }

  /** One that does not fit the schemas of today would hide all others. The error of the SDK quotes them. */
  async #fitting(messages: readonly UIMessage[]): Promise<UIMessage[]> {
    if (messages.length === 0) return [];
    const check = this.#check();
    const whole = await safeValidateUIMessages<UIMessage>({ ...check, messages });
    if (whole.success) return whole.data;
    const fitting: UIMessage[] = [];
    for (const message of messages) {
      const one = await safeValidateUIMessages<UIMessage>({ ...check, messages: [message] });
      if (one.success) fitting.push(...one.data);
      else this.#follow.onError(new InvalidInputError('does not fit the schemas: left out', `messages[${message.id}]`));
    }
    return fitting;
  }

  #check(): Omit<Parameters<typeof validateUIMessages>[0], 'messages'> {
    return { ...this.#validation, ...(this.#tools && { tools: this.#tools as never }) };
  }
}

const RECENT_MS = 5_000;

function readChatId({ id }: ChatRequest): string {
  if (typeof id === 'string') return id;
  throw new InvalidInputError('must be the id of the chat', 'request.id');
}

function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof SessionNotFoundError)) throw error;
  return undefined;
}

async function isMissing(sessions: SessionService, key: SessionKey): Promise<boolean> {
  // Without events.
  return (await sessions.listEvents({ ...key, beforeSeq: 1 }).catch(undefinedIfMissing)) === undefined;
}

function warnOfUnreadChat(error: unknown): void {
  console.warn('nestjs-agent-sessions: a chat could not be read whole', error);
}
