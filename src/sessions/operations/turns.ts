import { hostname } from 'node:os';
import { assertLeaseTime } from '../domain/background/lease-limits.js';
import { InvalidInputError, SessionNotFoundError, TurnHeldError, TurnLostError } from '../domain/errors/errors.js';
import { isExpired } from '../domain/values/expiry.js';
import { type SessionKey, assertId, checkedSessionKey } from '../domain/values/ids.js';
import { optionalFlag } from '../domain/values/input-checks.js';
import type { StoredTurn } from '../domain/stored/turn.js';
import { LeaseRenewal } from '../leases/lease-renewal.js';
import type { SessionEnvironment } from '../session-environment.js';

/** The turn to begin. */
export interface BeginTurnRequest extends SessionKey {
  /** Names the writer to others: 1 to 191 UTF-8 bytes. Default: host name and process id. */
  readonly holder?: string | undefined;
  /** How long the turn lasts unless it is renewed; from 100 ms to a day. Default: 30 seconds. */
  readonly ttlMs?: number | undefined;
  /**
   * Makes retries safe: the same holder gets its turn again with the same id. Without it, every call is a request of its
   * own, so two jobs of one process exclude each other.
   */
  readonly requestId?: string | undefined;
}

/** Who holds the turn of a session. */
export interface TurnHolder {
  readonly holder: string;
  /** Counts the turns of the session. Targets outside the store can refuse writers with a lower number. */
  readonly number: number;
  /** When the turn is over unless it is renewed, by the store's clock. */
  readonly expiresAt: number;
}

/** A turn that this writer holds. Give it with each write. */
export interface Turn extends SessionKey, TurnHolder {
  /** Proves that the writer holds the turn. Unique among all turns; keep it from other writers. */
  readonly token: string;
  /** How long a renewal lasts. */
  readonly ttlMs: number;
}

/** A turn, or its token. */
export type TurnReference = string | Pick<Turn, 'token'>;

/** The turn to end, such as the result of `beginTurn`. */
export interface EndTurnRequest extends SessionKey {
  readonly token: string;
}

/** The turn to renew. */
export interface RenewTurnRequest extends EndTurnRequest {
  /** How long the turn lasts from now on. Default: 30 seconds. */
  readonly ttlMs?: number | undefined;
}

const DEFAULT_TTL_MS = 30_000;

export async function beginTurn(env: SessionEnvironment, request: BeginTurnRequest): Promise<Turn> {
  return (await begin(env, request)).turn;
}

async function begin(
  env: SessionEnvironment,
  request: BeginTurnRequest,
): Promise<{ readonly turn: Turn; readonly takesOver: boolean }> {
  const key = checkedSessionKey(request);
  const token: string = crypto.randomUUID();
  const { holder, ttlMs, requestId } = {
    holder: request.holder ?? `${hostname()}:${process.pid}`,
    ttlMs: checkedTtl(request.ttlMs),
    requestId: request.requestId ?? token,
  };
  assertId(holder, 'holder');
  assertId(requestId, 'requestId');
  const outcome = await env.storage.turn({ action: 'begin', key, token, holder, requestId, ttlMs });
  switch (outcome.kind) {
    case 'changed':
      return { turn: toTurn(key, outcome.turn, ttlMs), takesOver: outcome.takesOver ?? true };
    case 'held':
      throw new TurnHeldError(key.sessionId, outcome.turn.holder, outcome.turn.expiresAt);
    case 'missing':
      throw new SessionNotFoundError(key.sessionId);
    case 'lost':
      throw new Error('Only a turn that has begun can be lost');
  }
}

export async function renewTurn(env: SessionEnvironment, request: RenewTurnRequest): Promise<Turn> {
  const key = checkedSessionKey(request);
  const token = checkedToken(request.token, 'token');
  const ttlMs = checkedTtl(request.ttlMs);
  const outcome = await env.storage.turn({ action: 'renew', key, token, ttlMs });
  if (outcome.kind === 'changed') return toTurn(key, outcome.turn, ttlMs);
  if (outcome.kind === 'missing') throw new SessionNotFoundError(key.sessionId);
  throw new TurnLostError(key.sessionId);
}

/** Does nothing if the turn is over. */
export async function endTurn(env: SessionEnvironment, request: EndTurnRequest): Promise<void> {
  const key = checkedSessionKey(request);
  const outcome = await env.storage.turn({ action: 'end', key, token: checkedToken(request.token, 'token') });
  if (outcome.kind === 'missing') throw new SessionNotFoundError(key.sessionId);
}

