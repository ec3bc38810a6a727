import type { Session } from '../../src/index.js';
import type { Entry, GivenEvent } from './model/entries.js';
import { metadataFrom, seenMetadata } from './model/metadata.js';
import type { Model } from './model/model.js';
import type { ModelObject } from './model/model-object.js';
import type { ModelSession } from './model/model-session.js';

/** The result of an operation: its value, or the code of its error. */
export type Outcome<T> = { readonly value: T } | { readonly code: string };

export async function outcomeOf<T>(run: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await run() };
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string') return { code: error.code };
    throw error;
  }
}

export function valueOf<T>(outcome: Outcome<T>): T | undefined {
  return 'value' in outcome ? outcome.value : undefined;
}

/** The same outcome with comparable data instead of its value. */
export function seen<T>(outcome: Outcome<T>, see: (value: T) => unknown): unknown {
  return 'value' in outcome ? see(outcome.value) : outcome;
}

/** An event with its fields in a fixed order. Nested values keep their order. */
export function seenEvent(event: object): unknown {
  const { actions = {}, ...fields } = event as GivenEvent;
  return sorted({ ...fields, actions: sorted({ stateDelta: {}, ...actions }) });
}

export function seenEntry({ event, seq }: Entry): unknown {
  return seenEvent({ ...event, seq });
}

export function seenSession(session: Session, withEvents: boolean): unknown {
  const { appName, userId, id, createTime, lastUpdateTime, version, conversationCount, events, metadata } = session;
  return {
    key: [appName, userId, id],
    numbers: { createTime, lastUpdateTime, version, conversationCount },
    state: sortedEntries(session.state.getAll()),
    metadata: seenMetadata(metadataFrom(metadata)),
    events: withEvents && events.map(seenEvent),
  };
}

export function seenObject(object: ModelObject, withEvents: boolean): unknown {
  const { session, lastUpdateTime, version, conversationCount, shown } = object;
  const { appName, userId, sessionId } = session.key;
  return {
    key: [appName, userId, sessionId],
    numbers: { createTime: session.createTime, lastUpdateTime, version, conversationCount },
    state: sortedEntries(Object.fromEntries(object.state)),
    metadata: seenMetadata(object.metadata),
    events: withEvents && shown.map(seenEntry),
  };
}

export function seenListed(model: Model, sessions: readonly ModelSession[]): unknown {
  return sessions.map((session) => seenObject(model.open(session), true));
}

export function sortedEntries(record: Record<string, unknown>): unknown {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function sorted(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
