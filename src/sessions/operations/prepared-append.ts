import { foldChanges } from '../../state/state-changes.js';
import { assertBatch } from '../domain/write/batch-rules.js';
import type { Commit, Preconditions } from '../domain/stored/commit.js';
import { type Counters, NO_COUNTS, addCounters } from '../domain/stored/counters.js';
import { assertDefinedState } from '../domain/write/defined-state.js';
import { isAnySummary } from '../domain/event/event-inspection.js';
import { DAY_MS } from '../domain/values/expiry.js';
import { assertEventShape } from '../domain/write/event-shape.js';
import { type SubmittedEvent, submitEvent } from '../domain/write/submitted-event.js';
import { SessionsError } from '../domain/errors/errors.js';
import { type EventInput, keepFilledInTimestamp } from '../domain/event/event.js';
import type { SessionKey } from '../domain/values/ids.js';
import { underPath } from '../domain/values/input-checks.js';
import { misspelledFields } from '../domain/write/misspelled-event-fields.js';
import { foldMetadata } from '../domain/metadata/metadata-entries.js';
import { lastGiven } from '../domain/event/model-request.js';
import type { CommitEvent } from '../domain/stored/session-record.js';
import { stateWrites } from '../domain/stored/stored-json.js';
import { usageByModel } from '../domain/usage/usage.js';
import type { UsageIncrement } from '../domain/usage/usage-periods.js';
import { type SessionEnvironment } from '../session-environment.js';
import { askHooks } from './hook-refusals.js';

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
  /** Whether its id was given. Otherwise it was generated, so that it repeats no event. */
  readonly hasOwnId: boolean;
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
  const events = given.map(({ event, path }) => preparedOf(submit(env, key, event, path), { event, path }));
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
  return { key, events, commit: assembleCommit(env, key, events, preconditions) };
}

async function preparedByHooks(
  env: SessionEnvironment,
  key: SessionKey,
  { event, path }: GivenEvent,
): Promise<PreparedEvent> {
  underPath(path, () => assertEventShape(event));
  const run = (): Promise<EventInput> => env.hooks.runBeforeAppend({ key, event });
  const passed = await askHooks(env, { registration: 'onBeforeAppend', key, run });
  keepFilledInTimestamp(event, passed);
  if (passed === event) return preparedOf(submit(env, key, event, path), { event, path }, event);
  try {
    return preparedOf(submit(env, key, passed, path), { event: passed, path }, event);
  } catch (error) {
    if (!(error instanceof SessionsError)) throw error;
    // What the caller sent is the caller's mistake. What hooks made of it is the app's: that error is no `SessionsError`.
    underPath(path, () => submittedEvent(env, key, event));
    throw new TypeError(`A hook of onBeforeAppend returned an event that is refused: ${error.message}`, {
      cause: error,
    });
  }
}

/** All prepared events have the same fields. */
function preparedOf(submitted: SubmittedEvent, { event, path }: GivenEvent, beforeHooks?: EventInput): PreparedEvent {
  return { submitted, path, hasOwnId: Boolean(event.id), beforeHooks };
}

function submit(env: SessionEnvironment, key: SessionKey, event: EventInput, path: string): SubmittedEvent {
  const submitted =
    path === '$' ? submittedEvent(env, key, event) : underPath(path, () => submittedEvent(env, key, event));
  for (const error of misspelledFields(submitted.event, path)) env.onMisspelledField(error);
  return submitted;
}

/** All checks of an event, also those of the app for its state. */
export function submittedEvent(
  env: SessionEnvironment,
  { appName }: Pick<SessionKey, 'appName'>,
  event: EventInput,
): SubmittedEvent {
  const submitted = submitEvent(event, env);
  if (env.stateDefinitions === undefined) return submitted;
  for (const { stateDelta } of [submitted.changes, submitted.temp]) {
    assertDefinedState(env.stateDefinitions, appName, stateDelta, '$.actions.stateDelta');
  }
  return submitted;
}

function assembleCommit(
  env: SessionEnvironment,
  key: SessionKey,
  events: readonly PreparedEvent[],
  preconditions: Preconditions,
): Commit {
  const [first] = events;
  const isAlone = first !== undefined && events.length === 1;
  const metadata = isAlone ? first.submitted.metadata : foldMetadata(events.map((one) => one.submitted.metadata));
  const changes = isAlone ? first.submitted.changes : foldChanges(events.map((one) => one.submitted.changes));
  const { upserts, removals } = stateWrites(changes);
  return {
    key,
    events: events.map(commitEventOf),
    upserts,
    removals,
    maxStateBytes: upserts.length > 0 ? env.stateLimits : undefined,
    metadata: metadata.length > 0 ? metadata : undefined,
    counterIncrements: isAlone ? first.submitted.counts : events.reduce(plusCounts, NO_COUNTS),
    usage: usageIncrement(env, events),
    // Summaries do not renew a session.
    expiry: events.some(isOfSummary) ? undefined : env.lifetimes,
    preconditions: withKnownEvents(events, preconditions),
  };
}

/** Events that models were given must be in the log: those before, or earlier ones of the commit. */
function withKnownEvents(events: readonly PreparedEvent[], preconditions: Preconditions): Preconditions {
  let knownSeq = 0;
  for (const [index, { submitted }] of events.entries()) {
    const { modelRequest } = submitted.event;
    if (modelRequest) knownSeq = Math.max(knownSeq, lastGiven(modelRequest) - index);
  }
  return knownSeq > 0 ? { ...preconditions, knownSeq } : preconditions;
}

function commitEventOf({ submitted }: PreparedEvent): CommitEvent {
  if (submitted.kept) return submitted.kept;
  const { event, anchor, group, payload } = submitted;
  return { id: event.id, timestamp: event.timestamp, anchor, group, payload };
}

function plusCounts(sum: Counters, { submitted }: PreparedEvent): Counters {
  return addCounters(sum, submitted.counts);
}

function isOfSummary({ submitted }: PreparedEvent): boolean {
  return isAnySummary(submitted.event);
}

/** Most events report no tokens. Summaries report those of their model. */
function usageIncrement({ usage }: SessionEnvironment, events: readonly PreparedEvent[]): UsageIncrement | undefined {
  if (!usage.enabled || !events.some(reportsTokens)) return undefined;
  const reported = events.flatMap(({ submitted }) => submitted.usage ?? []);
  const models = reported.length === 1 ? reported : usageByModel(reported);
  return { models, keepMs: usage.keepDays * DAY_MS };
}

function reportsTokens({ submitted }: PreparedEvent): boolean {
  return submitted.event.usageMetadata !== undefined && submitted.event.usageMetadata !== null;
}
