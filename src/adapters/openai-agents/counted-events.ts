import type { EventInput } from '../../index.js';
import { toJsonRecord } from '../shared/given-json.js';
import { type EventFrame, recordEvent } from './item-events.js';
import type { NewUsage } from './run-usage.js';

/**
 * The events, with the tokens of a run: those of each answer, if each says what its model was given, and else all on the last event,
 * unless a client could have written it.
 */
export function withUsage(
  events: readonly EventInput[],
  { record, metadata, each }: NewUsage,
  frame: EventFrame,
  model: string | undefined,
): EventInput[] {
  const ofModel = model !== undefined && { modelVersion: model };
  const answers = events.filter(({ modelRequest }) => modelRequest);
  const isKnown = answers.length === each.length;
  const counted = events.map((event) =>
    isKnown && event.modelRequest ? { ...event, usageMetadata: each[answers.indexOf(event)], ...ofModel } : event,
  );
  const last = counted.at(-1);
  const bearer = last && last.author !== 'user' ? last : recordEvent({}, frame);
  const own = toJsonRecord(bearer.customMetadata?.openai);
  const recorded = {
    ...bearer,
    ...(!isKnown && { usageMetadata: metadata, ...ofModel }),
    customMetadata: { openai: { ...own, usage: record } },
  };
  return bearer === last ? [...counted.slice(0, -1), recorded] : [...counted, recorded];
}
