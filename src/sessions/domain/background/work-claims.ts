/**
 * How work is handled. Work whose worker ended in the middle is *suspect*: one of its events may end processes. A process handles
 * one suspect at a time. If that one ends again, it is handled *alone* in its process, and only then this counts as a try. So
 * neither the events beside it nor those of processes that are killed for other reasons lose tries.
 */
export type Care = 'usual' | 'suspect' | 'alone';

/** Before the id of a claim. A mark without an id is released work that stays suspect. */
const MARKS = { usual: '', suspect: 'suspect:', alone: 'alone:', begun: 'begun:' } as const;

type Mark = keyof typeof MARKS;

function markOf(claim: string): Mark {
  return (['suspect', 'alone', 'begun'] as const).find((mark) => claim.startsWith(MARKS[mark])) ?? 'usual';
}

/** How the work with this claim is to be handled. */
export function careOf(claim: string): Care {
  const mark = markOf(claim);
  return mark === 'begun' ? 'alone' : mark;
}

/**
 * The next claim of work, and whether the event that its last worker handled has failed.
 *
 * @param last the last claim, '' if there is none
 * @param id identifies the new one
 */
export function nextClaim(last: string, id: string): { readonly claim: string; readonly hasFailed: boolean } {
  const mark = markOf(last);
  const isReleased = last === MARKS[mark];
  if (isReleased) return { claim: last + id, hasFailed: false };
  return { claim: (mark === 'usual' ? MARKS.suspect : MARKS.alone) + id, hasFailed: mark === 'begun' };
}

/** What a worker does with its claim. */
export interface ClaimChange {
  /** Whether the worker keeps the claim. Otherwise any worker can claim the remaining events. */
  readonly goesOn: boolean;
  /** It keeps the claim, and is now alone with the work: if it ends, the next event has failed. */
  readonly begins?: boolean | undefined;
  /** It releases the work as it got it: suspect work stays suspect. */
  readonly isUntried?: boolean | undefined;
}

/** The claim after that. */
export function claimAfter(claim: string, { goesOn, begins, isUntried }: ClaimChange): string {
  if (!goesOn) return isUntried ? MARKS[careOf(claim)] : MARKS.usual;
  return begins && claim.startsWith(MARKS.alone) ? MARKS.begun + claim.slice(MARKS.alone.length) : claim;
}
