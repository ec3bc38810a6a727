import { foldChanges } from '../../state/state-changes.js';
import { assertBatch } from '../domain/batch-rules.js';
import type { Commit, Preconditions } from '../domain/commit.js';
import { addCounters } from '../domain/counters.js';
import { assertDefinedState } from '../domain/defined-state.js';
import { isSummary } from '../domain/event-inspection.js';
import { assertEventShape } from '../domain/event-shape.js';
import { type SubmittedEvent, submitEvent } from '../domain/submitted-event.js';
import { type EventInput, keepFilledInTimestamp } from '../domain/event.js';
import type { SessionKey } from '../domain/ids.js';
import { underPath } from '../domain/input-checks.js';
import { foldMetadata } from '../domain/metadata-entries.js';
import { stateWrites } from '../domain/stored-json.js';
import { type SessionEnvironment } from '../session-environment.js';

/** A caller's event, and its place in the caller's input. */
export interface GivenEvent {
  readonly event: EventInput;
  /** A JSON path: `$`, or `$.events[3]`. */
  readonly path: string;
}

/** A validated event. */
export interface PreparedEvent {
  readonly submitted: SubmittedEvent;
  readonly path: string;
  /** The caller's event, if hooks ran. */
  readonly beforeHooks?: EventInput | undefined;
}

/** Validated events, and the commit that stores them. */
export interface PreparedAppend {
  readonly key: SessionKey;
  /** One for each event of the commit. */
  readonly events: readonly PreparedEvent[];
  readonly commit: Commit;
}

/** Runs hooks and checks, and builds the commit. */
export function prepareAppend(
  env: SessionEnvironment,
  key: SessionKey,
  given: readonly GivenEvent[],
  preconditions: Preconditions,
): PreparedAppend | Promise<PreparedAppend> {
  if (env.hooks.hasBeforeAppend) return prepareByHooks(env, key, given, preconditions);
  // Without hooks there is no await, so that the caller may change the events after the call.
  const events = given.map(({ event, path }) => ({ submitted: submit(env, key, event, path), path }));
  return preparedAppend(env, key, events, preconditions);
}

async function prepareByHooks(
  env: SessionEnvironment,
  key: SessionKey,
  given: readonly GivenEvent[],
  preconditions: Preconditions,
): Promise<PreparedAppend> {
  const events: PreparedEvent[] = [];
  for (const one of given) events.push(await preparedByHooks(env, key, one));
  return preparedAppend(env, key, events, preconditions);
}

function preparedAppend(
  env: SessionEnvironment,
  key: SessionKey,
  events: readonly PreparedEvent[],
  preconditions: Preconditions,
): PreparedAppend {
  assertBatch(events, env.limits);
  const submitted = events.map((one) => one.submitted);
  return { key, events, commit: commitOf(env, key, submitted, preconditions) };
}

async function preparedByHooks(
  env: SessionEnvironment,
  key: SessionKey,
  { event, path }: GivenEvent,
): Promise<PreparedEvent> {
  underPath(path, () => assertEventShape(event));
  const passed = await env.hooks.runBeforeAppend({ key, event });
  keepFilledInTimestamp(event, passed);
  return { submitted: submit(env, key, passed, path), path, beforeHooks: event };
}

function submit(env: SessionEnvironment, key: SessionKey, event: EventInput, path: string): SubmittedEvent {
  return path === '$' ? submitDefined(env, key, event) : underPath(path, () => submitDefined(env, key, event));
}

function submitDefined(env: SessionEnvironment, { appName }: SessionKey, event: EventInput): SubmittedEvent {
  const submitted = submitEvent(event, env);
  for (const { stateDelta } of [submitted.changes, submitted.temp]) {
    assertDefinedState(env.stateDefinitions, appName, stateDelta, '$.actions.stateDelta');
  }
  return submitted;
}

function commitOf(
  env: SessionEnvironment,
  key: SessionKey,
  submitted: readonly SubmittedEvent[],
  preconditions: Preconditions,
): Commit {
  const metadata = foldMetadata(submitted.map((one) => one.metadata));
  const { upserts, removals } = stateWrites(foldChanges(submitted.map(({ changes }) => changes)));
  return {
    key,
    events: submitted.map((one) => ({
      id: one.event.id,
      digest: env.storage.isInProcess ? '' : one.digest,
      timestamp: one.event.timestamp,
      anchor: one.anchor,
      group: one.group,
      payload: one.payload,
    })),
    upserts,
    removals,
    metadata: metadata.length > 0 ? metadata : undefined,
    counterIncrements: submitted.map(({ counts }) => counts).reduce(addCounters),
    // Summaries do not renew a session.
    expiry: submitted.some(({ event }) => isSummary(event)) ? undefined : env.lifetimes,
    preconditions,
  };
}
