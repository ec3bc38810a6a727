/** The name without what spellings differ in: `max_events`, `MaxEvents` and `maxEvents` are one name. */
export function plainName(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase();
}

/** Whether one letter was added, left out or replaced, or swapped with its neighbour. */
export function isOneEditAway(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1 || short === long) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  if (short.length < long.length) return short.slice(start) === long.slice(start + 1);
  const isSwapped = short[start] === long[start + 1] && short[start + 1] === long[start];
  return (
    short.slice(start + 1) === long.slice(start + 1) || (isSwapped && short.slice(start + 2) === long.slice(start + 2))
  );
}

/**
 * A question at the end of a message about an unknown name: which known one was meant. Empty if none is like it.
 *
 * @example `${name} is not known${questionAfter(name, NAMES)}`;
 */
export function questionAfter(name: string, known: readonly string[]): string {
  const [meant] = similarNames(name, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** The shortest names in which one other letter is likely a slip. Of shorter ones, many differ in one letter only. */
const SHORTEST = 3;

/**
 * The known names that somebody most likely meant: those in another spelling, such as `max_events` for `maxEvents`, else those
 * that differ in one letter.
 */
export function similarNames(name: string, known: readonly string[]): readonly string[] {
  const plain = plainName(name);
  const spelledOtherwise = known.filter((each) => each !== name && plainName(each) === plain);
  if (spelledOtherwise.length > 0 || plain.length < SHORTEST) return spelledOtherwise;
  return known.filter((each) => isOneEditAway(plainName(each), plain));
}
