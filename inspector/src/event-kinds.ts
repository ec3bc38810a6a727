import { REQUEST_NAME } from '../../src/agents/invocation/approval-names.js';
import type { Part } from '../../src/sessions/domain/event/content.js';
import type { LoggedEvent } from '../../src/sessions/domain/event/event.js';
import { usageOfEvent } from '../../src/sessions/domain/usage/usage.js';

/** What an event is, in one word for the timeline. */
export type EventKind =
  | 'user'
  | 'agent'
  | 'tool call'
  | 'tool result'
  | 'summary'
  | 'rewind'
  | 'approval'
  | 'queued'
  | 'stop'
  | 'error'
  | 'state'
  | 'system';

export function kindOf(event: LoggedEvent): EventKind {
  const { actions, content, errorCode, author } = event;
  if (actions.compaction) return 'summary';
  if (actions.rewind) return 'rewind';
  if (actions.approvalAnswer || actions.requestedToolConfirmations) return 'approval';
  if (actions.queued) return 'queued';
  if (actions.stop) return 'stop';
  if (errorCode || actions.failure) return 'error';
  const parts = content?.parts ?? [];
  if (parts.some((part) => part.functionResponse)) return 'tool result';
  if (parts.some(({ functionCall }) => functionCall?.name === REQUEST_NAME)) return 'approval';
  if (parts.some((part) => part.functionCall)) return 'tool call';
  if (author === 'user') return 'user';
  if (parts.length > 0) return 'agent';
  const changed = Object.keys(actions.stateDelta ?? {}).length + (actions.stateRemovals?.length ?? 0);
  return changed > 0 ? 'state' : 'system';
}

/** Whether another turn begins. */
export function beginsTurn(event: LoggedEvent, before: LoggedEvent | undefined): boolean {
  return event.invocationId !== '' && event.invocationId !== before?.invocationId;
}

/** The keys of state that an event changes. */
export function changedKeys({ actions }: LoggedEvent): readonly string[] {
  return [...Object.keys(actions.stateDelta ?? {}), ...(actions.stateRemovals ?? [])];
}

export function tokensOf(event: LoggedEvent): number | undefined {
  return usageOfEvent(event)?.totalTokens;
}

/** What a part of any kind may have. */
const EXTRAS = new Set(['thought', 'thoughtSignature', 'partMetadata']);

/** The parts that are neither text nor tools. */
export function otherKind(part: Part): string | undefined {
  if (typeof part.text === 'string' || part.functionCall || part.functionResponse) return undefined;
  // Clients such as ADK for Python send what they have not as null.
  return Object.entries(part).find(([name, value]) => !EXTRAS.has(name) && value !== null)?.[0];
}
