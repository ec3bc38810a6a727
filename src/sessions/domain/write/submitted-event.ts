import type { WriteLimits } from '../../../config/session-settings.js';
import { isTempKey } from '../../../state/scopes.js';
import { NO_CHANGES, type StateChanges, filterChanges, hasChanges } from '../../../state/state-changes.js';
import { type Clock, epochMilliseconds } from '../process/clock.js';
import { type IdGenerator, assertId } from '../values/ids.js';
import { type Counters, countEvent } from '../stored/counters.js';
import { InvalidInputError, LimitExceededError } from '../errors/errors.js';
import { type ComparedEvent, eventDigest } from './event-digest.js';
import { toEventGroup } from '../event/event-group.js';
import { isAnchor } from '../event/event-inspection.js';
import { assertAuthor, assertEventShape } from './event-shape.js';
import { type Event, type EventInput, isTimestampGiven } from '../event/event.js';
import { KeptEvent } from '../stored/kept-event.js';
import { isGiven, jsonCopyOfFields } from '../values/json-value.js';
import type { MetadataChange } from '../metadata/metadata-entries.js';
import { metadataChanges } from '../metadata/metadata.js';
import { type HashedText, submittedRequest } from '../event/model-request.js';
import { redactedEvent, redactionOf } from './redacted-event.js';
import { submittedMetadataDelta } from '../metadata/metadata-checks.js';
import { submittedChanges } from './submitted-state.js';
import { type ModelUsage, usageOfEvent } from '../usage/usage.js';

/** A validated event, with the data derived from it. */
export class SubmittedEvent implements ComparedEvent {
  #digest: string | undefined;
  #payload: string | undefined;
  /** For a store in this process, unless the event is large. */
  readonly kept: KeptEvent | undefined;

  constructor(
    /** Normalised; shares no object with the input. Has no `seq` yet. */
    readonly event: Event,
    limits: WriteLimits,
    isKept: boolean,
    readonly givenTimestamp: number | undefined,
    /** Changes of the stored scopes. */
    readonly changes: StateChanges,
    /** Changes of `temp:` keys, which only the caller's session object gets. */
    readonly temp: StateChanges,
    /** Changes of the session's metadata. */
    readonly metadata: readonly MetadataChange[],
    /** Texts that the event names by their hashes, to be kept beside the log. */
    readonly texts: readonly HashedText[],
  ) {
    this.counts = countEvent(event);
    this.kept = isKept ? KeptEvent.of(event, limits.maxEventBytes) : undefined;
    if (!this.kept) this.#payload = formatLimitedPayload(event, limits);
  }

  readonly counts: Counters;

  get anchor(): boolean {
    return isAnchor(this.event);
  }

  get group(): string {
    return toEventGroup(this.event);
  }

  /** The event as JSON text, for the store. */
  get payload(): string {
    return this.#payload ?? this.kept?.payload ?? '';
  }

  /** Takes longer than the rest, and a store in this process does without. */
  get digest(): string {
    return (this.#digest ??= eventDigest(this.event));
  }

  get redactedDigest(): string {
    return eventDigest(redactedEvent(this.event, redactionOf(this.event, { at: 0, reason: '' })));
  }

  /** The tokens that it reports, if any. */
  get usage(): ModelUsage | undefined {
    return usageOfEvent(this.event);
  }
}

interface Surroundings {
  /** Default: one that gets text. */
  readonly storage?: { readonly isInProcess?: boolean } | undefined;
  readonly limits: WriteLimits;
  readonly clock: Clock;
  readonly newId: IdGenerator;
}

/** Validates an event and prepares it for the store. All checks of an event are here, before any write. */
export function submitEvent(input: EventInput, { limits, clock, newId, storage }: Surroundings): SubmittedEvent {
  assertEventShape(input);
  if (input.partial) throw new InvalidInputError('a partial event is never stored', '$.partial');
  const actions = input.actions ?? {};
  const { stateDelta, stateRemovals, metadataDelta: givenMetadata } = actions;
  const changes = submittedChanges(stateDelta, stateRemovals, '$.actions', limits);
  const temp = filterChanges(changes, isTempKey);
  const stored = temp === NO_CHANGES ? changes : filterChanges(changes, isStoredKey);
  const metadataDelta = submittedMetadataDelta(givenMetadata, '$.actions.metadataDelta', limits);
  if (actions.compaction && (hasChanges(changes) || metadataDelta)) {
    throw new InvalidInputError('a summary must not change state or metadata', '$.actions');
  }

  const event = normalised(input, actions, limits);
  event.id = checkOrCreateEventId(input, newId);
  event.invocationId ??= '';
  // The caller gets the event and may change it.
  event.actions.stateDelta = stored === NO_CHANGES ? {} : stored.stateDelta;
  if (stored.stateRemovals.length > 0) event.actions.stateRemovals = [...stored.stateRemovals];
  if (metadataDelta) event.actions.metadataDelta = metadataDelta;
  const asked = submittedRequest(input.modelRequest, '$.modelRequest', limits);
  if (asked) event.modelRequest = asked.request;
  const { timestamp } = input;
  event.timestamp = isGiven(timestamp) ? epochMilliseconds(timestamp, '$.timestamp') : clock.now();
  assertAuthor(event);
  const givenTimestamp = isTimestampGiven(input) ? input.timestamp : undefined;
  const metadata = metadataDelta ? metadataChanges(metadataDelta) : NO_METADATA;
  const isKept = storage?.isInProcess ?? false;
  const texts = asked?.texts ?? NO_TEXTS;
  return new SubmittedEvent(event, limits, isKept, givenTimestamp, stored, temp, metadata, texts);
}

const NO_METADATA: readonly MetadataChange[] = Object.freeze([]);
const NO_TEXTS: readonly HashedText[] = Object.freeze([]);

function isStoredKey(key: string): boolean {
  return !isTempKey(key);
}

/** The store assigns `seq`. Changes of state and metadata, and what a model was given, have checks of their own. */
const ACTIONS = { without: ['stateDelta', 'stateRemovals', 'metadataDelta'] };
const NOT_GIVEN = ['seq', 'modelRequest'];

function normalised(input: EventInput, actions: object, limits: WriteLimits): Event {
  const { maxDepth, maxEventBytes: maxBytes } = limits;
  const inner = { key: 'actions', value: actions, outline: ACTIONS };
  const event = jsonCopyOfFields(input, '$', { maxDepth, maxBytes }, { without: NOT_GIVEN, inner });
  event.actions ??= {};
  return event as object as Event;
}

function checkOrCreateEventId({ id }: EventInput, newId: IdGenerator): string {
  if (!isGiven(id) || id === '') return newId();
  assertId(id, '$.id');
  return id;
}

function formatLimitedPayload(event: Event, { maxEventBytes }: WriteLimits): string {
  const payload = JSON.stringify(event);
  // A UTF-16 unit has at most three bytes, so that most events need no count.
  const bytes = payload.length * 3 > maxEventBytes ? Buffer.byteLength(payload) : 0;
  if (bytes > maxEventBytes)
    throw new LimitExceededError(`the event has ${bytes} bytes; at most ${maxEventBytes} are allowed`);
  return payload;
}
