import type { Message, ResumeEntry, RunAgentInput } from '@ag-ui/core';
import { isPlainObject, RESERVED } from '../../adapter.js';
import type { AgentContext } from '../../agents/index.js';
import { InvalidInputError, type SessionKey } from '../../index.js';
import { newContent, newMessages } from './input-content.js';

/** What a client sends, after a look at its shape. */
export type CheckedInput = Pick<RunAgentInput, 'threadId' | 'runId' | 'messages'> & {
  readonly resume: readonly ResumeEntry[];
  readonly request: AgUiRequest;
};

/** What a client offers to the agent in a run. */
export interface AgUiRequest {
  /** Tools of the client. The agent calls one with a long-running call; the result comes as the message of the next run. */
  readonly tools: RunAgentInput['tools'];
  readonly context: RunAgentInput['context'];
  readonly forwardedProps?: unknown;
  /** The state that the client has. It is not stored: an agent that trusts it sets `context.state`. */
  readonly state?: unknown;
}

const REQUEST = RESERVED.state.agUiRequest;
const NO_REQUEST: AgUiRequest = { tools: [], context: [] };

/**
 * What the client of AG-UI offers in this run: its tools, context and state.
 *
 * @example for (const { name, description, parameters } of agUiRequestOf(context).tools) model.addTool(name, parameters);
 */
export function agUiRequestOf({ state }: Pick<AgentContext, 'state'>): AgUiRequest {
  return state.get<AgUiRequest>(REQUEST) ?? NO_REQUEST;
}

/** The state change by which the agent gets the request. It is never stored. */
export function requestDelta(request: AgUiRequest): Record<string, unknown> {
  return { [REQUEST]: request };
}

/** Access rules and the route ask for the same body. */
const CHECKED = new WeakMap<object, CheckedInput>();

/** Refuses what is no `RunAgentInput`. Each body is checked once, and belongs to nobody else. */
export function checkedInput(body: unknown): CheckedInput {
  if (!isPlainObject(body)) throw new InvalidInputError('must be a RunAgentInput', '$');
  const checked = CHECKED.get(body) ?? inputOf(body);
  CHECKED.set(body, checked);
  return checked;
}

function inputOf(body: Readonly<Record<string, unknown>>): CheckedInput {
  const { threadId, runId, forwardedProps, state } = body;
  if (typeof threadId !== 'string') throw new InvalidInputError('must be a text', 'threadId');
  if (typeof runId !== 'string') throw new InvalidInputError('must be a text', 'runId');
  const request = {
    tools: objectsAt(body, 'tools') as unknown as RunAgentInput['tools'],
    context: objectsAt(body, 'context') as unknown as RunAgentInput['context'],
    ...(forwardedProps !== undefined && { forwardedProps }),
    ...(state !== undefined && { state }),
  };
  const resume = objectsAt(body, 'resume').map(resumeEntry);
  return { threadId, runId, messages: messagesIn(body), resume, request };
}

/** What the messages say is checked when it is read: most of them are known. */
function messagesIn(body: Readonly<Record<string, unknown>>): Message[] {
  const messages = objectsAt(body, 'messages');
  const unnamed = messages.findIndex(({ id }) => typeof id !== 'string' || id === '');
  if (unnamed !== -1) throw new InvalidInputError('must be a text', `messages[${unnamed}].id`);
  return messages as unknown as Message[];
}

function objectsAt(body: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>>[] {
  const value = body[name] ?? [];
  if (Array.isArray(value) && value.every(isPlainObject)) return value;
  throw new InvalidInputError('must be an array of objects', name);
}

function resumeEntry({ interruptId, status, payload }: Readonly<Record<string, unknown>>, index: number): ResumeEntry {
  const path = `resume[${index}]`;
  if (typeof interruptId !== 'string') throw new InvalidInputError('must be a text', `${path}.interruptId`);
  if (status !== 'resolved' && status !== 'cancelled')
    throw new InvalidInputError('must be resolved or cancelled', `${path}.status`);
  return { interruptId, status, ...(payload !== undefined && { payload }) };
}

/** The session of a body: its thread, in the app and of the user that the path names. */
export function readThreadSession(
  body: Readonly<Record<string, unknown>>,
  { appName, userId }: Readonly<Record<string, string | undefined>> = {},
): Pick<SessionKey, 'appName' | 'sessionId'> & { readonly userId: string | undefined } {
  return { appName: appName ?? '', userId, sessionId: checkedInput(body).threadId };
}

/** What a body writes: answers to approvals, or a message of the user. */
export const RUNS_AS_AG_UI = (body: Readonly<Record<string, unknown>>) => {
  const { resume, messages, runId: invocationId } = checkedInput(body);
  if (resume.length > 0) return { controls: ['approval'] };
  const content = newContent(newMessages(messages, new Set()), () => 'tool');
  return { event: { author: 'user', invocationId, content } };
};
