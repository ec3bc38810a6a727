import type { FunctionCall, FunctionResponse, Part } from './content.js';
import type { EventInput } from './event.js';

/** What these questions look at; any event of ADK for TypeScript answers them. */
type Inspected = Pick<EventInput, 'content' | 'actions' | 'author' | 'partial' | 'longRunningToolIds'>;

/**
 * The calls of tools that the event makes.
 *
 * @example for (const { name, args } of getFunctionCalls(event)) await tools.run(name, args);
 */
export function getFunctionCalls(event: Inspected): FunctionCall[] {
  return partsOf(event).flatMap((part) => (part.functionCall ? [part.functionCall] : []));
}

/**
 * The answers of tools that the event brings.
 *
 * @example const [answer] = getFunctionResponses(event);
 */
export function getFunctionResponses(event: Inspected): FunctionResponse[] {
  return partsOf(event).flatMap((part) => (part.functionResponse ? [part.functionResponse] : []));
}

/**
 * Whether the event is what its author wanted to say in the end, not a step on the way.
 *
 * @example if (isFinalResponse(event)) show(event.content);
 */
export function isFinalResponse(event: Inspected): boolean {
  if (event.actions?.skipSummarization || event.longRunningToolIds?.length) return true;
  return (
    event.partial !== true &&
    getFunctionCalls(event).length === 0 &&
    getFunctionResponses(event).length === 0 &&
    partsOf(event).at(-1)?.codeExecutionResult === undefined
  );
}

export function isByUser(event: Inspected): boolean {
  return event.author?.toLowerCase() === 'user';
}

export function isSummary(event: Inspected): boolean {
  return Boolean(event.actions?.compaction);
}

export function isRewind(event: Inspected): boolean {
  return Boolean(event.actions?.rewind);
}

/**
 * Where a shortened conversation may begin: at a summary, or at an event by the user. The answer of a tool
 * is none, whoever brings it, since it would stand there without its call.
 */
export function isAnchor(event: Inspected): boolean {
  if (isSummary(event)) return true;
  return isByUser(event) && !isRewind(event) && getFunctionResponses(event).length === 0;
}

/** The texts of the event, one a part. */
export function textsOf(event: Inspected): string[] {
  return partsOf(event).flatMap((part) => (typeof part.text === 'string' && part.text !== '' ? [part.text] : []));
}

function partsOf(event: Inspected): Part[] {
  return event.content?.parts ?? [];
}
