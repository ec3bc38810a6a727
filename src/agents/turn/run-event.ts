import type { EventLike, LoggedEvent } from '../../sessions/domain/event.js';

/** An event of a run: stored, with its `seq`, or partial, with how many characters of its message come before. */
export type RunEvent = LoggedEvent | (EventLike & { readonly partial: true; readonly offset?: number });
