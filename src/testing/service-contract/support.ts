import type { SessionsErrorCode } from '../../sessions/domain/errors/errors.js';
import {
  getFunctionCalls,
  getFunctionResponses,
  listEventTexts,
} from '../../sessions/domain/event/event-inspection.js';
import type { EventInput, LoggedEvent } from '../../sessions/domain/event/event.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import type { Session } from '../../sessions/domain/session/session.js';
import type { ManualClock } from '../manual-clock.js';
import type { OpenSessions, SessionClient, SessionSettings } from '../open-sessions.js';

/** The fixture of a test of the service. */
export interface ServiceFixture {
  readonly clock: ManualClock;
  /** Opens a service with these settings. It is closed after the test. */
  open(settings?: SessionSettings): Promise<Pick<OpenSessions, 'sessions' | 'raw'>>;
}

export const USER = { appName: 'shop', userId: 'ann' };
export const KEY: SessionKey = { ...USER, sessionId: 's-1' };
/** A reference to the session of {@link KEY}, which is not loaded. */
export const REFERENCE = { ...USER, id: 's-1' };

export function userSays(text: string, more: EventInput = {}): EventInput {
  return { author: 'user', content: { role: 'user', parts: [{ text }] }, ...more };
}

export function agentSays(text: string, more: EventInput = {}): EventInput {
  return { author: 'agent', content: { role: 'model', parts: [{ text }] }, ...more };
}

/** An event that calls one tool for each id. */
export function toolCalls(...ids: string[]): EventInput {
  const parts = ids.map((id) => ({ functionCall: { id, name: 'search', args: {} } }));
  return { author: 'agent', content: { role: 'model', parts } };
}

/** An event with the answer of one tool for each id. */
export function toolAnswers(...ids: string[]): EventInput {
  const parts = ids.map((id) => ({ functionResponse: { id, name: 'search', response: {} } }));
  return { author: 'agent', content: { role: 'user', parts } };
}

/** An event of an agent that changes the state. */
export function changing(id: string, stateDelta: Record<string, unknown>, ...stateRemovals: string[]): EventInput {
  return { id, author: 'agent', actions: { stateDelta, stateRemovals } };
}

export function createSummaryEvent(fromSeq: number, toSeq: number, text = `summary to ${toSeq}`): EventInput {
  const actions = { compaction: { fromSeq, toSeq } };
  return { id: `summary:${toSeq}`, author: 'system', content: { role: 'user', parts: [{ text }] }, actions };
}

export function rewindTo(toSeq: number, actions: EventInput['actions'] = {}): EventInput {
  return { author: 'system', actions: { ...actions, rewind: { toSeq } } };
}

/** `u1 a2 a3 …`: a message of the user, then messages of an agent. The numbers are the positions. */
export function turns(...kinds: ('u' | 'a')[]): EventInput[] {
  return kinds.map((kind, index) => (kind === 'u' ? userSays(`u${index + 1}`) : agentSays(`a${index + 1}`)));
}

/** An array of the same value. */
export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Creates the session of {@link KEY} and appends the events through the returned object. */
export async function sessionWith(sessions: SessionClient, events: readonly EventInput[] = []): Promise<Session> {
  const session = await sessions.createSession(KEY);
  for (const event of events) await sessions.appendEvent({ session, event });
  return session;
}

/** Appends to the session of {@link KEY} without a session object. */
export async function appendAll(sessions: SessionClient, events: readonly EventInput[]): Promise<LoggedEvent[]> {
  const stored: LoggedEvent[] = [];
  for (const event of events) stored.push(await sessions.appendEvent({ session: REFERENCE, event }));
  return stored;
}

/** Reads the session, and fails if it does not exist. */
export async function load(
  sessions: SessionClient,
  { config, ...key }: Partial<Parameters<SessionClient['getSession']>[0]> = {},
): Promise<Session> {
  const session = await sessions.getSession({ ...KEY, ...key, config });
  if (!session) throw new Error('The session is not there');
  return session;
}

/** The view of the session: texts, `call:id` and `answer:id`. */
export function shown({ events }: { readonly events: readonly LoggedEvent[] }): string[] {
  return events.map((event) => {
    const calls = getFunctionCalls(event).map(({ id, name }) => `call:${id ?? name}`);
    const answers = getFunctionResponses(event).map(({ id, name }) => `answer:${id ?? name}`);
    return [...listEventTexts(event), ...calls, ...answers].join(' ');
  });
}

/** The view that a new reader of the session gets. */
export async function view(
  sessions: SessionClient,
  config?: Parameters<SessionClient['getSession']>[0]['config'],
): Promise<string[]> {
  return shown(await load(sessions, { config }));
}

/** All retained events. */
export async function wholeLog(sessions: SessionClient): Promise<LoggedEvent[]> {
  return (await sessions.listEvents({ ...KEY, limit: 1_000 })).events;
}

/** Expects the operation to be refused with this error. */
export async function expectRefusal(
  operation: Promise<unknown>,
  code: SessionsErrorCode,
  fields: Record<string, unknown> = {},
): Promise<void> {
  await expect(operation).rejects.toMatchObject({ code, ...fields });
}
