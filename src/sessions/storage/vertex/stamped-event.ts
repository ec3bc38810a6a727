import { toEventGroup } from '../../domain/event/event-group.js';
import { isAnchor } from '../../domain/event/event-inspection.js';
import type { Event } from '../../domain/event/event.js';
import type { InitialEvent } from '../../domain/stored/session-record.js';
import { storedJson } from '../../domain/stored/stored-json.js';
import { foreignEvent } from './foreign-event.js';
import { STAMP_KEY } from './reserved-keys.js';
import { type VertexEvent, lastPart, parseTimeMicros, millisOf } from './wire.js';

/** Several events that count only together. */
interface BatchPlace {
  /** Unique for each try. */
  readonly id: string;
  readonly index: number;
  readonly size: number;
}

/** What the store adds to an event in Vertex AI, so that it comes back as it was. */
export interface Stamp extends InitialEvent {
  readonly seq: number;
  readonly batch?: BatchPlace | undefined;
}

/** An event of a log in Vertex AI. */
export interface ReadEvent extends InitialEvent {
  /** The name that Vertex AI gave it; the position of the event follows from {@link micros}. */
  readonly name: string;
  readonly micros: number;
  /** The number that its writer gave it; undefined if another program wrote it. */
  readonly seq?: number | undefined;
  readonly batch?: BatchPlace | undefined;
}

/** Reads an event of the API. */
export function readEvent(event: VertexEvent): ReadEvent {
  const place = { name: event.name ?? '', micros: parseTimeMicros(event.timestamp) };
  const text = event.eventMetadata?.customMetadata?.[STAMP_KEY];
  return typeof text === 'string'
    ? { ...(storedJson(text, 'an event') as Stamp), ...place }
    : { ...foreign(event), ...place };
}

export function stampText({ id, timestamp, anchor, group, payload, appendedAt, highWater, seq, batch }: Stamp): string {
  return JSON.stringify({ id, timestamp, anchor, group, payload, appendedAt, highWater, seq, batch });
}

/** An event that another program appended, such as an agent of ADK. */
function foreign(stored: VertexEvent): InitialEvent {
  const appendedAt = millisOf(stored.timestamp);
  const event: Event = foreignEvent(stored, lastPart(stored.name ?? ''), appendedAt);
  return {
    id: event.id,
    timestamp: event.timestamp,
    anchor: isAnchor(event),
    group: toEventGroup(event),
    payload: JSON.stringify(event),
    appendedAt,
    highWater: Math.max(appendedAt, event.timestamp),
  };
}
