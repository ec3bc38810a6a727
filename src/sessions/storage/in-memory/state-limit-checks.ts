import type { SessionKey } from '../../domain/ids.js';
import type { StateExcess, StateLimits, StateSize } from '../../domain/state-size.js';
import type { StateWrites } from '../../domain/stored-json.js';
import type { ScopeStates, SharedSizes } from './scope-states.js';
import type { StoredEntry } from './session-index.js';
import { expectReadable, sizeFor } from './state-sizes.js';

/** The session's own state, and its size at most. */
interface OwnState {
  readonly state: ReadonlyMap<string, string>;
  readonly stateBytes: number;
}

/** Compares the state of a session and its shared scopes with their limits. */
export class StateLimitChecks {
  constructor(private readonly scopes: ScopeStates) {}

  /** The sizes of all scopes that the writes change, or the first excess. */
  sizesFor(
    { appName, userId }: SessionKey,
    { state, stateBytes }: OwnState,
    writes: StateWrites,
    limits: StateLimits | undefined,
    now: number,
  ): (Required<SharedSizes> & { readonly session: StateSize }) | StateExcess {
    const session = sizeFor('session', stateBytes, state, writes, limits);
    if ('most' in session) return session;
    const user = this.scopes.sizeFor({ appName, userId }, writes, limits, now);
    if ('most' in user) return user;
    const app = this.scopes.sizeFor({ appName }, writes, limits, now);
    return 'most' in app ? app : { session, user, app };
  }

  /** Refuses a session whose state in any scope is too large to be read. */
  expectReadable({ record, state }: StoredEntry, limits: StateLimits | undefined, now: number): void {
    expectReadable('session', record.stateBytes, state, limits, record);
    this.expectShared(record, limits, now);
  }

  expectShared({ appName, userId }: SessionKey, limits: StateLimits | undefined, now: number): void {
    this.scopes.expectReadable({ appName, userId }, limits, now);
    this.scopes.expectReadable({ appName }, limits, now);
  }
}
