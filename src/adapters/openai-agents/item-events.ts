import type { EventInput } from '../../index.js';
import { type ItemRecord, RECORD_AUTHOR, isPlainMessage, recordFields, storedItem } from './item-records.js';
import { copiedItem, wellFormed } from './plain-item.js';
import { saidBy } from './said-item.js';

/** What events of one call have in common. */
export interface EventFrame {
  /** The author of what the model and its tools say. */
  readonly agent: string;
  readonly invocationId?: string | undefined;
}

/**
 * An item as events that every reader of the session understands: one, or two for messages of users that have more than text
 * and files. They hold the item itself as well.
 */
export function itemEvents(given: object, frame: EventFrame, path?: string): EventInput[] {
  const copied = copiedItem(given, path);
  // A copy of a wrong item says nothing, but is kept.
  const said = saidBy(copied.item);
  const stored = storedItem(copied, said.parts);
  const { invocationId } = frame;
  const ofRun = invocationId === undefined ? {} : { invocationId };
  const parts = wellFormed(said.parts.map(({ part }) => part));
  const event = {
    ...ofRun,
    author: said.author === 'agent' ? frame.agent : said.author,
    ...(parts.length > 0 && { content: { role: said.role, parts } }),
  };
  if (said.author !== 'user' || isPlainMessage(stored)) return [{ ...event, ...recordFields(stored) }];
  return [event, { ...ofRun, author: RECORD_AUTHOR, ...recordFields({ ...stored, isOfPrevious: true }) }];
}

/** An event for this adapter alone: an item that the log has already, or no item. */
export function recordEvent(record: ItemRecord, frame: Pick<EventFrame, 'invocationId'> = {}): EventInput {
  const { invocationId } = frame;
  return { ...(invocationId !== undefined && { invocationId }), author: RECORD_AUTHOR, ...recordFields(record) };
}

/** The whole item, for an event without content. */
export function wholeItem(item: object, path?: string): ItemRecord {
  return storedItem(copiedItem(item, path), []);
}
