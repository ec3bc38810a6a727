import type { ProviderMetadata } from 'ai';
import { defined, isPlainObject, toolErrorText } from '../../adapter.js';
import type { FunctionResponse } from '../../index.js';
import type { StoredOutcome, ToolMetadata } from './sdk-fields.js';

/** What became of a tool call. */
export interface ToolOutcome {
  /** Missing if the response in the log has none. */
  readonly toolCallId: string | undefined;
  readonly toolName: string;
  readonly result:
    | { readonly type: 'output'; readonly output: unknown }
    | { readonly type: 'error'; readonly errorText: string }
    | { readonly type: 'denied' };
  readonly providerMetadata?: ProviderMetadata | undefined;
  readonly toolMetadata?: ToolMetadata | undefined;
}

const DENIED = 'Tool execution denied.';

/** The response that all readers of the log understand. */
export function toFunctionResponse({ toolCallId, toolName, result }: ToolOutcome): FunctionResponse {
  return { ...defined({ id: toolCallId }), name: toolName, response: responseValue(result) };
}

function responseValue(result: ToolOutcome['result']): Record<string, unknown> {
  if (result.type === 'error') return { error: result.errorText };
  if (result.type === 'denied') return { error: DENIED };
  return isPlainObject(result.output) ? result.output : { result: result.output ?? null };
}

/** What the response does not say. */
export function storedOutcome({ result, providerMetadata, toolMetadata }: ToolOutcome): StoredOutcome | undefined {
  const stored = defined({ as: readingOf(result), providerMetadata, toolMetadata });
  return Object.keys(stored).length > 0 ? stored : undefined;
}

function readingOf(result: ToolOutcome['result']): StoredOutcome['as'] {
  if (result.type === 'denied') return 'denied';
  if (result.type === 'error') return undefined;
  if (!isPlainObject(result.output)) return 'wrapped';
  return toolErrorText(result.output) === undefined ? undefined : 'value';
}

/** What a response says. */
export function toToolOutcome(
  { id, name = 'unknown', response }: FunctionResponse,
  stored: StoredOutcome = {},
): ToolOutcome {
  const { as, ...metadata } = stored;
  return { toolCallId: id, toolName: name, result: toOutcomeResult(response, as), ...metadata };
}

function toOutcomeResult(response: unknown, as: StoredOutcome['as']): ToolOutcome['result'] {
  if (as === 'denied') return { type: 'denied' };
  if (as === 'wrapped' && isPlainObject(response)) return { type: 'output', output: response.result };
  const errorText = as === 'value' ? undefined : toolErrorText(response);
  return errorText === undefined ? { type: 'output', output: response ?? null } : { type: 'error', errorText };
}
