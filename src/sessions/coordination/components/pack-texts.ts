import { inBatches } from '../../domain/stored/batches.js';
import type { ComponentWrite } from '../../domain/stored/component.js';
import { newStamp } from '../../domain/values/stamp.js';
import type { ComponentPart } from './component-entries.js';

/** In UTF-16 units. A part keeps so much itself: it is written with each append. */
const LONGEST_TAIL = 4_096;
/** A text weighs a bit more than its length, which stands before it. */
const WEIGHT_OF_LENGTH = 4;
/** A long list is written at once, so it has fewer and longer entries. */
const MOST_ENTRIES_AT_ONCE = 300;

/** How a write leaves the texts of a part. */
export interface PackedTexts extends Pick<ComponentPart, 'generation' | 'entries' | 'tail'> {
  /** What the last text entries hold: those to write. */
  readonly added: readonly (readonly string[])[];
}

/** Keeps the text entries of what stays, and gives the tail and the new texts new ones once the part has no room for them. */
export function packTexts(
  { keep, texts }: Pick<ComponentWrite, 'keep' | 'texts'>,
  before: ComponentPart | undefined,
): PackedTexts {
  const { generation, entries, tail } = keep > 0 && before ? before : { generation: newStamp(), entries: 0, tail: [] };
  const loose = [...tail, ...texts];
  const total = weightOfAll(loose);
  if (total <= LONGEST_TAIL) return { generation, entries, tail: loose, added: [] };
  const weight = Math.max(LONGEST_TAIL, Math.ceil(total / MOST_ENTRIES_AT_ONCE));
  const batches = inBatches(loose, { items: Infinity, weightOf, weight });
  const last = batches.at(-1) ?? [];
  const isTail = weightOfAll(last) <= LONGEST_TAIL;
  const added = isTail ? batches.slice(0, -1) : batches;
  return { generation, entries: entries + added.length, tail: isTail ? last : [], added };
}

function weightOf({ length }: string): number {
  return length + WEIGHT_OF_LENGTH;
}

function weightOfAll(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + weightOf(text), 0);
}
