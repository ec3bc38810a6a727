import { Refusal } from './refusal.js';

/** The last turn of a session; over from `expiresAt` on. */
export interface ModelTurn {
  readonly number: number;
  readonly token: string;
  readonly holder: string;
  readonly requestId: string | undefined;
  readonly expiresAt: number;
}

export interface ModelTurnRequest {
  readonly holder: string;
  readonly requestId?: string | undefined;
  readonly ttlMs: number;
}

/** The turn of a write. */
export interface ModelTurnPart {
  readonly token: string;
  readonly ends: boolean;
}

/** The turn, if it is not over. */
export function heldAt(turn: ModelTurn | undefined, now: number): ModelTurn | undefined {
  return turn && now < turn.expiresAt ? turn : undefined;
}

/** The same request gets its turn again. */
export function begun(
  last: ModelTurn | undefined,
  { holder, requestId, ttlMs }: ModelTurnRequest,
  token: string,
  now: number,
): ModelTurn {
  const expiresAt = now + ttlMs;
  const held = heldAt(last, now);
  if (!held) return { number: (last?.number ?? 0) + 1, token, holder, requestId, expiresAt };
  const isSame = requestId !== undefined && held.requestId === requestId && held.holder === holder;
  if (!isSame) throw new Refusal('TURN_HELD');
  return { ...held, expiresAt };
}

/** Throws unless a write may be made under this turn, or without one. */
export function assertTurn(
  { turn, turnsOnly }: { readonly turn: ModelTurn | undefined; readonly turnsOnly: boolean },
  part: ModelTurnPart | undefined,
  isSummary: boolean,
  now: number,
): void {
  if (part) {
    if (heldAt(turn, now)?.token !== part.token) throw new Refusal('TURN_LOST');
  } else if (turnsOnly && !isSummary) throw new Refusal('TURN_REQUIRED');
}
