import type { ServerResponse } from 'node:http';
import { HttpException } from '@nestjs/common';

/** A call of a handler, for what comes of it. */
export interface AuditedCall {
  /** See `identifyCall`. */
  readonly of: object;
  /** Of HTTP, in case something answers before the handler is called. */
  readonly response?: ServerResponse | undefined;
  /** It goes on for long, and is noted when it begins. */
  readonly isStream: boolean;
}

/** Takes what came of a call; `allowed` if nobody knows. */
export type EndOfCall = (outcome: 'done' | 'failed' | 'allowed', error?: unknown) => void;

/** Of calls that were allowed. Whoever takes one of them tells how the call ended. */
const ends = new WeakMap<object, EndOfCall>();

/** For a guard: who tells the end of this call finds it here. */
export function keepEnd({ of, response }: AuditedCall, end: EndOfCall): void {
  ends.set(of, end);
  response?.once('close', () => {
    // A client that has left does not stop the handler, which tells the end.
    if (!response.headersSent) return;
    const { statusCode } = response;
    if (statusCode < 400) takeEnd(of)?.('done');
    else takeEnd(of)?.('failed', new HttpException('', statusCode));
  });
}

/** Undefined where nothing is noted, or somebody has taken it. */
export function takeEnd(call: object): EndOfCall | undefined {
  const end = ends.get(call);
  ends.delete(call);
  return end;
}

/** Work for a request, and what tells the end of each question about it. */
interface OpenWork {
  readonly isStream: boolean;
  readonly ends: EndOfCall[];
}

/** Of requests. */
const works = new WeakMap<object, OpenWork>();

/** For the audit: whoever works for this request tells what came of it. */
export function workFor(request: unknown): OpenWork | undefined {
  return typeof request === 'object' && request !== null ? works.get(request) : undefined;
}

/** What comes of a call of {@link withOutcome}. */
export interface OutcomeUse {
  /** The work is done when a stream begins: what is asked is noted at once, and again if it does not begin. */
  readonly isStream?: boolean | undefined;
  /** The error of this package or of Nest that an error of a framework stands for. */
  readonly errorOf?: ((error: unknown) => unknown) | undefined;
}

/**
 * Calls `work`. Each question to the access rule about this request that is asked meanwhile is noted in the audit with what came of the work,
 * instead of as `allowed`. Work within other work for the request is a part of that.
 *
 * @example
 * return withOutcome(request, async () => {
 *   await access.check({ action: 'read', target: 'session', ...key, request });
 *   return this.sessions.getSession(key);
 * });
 */
export async function withOutcome<Result>(
  request: object,
  work: () => Promise<Result>,
  { isStream = false, errorOf = (error) => error }: OutcomeUse = {},
): Promise<Result> {
  if (works.has(request)) return work();
  const open: OpenWork = { isStream, ends: [] };
  works.set(request, open);
  try {
    const result = await work();
    for (const end of open.ends) end('done');
    return result;
  } catch (error) {
    for (const end of open.ends) end('failed', errorOf(error));
    throw error;
  } finally {
    works.delete(request);
  }
}
