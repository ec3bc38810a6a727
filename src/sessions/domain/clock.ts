/** Source of the time, in whole epoch milliseconds. Tests pass their own. */
export interface Clock {
  now(): number;
}

/** The time of this machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** Generates the ids of sessions and events for which the caller gives none. */
export type IdGenerator = () => string;

export const randomId: IdGenerator = () => crypto.randomUUID();
