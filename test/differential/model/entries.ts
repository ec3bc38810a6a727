/** An event as a caller may give it; only what the rules look at is named. */
export interface GivenEvent {
  id?: string;
  author?: string;
  timestamp?: number;
  partial?: boolean;
  content?: { role?: string; parts?: GivenPart[] };
  actions?: {
    stateDelta?: Record<string, unknown>;
    stateRemovals?: string[];
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

/** One line of a log: the event as it is stored, and what is remembered about its append. */
export interface Entry {
  readonly seq: number;
  readonly event: GivenEvent & { id: string; timestamp: number };
  /** What was submitted, but for the timestamp, as text: the same for the same content. */
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

/** Where a shortened view may begin. */
export function isAnchor(entry: Entry): boolean {
  return isSummary(entry) || (isByUser(entry) && !partsOf(entry).some((part) => part.functionResponse));
}
