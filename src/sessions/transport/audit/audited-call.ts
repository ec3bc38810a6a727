import type { ServerResponse } from 'node:http';
import { HttpException } from '@nestjs/common';

/** A call of a handler, for what comes of it. */
export interface AuditedCall {
  /** See `callOf`. */
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
