import { type Event as AdkEvent, type Session as AdkSession, createEvent } from '@google/adk';
import { isByUser } from '../../adapter.js';
import type { EventInput, LoggedEvent, Session } from '../../index.js';
import { plainCopy } from './plain-values.js';

/** The author of events that ADK gives none. */
const NOBODY = 'agent';

/** What ADK reads as its own notes, wherever in the log it stands. A user has none, so a client cannot forge them. */
const NOTES_OF_NODES = [
  'nodeInfo',
  'output',
  'route',
  'isolationScope',
  'isCompacted',
  'isScratchpad',
  'compactedContent',
  'startTime',
  'endTime',
];
const NOTES_OF_AGENTS = ['agentState', 'endOfAgent', 'requestedToolConfirmations', 'requestedAuthConfigs'];

/** An event of ADK for the log. In ADK, `undefined` in a state delta takes the key away. */
export function storedEvent(event: AdkEvent): EventInput {
  const { actions, ...fields } = plainCopy(event) as EventInput;
  const removed = Object.entries(event.actions?.stateDelta ?? {}).flatMap(([key, value]) =>
    value === undefined ? [key] : [],
  );
  const stateRemovals = [...(actions?.stateRemovals ?? []), ...removed];
  return {
    ...fields,
    author: fields.author || NOBODY,
    actions: { ...actions, ...(stateRemovals.length > 0 && { stateRemovals }) },
  };
}

/** An event of the log for ADK: whole, but for what only ADK may have written. */
function adkEvent({ seq: _seq, ...event }: LoggedEvent): AdkEvent {
  const { actions, ...fields } = event;
  const given = isByUser(event)
    ? { ...without(fields, NOTES_OF_NODES), actions: without(actions, NOTES_OF_AGENTS) }
    : event;
  // Both describe the same JSON. The log allows more than the types of ADK.
  return createEvent(given as Parameters<typeof createEvent>[0]);
}

function without(record: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

/** A session as ADK has it. Its state is a plain object, as in ADK: code of agents may call what objects inherit. */
export function adkSession(session: Session): AdkSession {
  const { id, appName, userId, lastUpdateTime } = session;
  return {
    id,
    appName,
    userId,
    state: session.state.toRecord(),
    events: session.events.map(adkEvent),
    lastUpdateTime,
  };
}
