/** How much goes into one portion. */
export interface PortionLimits<Item> {
  /** A statement can bind only so many values, and a script must not take long. */
  readonly items?: number;
  /** How much an item weighs, and what a portion may weigh. One that weighs more has a portion of its own. */
  readonly weightOf?: (item: Item) => number;
  readonly weight?: number;
}

const USUAL_ITEMS = 1_000;

/** `items` in portions, in their order, each as large as it may be. */
export function inPortions<Item>(
  items: readonly Item[],
  { items: most = USUAL_ITEMS, weightOf = () => 0, weight: heaviest = Infinity }: PortionLimits<Item> = {},
): (readonly Item[])[] {
  const portions: Item[][] = [];
  let weight = 0;
  for (const item of items) {
    const portion = portions.at(-1);
    const added = weightOf(item);
    if (portion && portion.length < most && weight + added <= heaviest) {
      portion.push(item);
      weight += added;
    } else {
      portions.push([item]);
      weight = added;
    }
  }
  return portions;
}
