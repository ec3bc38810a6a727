import type { EventInput, LoggedEvent } from '../../../src/sessions/domain/event/event.js';

/** The expected state, counters and tokens of a log, computed without code of the package. */
export class ExpectedSession {
  readonly state: Map<string, unknown>;
  events = 0;
  turns = 0;
  tokens = 0;

  constructor(initialState: Record<string, unknown>) {
    this.state = new Map(Object.entries(initialState));
  }

  add({ author, actions, usageMetadata }: EventInput | LoggedEvent): void {
    for (const [key, value] of Object.entries(actions?.stateDelta ?? {})) this.state.set(key, value);
    for (const key of actions?.stateRemovals ?? []) this.state.delete(key);
    this.events += 1;
    if (author === 'user') this.turns += 1;
    this.tokens += usageMetadata?.totalTokenCount ?? 0;
  }

  /** The state of one scope, with its prefix. */
  stateOf(prefix: '' | 'user:' | 'app:'): Record<string, unknown> {
    return Object.fromEntries([...this.state].filter(([key]) => (/^(user:|app:)/.exec(key)?.[0] ?? '') === prefix));
  }
}

/** `values` with `prefix` before each key. */
export function prefixed(prefix: string, values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [prefix + key, value]));
}
