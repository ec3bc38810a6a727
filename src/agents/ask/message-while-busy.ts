import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import type { TurnHeldError } from '../../sessions/domain/errors/errors.js';
import type { RunPolicy } from '../turn/run-policy.js';

/** Where the message of a request is. */
export type MessagePlace =
  /** With the request alone. */
  | 'new'
  /** In the queue. */
  | 'queued'
  /** Taken from the queue by a process that died. */
  | 'orphaned'
  /** In the log, as it will stay: the request answers an approval, or repeats what failed. */
  | 'stored';

/** What a request has learned last. */
export type Sight =
  | 'begins'
  /** Its message waits in the queue. */
  | 'enqueued'
  /** Nobody is before it in the queue. */
  | 'first'
  /** The turn has been free for a while, and those before it do not take it: their process has died. */
  | 'overdue'
  /** Somebody took its message back. */
  | 'withdrawn'
  /** Its message is part of an invocation: another message took it, or an earlier request with its id. */
  | 'taken'
  /** Whose turn that was has left it, before the answer was whole. */
  | 'left'
  /** Somebody else has the turn. */
  | 'held'
  /** It had the turn, but others wait since before. */
  | 'behind'
  /** It has answered one that was left before it, or tried to. */
  | 'ran'
  /** There was none. */
  | 'alone'
  | 'paused'
  /** Its caller stopped it, or its process closes. */
  | 'aborted';

/** A sight, and what belongs to it. */
export interface Seen {
  readonly sight: Sight;
  /** Who has the turn, if somebody has. */
  readonly by?: TurnHeldError;
  /** The message in the invocation that took it. */
  readonly message?: Pick<LoggedEvent, 'invocationId' | 'seq'>;
}

/** What a request does next. */
export type Step =
  | 'try'
  | 'enqueue'
  /** For news of the queue. */
  | 'wait'
  | 'follow'
  /** Answers what is before it, and was left. */
  | 'stand in'
  | 'pause'
  /** After a failure of what it answered instead of others: the longer, the more often. */
  | 'back off'
  | 'refuse'
  | 'end';

/** The columns of the table: where the message is, and whether it may wait. */
const COLUMNS = ['new, reject', 'new, debounce', 'new', 'queued', 'orphaned', 'stored, reject', 'stored'] as const;
type Row = readonly [Step, Step, Step, Step, Step, Step, Step];

/**
 * What a request does, by what it sees. A row with one step is the same in all columns. What `interrupt`, `rollback` and `merge` do to the
 * run that is at work is in `turn-news.ts`, and what `debounce` waits for in `queue-wait.ts`.
 */
const STEPS: Readonly<Record<Sight, Step | Row>> = {
  begins: ['try', 'enqueue', 'try', 'wait', 'try', 'try', 'try'],
  held: ['refuse', 'enqueue', 'enqueue', 'wait', 'pause', 'refuse', 'pause'],
  behind: ['stand in', 'enqueue', 'enqueue', 'wait', 'pause', 'stand in', 'stand in'],
  left: ['try', 'try', 'try', 'wait', 'try', 'pause', 'pause'],
  ran: ['back off', 'back off', 'back off', 'wait', 'back off', 'back off', 'back off'],
  alone: ['back off', 'back off', 'back off', 'try', 'back off', 'pause', 'pause'],
  enqueued: 'wait',
  first: 'try',
  overdue: 'stand in',
  taken: 'follow',
  paused: 'try',
  withdrawn: 'end',
  aborted: 'end',
};

/** The next step of a request. */
export function decideStep(sight: Sight, place: MessagePlace, policy: RunPolicy): Step {
  const row = STEPS[sight];
  if (typeof row === 'string') return row;
  const own = COLUMNS.indexOf(`${place}, ${policy}` as (typeof COLUMNS)[number]);
  return row[own < 0 ? COLUMNS.indexOf(place) : own] as Step;
}
