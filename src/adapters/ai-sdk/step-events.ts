import type { DynamicToolUIPart, ToolUIPart } from 'ai';
import { defined, isPlainObject } from '../../adapter.js';
import { EventActions, type EventInput, type Part } from '../../index.js';
import { toJsonRecord } from '../shared/given-json.js';
import { toContentPart } from './part-contents.js';
import { type ContentReference, type SdkFields, type StoredApproval, type UIPart, sdkMetadata } from './sdk-fields.js';
import { type ToolOutcome, toFunctionResponse, storedOutcome } from './tool-outcome.js';

/** As in ADK, so that its clients show what is asked for. */
export const REQUEST_NAME = 'adk_request_confirmation';

/** An approval that a tool needs. */
export interface AskedApproval extends StoredApproval {
  readonly approvalId: string;
  readonly toolName: string;
  readonly input: unknown;
}

/** The event that says what a step says, and calls its tools. */
export function modelEvent(
  parts: readonly UIPart[],
  fields: Pick<SdkFields, 'message' | 'step'>,
  waiting: readonly string[] = [],
): EventInput {
  const { contents, references, isWhole } = toEventContents(parts);
  return {
    ...(contents.length > 0 && { content: { role: 'model', parts: contents } }),
    ...(waiting.length > 0 && { longRunningToolIds: [...waiting] }),
    customMetadata: sdkMetadata({ ...fields, ...(!isWhole && { parts: references }) }),
  };
}

/** Parts of a message as parts of an event, and what these do not hold. */
export function toEventContents(parts: readonly UIPart[]): {
  readonly contents: Part[];
  readonly references: (ContentReference | UIPart)[];
  /** Whether the parts of the event are all there is. */
  readonly isWhole: boolean;
} {
  const contents: Part[] = [];
  const references = parts.map((part) => {
    const [content, details] = contentWithDetails(part);
    if (!content) return part;
    contents.push(content);
    return { at: contents.length - 1, ...details };
  });
  return { contents, references, isWhole: references.every((reference) => Object.keys(reference).join() === 'at') };
}

function contentWithDetails(part: UIPart): [] | [Part, Omit<ContentReference, 'at'>] {
  if (part.type === 'text' || part.type === 'file') {
    return [toContentPart(part), defined({ providerMetadata: part.providerMetadata })];
  }
  if (part.type === 'reasoning') {
    return [toContentPart(part), defined({ id: part.id, providerMetadata: part.providerMetadata })];
  }
  return isToolPart(part) ? callWithDetails(part) : [];
}

function callWithDetails(part: ToolUIPart | DynamicToolUIPart): [Part, Omit<ContentReference, 'at'>] {
  const { toolCallId: id, input, title, toolMetadata, providerExecuted, callProviderMetadata } = part;
  const signature = callProviderMetadata?.google?.thoughtSignature;
  const call = { functionCall: { id, name: toolNameOf(part), args: toJsonRecord(input) } };
  const details = defined({
    dynamic: part.type === 'dynamic-tool' ? (true as const) : undefined,
    providerMetadata: callProviderMetadata,
    title,
    toolMetadata,
    providerExecuted,
    input: isPlainObject(input) ? undefined : input,
  });
  return [{ ...call, ...(typeof signature === 'string' && { thoughtSignature: signature }) }, details];
}

export function isToolPart(part: UIPart): part is ToolUIPart | DynamicToolUIPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-');
}

export function toolNameOf(part: ToolUIPart | DynamicToolUIPart): string {
  return part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
}

/** The event with what tools returned. */
export function resultsEvent(outcomes: readonly ToolOutcome[], fields: Pick<SdkFields, 'message'>): EventInput {
  const results = outcomes.flatMap((outcome) => {
    const stored = storedOutcome(outcome);
    return stored && outcome.toolCallId !== undefined ? [[outcome.toolCallId, stored] as const] : [];
  });
  return {
    content: { role: 'user', parts: outcomes.map((outcome) => ({ functionResponse: toFunctionResponse(outcome) })) },
    customMetadata: sdkMetadata({ ...fields, ...(results.length > 0 && { results: Object.fromEntries(results) }) }),
  };
}

/** The event that asks for approvals. */
export function approvalsEvent(asked: readonly AskedApproval[], fields: Pick<SdkFields, 'message'>): EventInput {
  const approvals = asked.map(
    ({ approvalId, toolName: _name, input: _input, ...stored }) => [approvalId, stored] as const,
  );
  return {
    content: { role: 'model', parts: asked.map(requestPart) },
    longRunningToolIds: asked.map(({ approvalId }) => approvalId),
    actions: new EventActions({ awaitsApproval: true }),
    customMetadata: sdkMetadata({ ...fields, approvals: Object.fromEntries(approvals) }),
  };
}

function requestPart({ approvalId, toolCallId, toolName, input }: AskedApproval): Part {
  const originalFunctionCall = { id: toolCallId, name: toolName, args: toJsonRecord(input) };
  const args = { originalFunctionCall, toolConfirmation: { confirmed: false } };
  return { functionCall: { id: approvalId, name: REQUEST_NAME, args } };
}
