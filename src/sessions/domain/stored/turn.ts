import type { SessionKey } from '../values/ids.js';

/** The last turn of a session, as its record keeps it. */
export interface StoredTurn {
  /** How many turns this session has had. */
  readonly number: number;
  /** What a writer shows to write under this turn. No two turns of any sessions have the same one. */
  readonly token: string;
  /** Who holds the turn, for operators. Only the rule for repeated requests depends on it. */
  readonly holder: string;
  /** The request that began the turn. The same holder gets the turn again with it. */
  readonly requestId: string;
  /** When the turn is over, by the store's clock; 0 if it was ended. */
  readonly expiresAt: number;
}

/** The turn of a session that has had none. It is over, and no token fits it. */
export const NO_TURN: StoredTurn = Object.freeze({ number: 0, token: '', holder: '', requestId: '', expiresAt: 0 });

/** Begins a turn. */
export interface TurnBeginning {
  readonly action: 'begin';
  readonly key: SessionKey;
  /** The token of the turn, if it can begin. */
  readonly token: string;
  readonly holder: string;
  readonly requestId: string;
  readonly ttlMs: number;
}

/** Lets a turn last for this time from now on. */
export interface TurnRenewal {
  readonly action: 'renew';
  readonly key: SessionKey;
  readonly token: string;
  readonly ttlMs: number;
}

/** Ends a turn before its time. */
export interface TurnEnding {
  readonly action: 'end';
  readonly key: SessionKey;
  readonly token: string;
}

/** A change of a session's turn. */
export type TurnRequest = TurnBeginning | TurnRenewal | TurnEnding;

/** The outcome of a change of a turn. */
export type TurnOutcome =
  /** The session's turn from now on. */
  | {
      readonly kind: 'changed';
      readonly turn: StoredTurn;
      /** Whether the turn began although nobody had ended the one before, or may have: its writer may have died. */
      readonly takesOver?: boolean;
    }
  /** The turn that another request holds. */
  | { readonly kind: 'held'; readonly turn: StoredTurn }
  /** The turn of this token is over. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'missing' };
