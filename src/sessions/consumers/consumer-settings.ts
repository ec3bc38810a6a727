import { compareBytes, sessionKeyOf } from '../domain/values/ids.js';
import { storedJson } from '../domain/stored/stored-json.js';
import type { ChangedSession, NewWork, StoredConsumer } from '../storage/coordination.js';
import { comparePositions } from '../storage/list-order.js';
import type { ListPosition } from '../storage/session-storage.js';

/** Where a consumer begins: with events after its registration, or with the first event of every log. */
export type ConsumerStart = 'now' | 'start';

/** Progress of a consumer with `from: 'start'` through older sessions: app by app, in order of creation. */
export interface FillPosition {
  readonly appName?: string | undefined;
  /** In this app. */
  readonly after?: ListPosition | undefined;
  readonly isAppDone?: boolean | undefined;
}

/** The settings of a consumer, as stored. */
export interface ConsumerSettings {
  /** Default: all apps. */
  readonly apps?: readonly string[] | undefined;
  readonly from: ConsumerStart;
  /** Present until all older sessions are queued. */
  readonly fill?: FillPosition | undefined;
}

export interface RegisteredConsumer extends ConsumerSettings {
  readonly name: string;
  readonly registeredAt: number;
  /** The settings as text. */
  readonly text: string;
}

export function settingsText({ apps, from, fill }: ConsumerSettings): string {
  return JSON.stringify({ ...(apps && { apps: apps.toSorted(compareBytes) }), from, ...(fill && { fill }) });
}

export function consumerOf({ name, registeredAt, settings: text }: StoredConsumer): RegisteredConsumer {
  return { ...(storedJson(text, 'a consumer') as ConsumerSettings), name, registeredAt, text };
}

/** Whether a consumer gets the changes of a session. While it is filling, only of sessions that are queued already. */
export function wants({ apps, fill }: ConsumerSettings, session: ChangedSession): boolean {
  if (apps && !apps.includes(session.appName)) return false;
  return fill === undefined || isFilled(fill, session);
}

function isFilled({ appName, after, isAppDone }: FillPosition, session: ChangedSession): boolean {
  if (appName === undefined) return false;
  const order = compareBytes(session.appName, appName);
  if (order !== 0 || isAppDone) return order <= 0;
  const { createTime: time, userId, sessionId } = session;
  return after !== undefined && comparePositions({ time, userId, sessionId }, after, { order: 'asc' }) <= 0;
}

/** The events of a session that are not dispatched, as work for a consumer. */
export function workOn(session: ChangedSession, { name }: Pick<RegisteredConsumer, 'name'>): NewWork {
  return {
    consumer: name,
    key: sessionKeyOf(session),
    incarnation: session.incarnation,
    seq: session.dispatchedSeq,
    upTo: session.lastSeq,
    since: session.waitingSince,
  };
}

/**
 * The time before which a consumer ignores events; `undefined` if it gets all of them. Events that waited when a consumer
 * was registered may be older than the consumer.
 */
export function startTime(
  { from, registeredAt }: Pick<RegisteredConsumer, 'from' | 'registeredAt'>,
  since: number,
): number | undefined {
  return from === 'now' && since < registeredAt ? registeredAt : undefined;
}
