import type { Lifetime } from '../domain/values/expiry.js';
import type { SessionKey } from '../domain/values/ids.js';

/** The session to delete. */
export interface DeleteRequest extends SessionKey {
  /** Delete nothing if the session is another incarnation by now. */
  readonly incarnation?: string | undefined;
  /** Delete nothing if another event than a summary follows this one by now. */
  readonly expectedVersion?: number | undefined;
  /** Delete nothing if this is not its last event by now. */
  readonly lastSeq?: number | undefined;
}

/** Lifetimes to renew. */
export interface TouchRequest {
  readonly key: SessionKey;
  readonly incarnation: string;
  /** New lifetimes; missing scopes do not change. Expired data stays expired. */
  readonly renew: { readonly session?: Lifetime; readonly user?: Lifetime; readonly app?: Lifetime };
}
