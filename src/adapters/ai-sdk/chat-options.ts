import type { ToolSet, validateUIMessages } from 'ai';
import { checkOptions, fieldNames, requestCheck } from '../../adapter.js';
import type { AgentSessions, RunRequest } from '../../agents/index.js';
import type { SessionKey, SessionService, UserKey } from '../../index.js';
import type { ChatRequest } from './chat-request.js';
import type { ChatRules } from './chat-writes.js';

/** How messages are checked. */
export type Validation = Omit<Parameters<typeof validateUIMessages>[0], 'messages' | 'tools'>;

/** What {@link ChatSessions} needs. */
export interface ChatSessionsOptions extends Validation {
  readonly sessions: SessionService;
  readonly agents: AgentSessions;
  /** The tools of the app. Messages of the log are checked against them, and calls by other frameworks are read as theirs. */
  readonly tools?: ToolSet | undefined;
  /** The author of answers. Default: `assistant`. */
  readonly agentName?: string | undefined;
  /** How often a reader of a running answer checks whether it goes on, besides signals. Default: 1,000 ms. */
  readonly pollMs?: number | undefined;
  /** Receives errors of work in the background, and which messages of a chat fit no schema. Default: a warning on the console. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A message of a page to answer. */
export interface AnswerRequest
  extends UserKey, ChatRules, Pick<RunRequest, 'policy' | 'stateDelta' | 'state' | 'create' | 'config'> {
  /** Default: the id of the request. */
  readonly sessionId?: string | undefined;
  /** The body of the request of the page. */
  readonly request: ChatRequest;
}

/** Which messages to load. */
export interface LoadRequest extends SessionKey {
  /** How many events to read at most, the newest, of `limits.maxViewBytes` at most. Default: 1,000. */
  readonly limit?: number | undefined;
}

/** Which answer to continue. */
export interface ResumeRequest extends SessionKey {
  /** Also an answer that ended so many milliseconds ago: between the load of a page and its request. Default: 5,000. */
  readonly recentMs?: number | undefined;
}

/** A chat to branch off. */
export interface ForkRequest extends SessionKey {
  /** The first message that the new chat does not have. Default: it has all. */
  readonly beforeMessage?: string | undefined;
  readonly newSessionId?: string | undefined;
}

const KEY = { appName: true, userId: true, sessionId: true } as const;

/** Refuses options of {@link ChatSessions} that would have no effect. */
export function checkChats(options: ChatSessionsOptions): void {
  checkOptions('ChatSessions', options, {
    sessions: 'object',
    agents: 'object',
    tools: 'object?',
    agentName: 'author?',
    pollMs: 'count?',
    onError: 'function?',
    metadataSchema: 'anything?',
    dataSchemas: 'object?',
  });
}

/** The same for a request. */
export const checkedFields = requestCheck({
  answer: fieldNames<AnswerRequest>({
    ...KEY,
    request: true,
    policy: true,
    stateDelta: true,
    state: true,
    create: true,
    config: true,
    edits: true,
    mayWrite: true,
  }),
  load: fieldNames<LoadRequest>({ ...KEY, limit: true }),
  resume: fieldNames<ResumeRequest>({ ...KEY, recentMs: true }),
  fork: fieldNames<ForkRequest>({ ...KEY, beforeMessage: true, newSessionId: true }),
});
