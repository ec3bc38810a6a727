import { DEFAULT_LIMITS } from '../../../config/session-settings.js';
import { systemClock } from '../process/clock.js';
import { randomId } from '../values/ids.js';
import { SessionsError } from '../errors/errors.js';
import { canonicalJson } from '../values/canonical-json.js';
import { assertEventShape } from './event-shape.js';
import type { EventActions, EventActionsInput, EventInput, LoggedEvent } from '../event/event.js';
import { isPlainObject } from '../values/json-value.js';
import type { MetadataChange } from '../metadata/metadata-entries.js';
import { metadataChanges, metadataDeltaOf } from '../metadata/metadata.js';
import { submitEvent } from './submitted-event.js';
import { submittedMetadataDelta } from '../metadata/metadata-checks.js';
import { submittedChanges, submittedState } from './submitted-state.js';
import { type StoredScope, joinStateKey, splitStateKey } from '../../../state/scopes.js';
import { hasChanges } from '../../../state/state-changes.js';

/** The store that wrote an export may allow more. A line says no more than a reader takes. */
const LIMITS = { ...DEFAULT_LIMITS, maxEventBytes: Infinity, maxDepth: Infinity, maxDeltaKeys: Infinity };

/** Why no append stores this event, by the checks of an append; `undefined` if one does. */
export function eventProblem(given: Readonly<Record<string, unknown>>): string | undefined {
  return catchRefusal(() => {
    const { event, temp } = submitEvent(asAppended(given), { limits: LIMITS, clock: systemClock, newId: randomId });
    if (hasChanges(temp)) return 'temp: keys are never stored';
    return hasStoredForm(given.actions as EventActionsInput, event.actions)
      ? undefined
      : 'its `actions` are incomplete';
  });
}

/**
 * Why the rules cannot read an event that is stored already, whatever let it in; `undefined` if they can. Older versions may have
 * stored what an append refuses now.
 */
export function readingProblem(event: LoggedEvent): string | undefined {
  return catchRefusal(() => {
    const { stateDelta, stateRemovals, metadataDelta } = event.actions;
    assertEventShape(asAppended(event));
    submittedChanges(stateDelta, stateRemovals, '$.actions', LIMITS);
    const stored = { metadataDelta: submittedMetadataDelta(metadataDelta, '$.actions.metadataDelta', LIMITS) };
    return hasStoredForm(event.actions, stored) ? undefined : 'its `actions` are incomplete';
  });
}

/** A fork begins with the summary of its origin, which covers none of its own events. No append stores such a one. */
function asAppended<Given extends EventInput>(event: Given): Given {
  const { compaction } = event.actions ?? {};
  if (compaction?.fromSeq !== 0 || compaction.toSeq !== 0) return event;
  return { ...event, actions: { ...event.actions, compaction: { ...compaction, fromSeq: 1, toSeq: 1 } } };
}

/** An append completes the actions, and whoever reads a stored event relies on that. */
function hasStoredForm(
  { stateDelta, metadataDelta }: EventActionsInput,
  stored: Pick<EventActions, 'metadataDelta'>,
): boolean {
  return (
    isPlainObject(stateDelta) && canonicalJson(metadataDelta ?? null) === canonicalJson(stored.metadataDelta ?? null)
  );
}

/** The same for the state of a scope, by its names in that scope. */
export function stateProblem(state: Readonly<Record<string, unknown>>, scope: StoredScope): string | undefined {
  return catchRefusal(() => {
    const keys = Object.keys(state).map((name) => joinStateKey(scope, name));
    submittedState(Object.fromEntries(keys.map((key) => [key, null])), scope, LIMITS);
    return keys.some((key) => splitStateKey(key).scope !== scope)
      ? `the ${scope} has a key of another scope`
      : undefined;
  });
}

/** The same for the metadata of a session, by its entries. */
export function metadataProblem(changes: readonly MetadataChange[]): string | undefined {
  return catchRefusal(() => {
    const delta = submittedMetadataDelta(metadataDeltaOf(changes), 'metadata', LIMITS);
    const stored = new Map(delta ? metadataChanges(delta) : []);
    const other = changes.find(([name, value]) => stored.get(name) !== value);
    return other && `metadata has no entry ${JSON.stringify(other[0].slice(0, 40))}, or not of this kind`;
  });
}

function catchRefusal(check: () => string | undefined): string | undefined {
  try {
    return check();
  } catch (error) {
    if (error instanceof SessionsError) return error.message;
    throw error;
  }
}
