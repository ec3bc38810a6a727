import type { JSONValue, ProviderMetadata, UIMessage } from 'ai';
import { defined, isPlainObject } from '../../adapter.js';
import type { EventInput } from '../../index.js';

/** A part of a message. */
export type UIPart = UIMessage['parts'][number];

/** What tools of MCP servers and the like say about themselves. */
export type ToolMetadata = { [name: string]: JSONValue | undefined };

/** What a part of a message has besides the content of the event, which is in the part at `at`. */
export interface ContentReference {
  readonly at: number;
  readonly id?: string;
  readonly providerMetadata?: ProviderMetadata;
  /** Of a tool call. */
  readonly dynamic?: true;
  readonly title?: string;
  readonly toolMetadata?: ToolMetadata;
  readonly providerExecuted?: boolean;
  /** The input, if it is no object. */
  readonly input?: unknown;
}

/** How to read the response of a tool, if it does not say so itself. */
export interface StoredOutcome {
  /** `value`: the response is the output. `wrapped`: its `result` is. */
  readonly as?: 'value' | 'wrapped' | 'error' | 'denied';
  readonly providerMetadata?: ProviderMetadata;
  readonly toolMetadata?: ToolMetadata;
}

/** What the AI SDK keeps of an approval. */
export interface StoredApproval {
  readonly toolCallId: string;
  readonly signature?: string;
  readonly descriptor?: unknown;
  readonly inputSchemaInput?: unknown;
}

/** What only the AI SDK understands of an event: in its `customMetadata`. */
export interface SdkFields {
  /** The message of the page, if the id of the event does not name it. */
  readonly message?: string;
  /** In a message of the user: the message of the assistant that the answer continues. */
  readonly continues?: string;
  /** In a message of the user: the answer that is given again. */
  readonly again?: string;
  /** Whether a step of the answer begins with this event. */
  readonly step?: true;
  readonly metadata?: unknown;
  /** The parts of the message in their order, if the parts of the event are not all. */
  readonly parts?: readonly (ContentReference | UIPart)[];
  /** By tool call. */
  readonly results?: Readonly<Record<string, StoredOutcome>>;
  /** By approval. */
  readonly approvals?: Readonly<Record<string, StoredApproval>>;
}

const FIELD = 'ai-sdk';

/** Names of messages: clients write events with these fields, too. */
const NAMES = ['message', 'continues', 'again'] as const;

/** What the AI SDK wrote beside the event, if it wrote it. */
export function sdkFieldsOf({ customMetadata }: EventInput): SdkFields | undefined {
  const fields = customMetadata?.[FIELD];
  if (!isPlainObject(fields)) return undefined;
  const odd = NAMES.filter((name) => typeof fields[name] !== 'string');
  return { ...fields, ...Object.fromEntries(odd.map((name) => [name, undefined])) };
}

/** `customMetadata` of an event. */
export function sdkMetadata(fields: SdkFields): { readonly [FIELD]: SdkFields } {
  return { [FIELD]: defined(fields) };
}
