/** Where the time comes from, in whole epoch milliseconds. Tests pass their own. */
export interface Clock {
  now(): number;
}

/** The time of this machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** Where ids of sessions and events come from when the caller gives none. */
export type IdGenerator = () => string;

export const randomId: IdGenerator = () => crypto.randomUUID();
