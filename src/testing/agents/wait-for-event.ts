import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import type { SessionService } from '../../sessions/session.service.js';

/** How to wait for an event. */
export interface WaitForEventOptions {
  /** Only events after this one. Default: 0, the whole log. */
  readonly afterSeq?: number | undefined;
  /** Default: 5,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The first event that fits, stored already or later. Fails when the time is up.
 *
 * @example const answer = await waitForEvent(sessions, key, ({ author }) => author === 'support');
 */
export async function waitForEvent(
  sessions: SessionService,
  key: SessionKey,
  fits: (event: LoggedEvent) => boolean,
  { afterSeq = 0, timeoutMs = 5_000 }: WaitForEventOptions = {},
): Promise<LoggedEvent> {
  const signal = AbortSignal.timeout(timeoutMs);
  let seen = 0;
  for await (const event of sessions.watch({ ...key, afterSeq, signal })) {
    if (fits(event)) return event;
    seen += 1;
  }
  throw new Error(`No event fitted within ${timeoutMs} ms; ${seen} came. Check the condition, or wait longer.`);
}
