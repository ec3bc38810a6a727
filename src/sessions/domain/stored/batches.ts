import { jsonBytes } from './byte-budget.js';

/** Groups items by key. Groups and items keep their order. */
export function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** Limits of a batch. */
export interface BatchLimits<Item> {
  /** Maximum number of items: statements limit bound values, and scripts must be short. */
  readonly items?: number;
  /** Weight of an item, and maximum weight of a batch. A heavier item gets its own batch. */
  readonly weightOf?: (item: Item) => number;
  readonly weight?: number;
}

const DEFAULT_ITEMS = 1_000;

/** Splits items into batches as large as allowed, in order. */
export function inBatches<Item>(
  items: readonly Item[],
  { items: most = DEFAULT_ITEMS, weightOf = () => 0, weight: heaviest = Infinity }: BatchLimits<Item> = {},
): (readonly Item[])[] {
  const batches: Item[][] = [];
  let weight = 0;
  for (const item of items) {
    const batch = batches.at(-1);
    const added = weightOf(item);
    if (batch && batch.length < most && weight + added <= heaviest) {
      batch.push(item);
      weight += added;
    } else {
      batches.push([item]);
      weight = added;
    }
  }
  return batches;
}

/** Less than a commit may have by default, so that another event fits beside them. */
const COMMIT = { items: 90, weightOf: commitBytes, weight: 1_000_000 };

/**
 * Splits events into batches that fit into one commit each, in order.
 *
 * @example for (const batch of inCommits(events)) await sessions.appendEvents({ session, events: batch });
 */
export function inCommits<Event extends object>(events: readonly Event[]): (readonly Event[])[] {
  return inBatches(events, COMMIT);
}

/** How much a value weighs in a commit. What is no JSON weighs nothing: the commit refuses it, with its path. */
export function commitBytes(value: unknown): number {
  try {
    return jsonBytes(value);
  } catch {
    return 0;
  }
}
