import { defined, isByUser, isPlainObject, isSummary, readTexts } from '../../adapter.js';
import { type FunctionCall, getFunctionCalls, type LoggedEvent, type Part } from '../../index.js';
import { uiPartOf } from './part-contents.js';
import { type ContentReference, type SdkFields, type UIPart, sdkFieldsOf } from './sdk-fields.js';
import { REQUEST_NAME } from './step-events.js';
import { type ToolOutcome, toToolOutcome } from './tool-outcome.js';

/** A call as pages know it. */
export interface CallItem extends Omit<ContentReference, 'at'> {
  readonly type: 'call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** Whether the user's side, or a later message, answers it. */
  readonly waits: boolean;
}

/** What an event adds to a message of a page. */
export type EventItem =
  | { readonly type: 'step' }
  | { readonly type: 'part'; readonly part: UIPart }
  | CallItem
  | { readonly type: 'asked'; readonly approvalId: string; readonly toolCallId: string; readonly details: object }
  | { readonly type: 'answered'; readonly approvalId: string; readonly approved: boolean; readonly reason?: string }
  | { readonly type: 'result'; readonly outcome: ToolOutcome; readonly isByUser: boolean }
  | { readonly type: 'metadata'; readonly metadata: unknown };

/** How events are read. */
export interface ReadingOptions {
  /**
   * The tools of the app, if they are known: calls of these have parts of the type `tool-…`, also if another framework made them. All
   * others are `dynamic-tool`, since pages know no types of them.
   */
  readonly toolNames: ReadonlySet<string> | undefined;
}

/** Reads an event, whoever wrote it. What a client can write counts as text, files, data and answers only. */
export function readEventItems(event: LoggedEvent, options: ReadingOptions): EventItem[] {
  const fields = sdkFieldsOf(event);
  const parts = event.content?.parts ?? [];
  if (isSummary(event))
    return [
      textItem(
        `[Previous Context Summary]:\n${readTexts(event)
          .map(({ text }) => text)
          .join('\n')}`,
      ),
    ];
  if (isByUser(event))
    return [...parts.flatMap((part) => answersIn(part, fields)), ...saidByUser(parts, fields), ...metadataItem(fields)];
  const answers = parts.flatMap((part) => resultItem(part, fields));
  const said = fields ? saidInSdk(event, parts, fields, options) : saidElsewhere(event, parts, options);
  return [...said, ...answers, ...metadataItem(fields)];
}

function textItem(text: string): EventItem {
  return { type: 'part', part: { type: 'text', text } };
}

function metadataItem(fields: SdkFields | undefined): EventItem[] {
  return fields?.metadata === undefined ? [] : [{ type: 'metadata', metadata: fields.metadata }];
}

function saidByUser(parts: readonly Part[], fields: SdkFields | undefined): EventItem[] {
  const references = Array.isArray(fields?.parts) ? fields.parts : parts.map((_, at) => ({ at }));
  return references.flatMap((reference: ContentReference | UIPart | null): EventItem[] => {
    // A client may write anything there.
    if (!isPlainObject(reference)) return [];
    if (isReference(reference)) {
      const part = uiPartOf(parts[reference.at] ?? {});
      return part && part.type !== 'reasoning' ? [{ type: 'part', part }] : [];
    }
    const isData = typeof reference.type === 'string' && reference.type.startsWith('data-');
    return isData ? [{ type: 'part', part: reference }] : [];
  });
}

/** What the user's side answers: calls that wait for it, and approvals. */
function answersIn({ functionResponse }: Part, fields: SdkFields | undefined): EventItem[] {
  if (!functionResponse) return [];
  const { id, name, response } = functionResponse;
  if (name !== REQUEST_NAME) {
    const stored = id === undefined ? undefined : fields?.results?.[id];
    return [{ type: 'result', outcome: toToolOutcome(functionResponse, stored), isByUser: true }];
  }
  if (id === undefined || !isPlainObject(response)) return [];
  const { confirmed, payload } = response;
  const reason = isPlainObject(payload) && typeof payload.reason === 'string' ? payload.reason : undefined;
  return [{ type: 'answered', approvalId: id, approved: confirmed === true, ...defined({ reason }) }];
}

