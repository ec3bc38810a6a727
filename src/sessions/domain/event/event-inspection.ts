import type { FunctionCall, FunctionResponse, Part } from './content.js';
import type { EventLike, LoggedEvent } from './event.js';
import type { ModelRequest } from './model-request.js';
import { isUserName } from '../values/reserved-words.js';

/**
 * All fields of an event, a content, a part or of actions, by their names: also those that have no type here.
 *
 * @example const { traceId } = allFields(event);
 */
export function allFields(of: object): Readonly<Record<string, unknown>> {
  return of as Readonly<Record<string, unknown>>;
}

/** The fields that these functions read. Events of ADK for TypeScript have them. */
type Inspected = Pick<EventLike, 'content' | 'actions' | 'author' | 'partial' | 'longRunningToolIds'>;

/**
 * The tool calls of the event.
 *
 * @example for (const { name, args } of getFunctionCalls(event)) await tools.run(name, args);
 */
export function getFunctionCalls(event: Inspected): FunctionCall[] {
  return listEventParts(event).flatMap((part) => (part.functionCall ? [part.functionCall] : []));
}

/**
 * The tool responses of the event.
 *
 * @example const [answer] = getFunctionResponses(event);
 */
export function getFunctionResponses(event: Inspected): FunctionResponse[] {
  return listEventParts(event).flatMap((part) => (part.functionResponse ? [part.functionResponse] : []));
}

/**
 * Whether the event is the final response of its author, not an intermediate step.
 *
 * @example if (isFinalResponse(event)) show(event.content);
 */
export function isFinalResponse(event: Inspected): boolean {
  const { skipSummarization, requestedAuthConfigs } = event.actions ?? {};
  if (skipSummarization || event.longRunningToolIds?.length) return true;
  if (Object.keys(requestedAuthConfigs ?? {}).length > 0) return true;
  return (
    event.partial !== true &&
    getFunctionCalls(event).length === 0 &&
    getFunctionResponses(event).length === 0 &&
    // Python writes fields that are not set as `null`.
    !listEventParts(event).at(-1)?.codeExecutionResult
  );
}

/**
 * Whether a user wrote the event. Clients can write such events, so an adapter trusts nothing in them.
 *
 * @example const role = isByUser(event) ? 'user' : 'assistant';
 */
export function isByUser(event: Inspected): boolean {
  return isUserName(event.author);
}

/**
 * Whether the event is a summary, which replaces what it covers in a view.
 *
 * @example const said = events.filter((event) => !isSummary(event));
 */
export function isSummary(event: Inspected): boolean {
  return Boolean(event.actions?.compaction);
}

/**
 * Whether the event is a summary of what one branch of a run sees. It says nothing to others, and the view is the same without it.
 *
 * @example const shown = events.filter((event) => !isBranchSummary(event));
 */
export function isBranchSummary(event: Inspected): boolean {
  return Boolean(event.actions?.branchSummary);
}

/** Whether the event is a summary of any kind. Such an event adds to no counter, makes nobody stale and renews no session. */
export function isAnySummary(event: Inspected): boolean {
  return isSummary(event) || isBranchSummary(event);
}

/**
 * Whether the event takes earlier events back.
 *
 * @example if (events.some(isRewind)) await readAgain();
 */
export function isRewind(event: Inspected): boolean {
  return Boolean(event.actions?.rewind);
}

/**
 * Whether a shortened conversation may begin at this event: a summary, or an event by the user. A tool response is no
 * anchor, since it would lack its call.
 */
export function isAnchor(event: Inspected): boolean {
  if (isSummary(event)) return true;
  return isByUser(event) && !isRewind(event) && !listEventParts(event).some(({ functionResponse }) => functionResponse);
}

/** The texts of the event's parts. */
export function listEventTexts(event: Inspected): string[] {
  const texts: string[] = [];
  for (const { text } of listEventParts(event)) if (typeof text === 'string' && text !== '') texts.push(text);
  return texts;
}

function listEventParts(event: Inspected): Part[] {
  return event.content?.parts ?? [];
}

/** An event that says what its model was given. */
export type Answer = LoggedEvent & { readonly modelRequest: ModelRequest };

export function isAnswer(event: LoggedEvent): event is Answer {
  return event.modelRequest !== undefined && event.modelRequest !== null;
}

/** Whether all that the event said was redacted. */
export function isRedacted({ redaction }: Pick<EventLike, 'redaction'>): boolean {
  return Boolean(redaction) && !Array.isArray(redaction?.kinds);
}
