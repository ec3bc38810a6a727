import { REWINDS, toEventGroup, groupOfInvocation } from '../../sessions/domain/event/event-group.js';
import { isRewind } from '../../sessions/domain/event/event-inspection.js';
import type { LoggedEvent } from '../../sessions/domain/event/event.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { rewoundBy } from '../../sessions/domain/view/without-rewound.js';
import type { SeqRange } from '../../sessions/domain/values/seq-ranges.js';
import type { AgentEnvironment } from './agent-environment.js';
import { invocationOfMessage } from './control-events.js';

/** Invocations are short: most are read with one page. */
const PAGE = 100;

/** What reads a log. */
export type LogReader = Pick<AgentEnvironment, 'sessions' | 'storage'>;

/** What the log has of an invocation. */
export interface StoredInvocation {
  readonly message: LoggedEvent | undefined;
  /** The events without messages. */
  readonly events: readonly LoggedEvent[];
  /** What was rewound since the message. */
  readonly rewound: readonly SeqRange[];
}

/** The message with this number, and what its invocation stored after it. What others stored in between is not read. */
export async function storedInvocation(env: LogReader, key: SessionKey, messageSeq: number): Promise<StoredInvocation> {
  const { events: first } = await env.sessions.listEvents({ ...key, afterSeq: Math.max(0, messageSeq - 1), limit: 1 });
  const message = first.find(({ seq }) => seq === messageSeq);
  if (!message?.invocationId) return { message, events: [], rewound: [] };
  const own: LoggedEvent[] = [];
  const rewinds: LoggedEvent[] = [];
  const groups = [toEventGroup(message), REWINDS];
  for await (const event of eventsOfGroups(env, key, groups, messageSeq)) {
    if (isRewind(event)) rewinds.push(event);
    if (event.invocationId === message.invocationId && invocationOfMessage(event) === undefined) own.push(event);
  }
  return { message, events: own, rewound: rewoundBy(rewinds) };
}

/** An event of an invocation. */
export async function findEventOf(
  env: LogReader,
  key: SessionKey,
  invocationId: string,
  eventId: string,
): Promise<LoggedEvent | undefined> {
  const groups = [groupOfInvocation(invocationId)];
  const from = await nextOfGroups(env, key, groups, 1);
  for await (const event of eventsOfGroups(env, key, groups, from)) if (event.id === eventId) return event;
  return undefined;
}

/**
 * The events of these groups, from an event on, in order. Reads the stretches of the log that have some, or all of it if the store
 * cannot find them.
 */
async function* eventsOfGroups(
  env: LogReader,
  key: SessionKey,
  groups: readonly string[],
  from: number,
): AsyncGenerator<LoggedEvent, void> {
  for (let next = from; next > 0;) {
    const { events, nextCursor } = await env.sessions.listEvents({ ...key, afterSeq: next - 1, limit: PAGE });
    yield* events.filter((event) => groups.includes(toEventGroup(event)));
    const last = events.at(-1)?.seq;
    if (nextCursor === undefined || last === undefined) return;
    next = await nextOfGroups(env, key, groups, last + 1);
  }
}

/** The first event of these groups at `from` or after it; 0 if there is none, and `from` if the store cannot tell. */
async function nextOfGroups(
  { storage }: LogReader,
  key: SessionKey,
  groups: readonly string[],
  from: number,
): Promise<number> {
  const found: number[] = [];
  for (const group of groups) {
    const read = await storage.read({ key, find: { group, direction: 'next', from } });
    if (read) found.push(read.found ?? from);
  }
  const places = found.filter((seq) => seq > 0);
  return places.length === 0 ? 0 : Math.min(...places);
}