function resultItem({ functionResponse }: Part, fields: SdkFields | undefined): EventItem[] {
  if (!functionResponse || functionResponse.name === REQUEST_NAME) return [];
  const stored = functionResponse.id === undefined ? undefined : fields?.results?.[functionResponse.id];
  return [{ type: 'result', outcome: toToolOutcome(functionResponse, stored), isByUser: false }];
}

function saidInSdk(
  event: LoggedEvent,
  parts: readonly Part[],
  fields: SdkFields,
  { toolNames }: ReadingOptions,
): EventItem[] {
  const references = fields.parts ?? parts.map((_, at): ContentReference => ({ at }));
  const items = references.flatMap((reference): EventItem[] => {
    if (!isReference(reference)) {
      return [reference.type === 'step-start' ? { type: 'step' } : { type: 'part', part: reference }];
    }
    const part = parts[reference.at] ?? {};
    const { at: _at, ...details } = reference;
    if (part.functionCall) {
      const isGone = toolNames?.has(part.functionCall.name ?? '') === false;
      const call = isGone ? { ...details, dynamic: true as const } : details;
      return callItem(event, part.functionCall, reference.at, call, fields);
    }
    const said = uiPartOf(part) ?? (typeof part.text === 'string' ? { type: 'text', text: part.text } : undefined);
    return said ? [{ type: 'part', part: { ...said, ...details } as UIPart }] : [];
  });
  return fields.step === true ? [{ type: 'step' }, ...items] : items;
}

/** Each event of a model is a step. */
function saidElsewhere(event: LoggedEvent, parts: readonly Part[], { toolNames }: ReadingOptions): EventItem[] {
  const items = parts.flatMap((part, at): EventItem[] => {
    const { functionCall } = part;
    if (functionCall) {
      const dynamic = toolNames?.has(functionCall.name ?? '') !== true && { dynamic: true as const };
      return callItem(event, functionCall, at, { ...dynamic }, undefined);
    }
    const said = uiPartOf(part);
    return said ? [{ type: 'part', part: said }] : [];
  });
  return items.some(({ type }) => type !== 'asked') ? [{ type: 'step' }, ...items] : items;
}

function callItem(
  event: LoggedEvent,
  call: FunctionCall,
  at: number,
  { input, ...details }: Omit<ContentReference, 'at'>,
  fields: SdkFields | undefined,
): EventItem[] {
  const { id, name = 'unknown', args } = call;
  if (name === REQUEST_NAME) return askedItem(call, fields);
  const waits = id !== undefined && (event.longRunningToolIds ?? []).includes(id);
  const toolCallId = id ?? madeUpId(event, at);
  return [{ type: 'call', toolCallId, toolName: name, input: input ?? args ?? {}, waits, ...details }];
}

/** An approval that this adapter, or ADK, asked for. */
function askedItem({ id, args }: FunctionCall, fields: SdkFields | undefined): EventItem[] {
  const original = args?.originalFunctionCall;
  const stored = id === undefined ? undefined : fields?.approvals?.[id];
  const toolCallId = stored?.toolCallId ?? (isPlainObject(original) ? original.id : undefined);
  if (id === undefined || typeof toolCallId !== 'string') return [];
  const { toolCallId: _call, ...details } = stored ?? { toolCallId };
  return [{ type: 'asked', approvalId: id, toolCallId, details }];
}

function madeUpId({ id, content }: LoggedEvent, at: number): string {
  const place = getFunctionCalls({ content: { parts: content?.parts?.slice(0, at) ?? [] } }).length + 1;
  return `${id}#${place}`;
}

function isReference(reference: ContentReference | UIPart): reference is ContentReference {
  return 'at' in reference && typeof reference.at === 'number' && !('type' in reference);
}
