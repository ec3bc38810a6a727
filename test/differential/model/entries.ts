import type { MetadataDelta } from '../../../src/index.js';

/** An event as a caller passes it. Only the fields that the rules use are declared. */
export interface GivenEvent {
  id?: string;
  author?: string;
  timestamp?: number;
  partial?: boolean;
  content?: { role?: string; parts?: GivenPart[] };
  actions?: {
    stateDelta?: Record<string, unknown>;
    stateRemovals?: string[];
    metadataDelta?: MetadataDelta;
    compaction?: { fromSeq: number; toSeq: number };
    rewind?: { toSeq: number };
  };
  [field: string]: unknown;
}

export interface GivenPart {
  text?: string;
  functionCall?: { id?: string; name?: string };
  functionResponse?: { id?: string; name?: string };
}

/** An entry of a log: the stored event, and data about its append. */
export interface Entry {
  readonly seq: number;
  readonly event: GivenEvent & { id: string; timestamp: number };
  /** The submitted content as text, without the timestamp: equal for equal content. */
  readonly submitted: string;
  readonly appendedAt: number;
}

export function isSummary({ event }: Pick<Entry, 'event'>): boolean {
  return event.actions?.compaction !== undefined;
}

export function isRewind({ event }: Pick<Entry, 'event'>): boolean {
  return event.actions?.rewind !== undefined;
}

export function isByUser({ event }: Entry): boolean {
  return event.author?.toLowerCase() === 'user';
}

export function partsOf({ event }: Entry): GivenPart[] {
  return event.content?.parts ?? [];
}

/** Whether a limited view can begin here. */
export function isAnchor(entry: Entry): boolean {
  return isSummary(entry) || (isByUser(entry) && !partsOf(entry).some((part) => part.functionResponse));
}