export async function getTurn(env: SessionEnvironment, request: SessionKey): Promise<TurnHolder | undefined> {
  const key = checkedSessionKey(request);
  const read = await env.storage.read({ key });
  if (!read) throw new SessionNotFoundError(key.sessionId);
  const { holder, number, expiresAt } = read.record.turn;
  return isExpired(expiresAt, read.now) ? undefined : { holder, number, expiresAt };
}

/** The turn of a write, for its commit. */
export function turnPart({ turn, endTurn: ends }: { readonly turn?: unknown; readonly endTurn?: unknown }): {
  readonly turnToken: string | undefined;
  readonly endsTurn: boolean;
} {
  const turnToken = turn === undefined || turn === null ? undefined : checkedToken(getTurnToken(turn), 'turn');
  const endsTurn = optionalFlag(ends, 'endTurn') ?? false;
  if (endsTurn && turnToken === undefined) throw new InvalidInputError('needs the turn that it ends', 'endTurn');
  return { turnToken, endsTurn };
}

function getTurnToken(turn: unknown): unknown {
  return typeof turn === 'object' && turn !== null && 'token' in turn ? turn.token : turn;
}

function checkedToken(token: unknown, path: string): string {
  assertId(token, path);
  return token;
}

function checkedTtl(ttlMs: number | undefined | null): number {
  const checked = ttlMs ?? DEFAULT_TTL_MS;
  assertLeaseTime(checked);
  return checked;
}

function toTurn(key: SessionKey, { token, number, holder, expiresAt }: StoredTurn, ttlMs: number): Turn {
  return { ...key, token, number, holder, expiresAt, ttlMs };
}

/** The turn that is passed to the work. */
export interface HeldTurn extends Turn {
  /** Whether nobody has ended the turn before, or perhaps nobody has: its writer may have died in its work. */
  readonly takesOver: boolean;
  /** Aborts with a `TurnLostError` when the turn is lost. Then another writer may begin a turn. */
  readonly signal: AbortSignal;
  /** Call it after a write with `endTurn`. It saves the call that ends the turn. */
  readonly markEnded: () => void;
}

/** Work in a turn. */
export type TurnWork<Result> = (turn: HeldTurn) => Result | Promise<Result>;

/** Runs work in a turn: begins it, renews it and ends it. */
export async function withTurn<Result>(
  env: SessionEnvironment,
  request: BeginTurnRequest,
  work: TurnWork<Result>,
): Promise<Result> {
  if (typeof work !== 'function') throw new InvalidInputError('must be a function', 'work');
  const askedAt = performance.now();
  const { turn, takesOver } = await env.tasks.track(begin(env, request));
  const onError = (error: unknown): void => env.tasks.trackInBackground(Promise.reject(error));
  const renewal = new LeaseRenewal({
    renew: () => isRenewed(env, turn),
    lostError: () => new TurnLostError(turn.sessionId),
    ttlMs: turn.ttlMs,
    askedAt,
    onError,
  });
  const { signal } = renewal;
  let isEnded = false;
  const markEnded = (): void => {
    isEnded = true;
    renewal.stop();
  };
  try {
    const result = await work({ ...turn, takesOver, signal, markEnded });
    if (isEnded) return result;
    renewal.checkTime();
    signal.throwIfAborted();
    return result;
  } catch (error) {
    throw isAbort(error) && signal.aborted ? signal.reason : error;
  } finally {
    renewal.stop();
    if (!isEnded) await env.tasks.track(endTurn(env, turn)).catch(unlessGone(onError));
  }
}

async function isRenewed(env: SessionEnvironment, turn: Turn): Promise<boolean> {
  try {
    await env.tasks.track(renewTurn(env, turn));
    return true;
  } catch (error) {
    if (error instanceof TurnLostError || error instanceof SessionNotFoundError) return false;
    throw error;
  }
}

/** Whether the signal caused the error. The error may come from another realm, so `instanceof` does not work. */
function isAbort(error: unknown): boolean {
  return (error as { readonly name?: unknown } | null | undefined)?.name === 'AbortError';
}

/** Reports that the turn could not be ended; it expires by itself. The turn of a deleted session is over already. */
function unlessGone(onError: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof SessionNotFoundError)) onError(error);
  };
}
