import { payloadChecksum } from '../../../domain/write/event-digest.js';
import { NEVER } from '../../../domain/values/expiry.js';
import type { NumberedEvent } from '../../../domain/stored/session-record.js';
import type { StateSize } from '../../../domain/stored/state-size.js';
import type { PlannedEntry, PlannedScope, PlannedWrite, Upkeep } from '../../planned-write.js';
import type { Repairs } from '../../rebuild.js';
import type { AppScope } from '../app-scope/app-scope.js';
import type { RedisKeys } from '../redis-keys.js';
import { type ScriptArguments, idField, lifetimeArguments, STATE_HAS_KEYS } from '../script/codec.js';
import { recordText } from '../../record-text.js';
import { usageFields, usageText, usageTimes } from '../script/usage.lua.js';
import { formatGroupRuns } from '../audit/grouped-events.js';
import { memberOfPartial } from '../live/partial-events.js';
import { encodeEvent } from './initial-log.js';
import { RARE_NUMBERS } from './rare-writes.lua.js';

/** A write with its encoded arguments: see WRITE_SESSIONS. */
export interface EncodedWrite {
  readonly write: PlannedWrite;
  readonly recordKey: string;
  readonly args: ScriptArguments;
}

/** What encoding needs to know. */
interface WriteContext {
  readonly keys: RedisKeys;
  readonly app: AppScope;
  /** The sizes of scopes that were counted, because they may have no room. */
  readonly countedSize?: ((scope: PlannedScope) => StateSize | undefined) | undefined;
}

/** What comes between the encoded ids of app, user and session in the key of a record. */
const BETWEEN_IDS = '|}:session:'.length;

/** Few long arguments are faster than many short ones. */
export function encodeWrite(write: PlannedWrite, context: WriteContext): EncodedWrite {
  const { key, before, after, events, state, partials } = write;
  const { keys, app } = context;
  const parts = keys.partsOf(key);
  const times = timesOf(write);
  const usage = write.usage && usageFields(write.usage.models);
  const counts = usage && usage.length > 0 ? usage : NO_COUNTS;
  const more = rareArguments(write, times, context);
  const groups = runsOfGroups(events);
  const sets = state.flatMap(({ name, value }) => (value === undefined ? [] : [name, value]));
  const removals = state.flatMap(({ name, value }) => (value === undefined ? [name] : []));
  const ofApp = app.isCluster ? '-' : parts.user.length + parts.id.length + BETWEEN_IDS;
  const sizes = [events.length, groups.length / 2, counts.length, sets.length, removals.length, partials.length].join(
    ' ',
  );
  const stateAfter = after.state === before.state ? [] : ['state', after.state ?? STATE_HAS_KEYS];
  const numbers = `${parts.id.length} ${ofApp} ${sizes} ${stateAfter.length}`;
  const head = `${numbers} ${more ? 1 : 0} ${times.isExpiring ? '' : times.updatedAt}\n${formatAnchorSeqs(events)}`;
  const textAfter = after.stamp === before.stamp ? '' : recordText(after);
  const args: ScriptArguments = [
    0,
    recordText(before),
    `${key.userId}\0${key.sessionId}`,
    head,
    textAfter,
    ...stateAfter,
  ];
  for (const event of events) args.push(event.seq, encodeEvent(event));
  for (const { id, seq } of events) args.push(idField(id), seq);
  args.push(...groups);
  for (const [field, count] of counts) args.push(field, count);
  args.push(...sets, ...removals);
  if (partials.length > 0) args.push(...partialArguments(write));
  if (write.usage && counts.length > 0) args.push(usageTimes(write.usage, usageAt(write)));
  if (more) args.push(...more);
  args[0] = args.length - 1;
  return { write, recordKey: parts.recordKey, args };
}

const NO_COUNTS: readonly [field: string, count: number][] = [];

/** On which day usage counts. */
function usageAt({ events }: PlannedWrite): number {
  return events[0]?.appendedAt ?? 0;
}

interface WriteTimes {
  /** The time of the update if it changes. */
  readonly updatedAt: number | '';
  /** Whether one of the records expires, so that indexes follow. */
  readonly isExpiring: boolean;
}

function timesOf({ before, after, events }: PlannedWrite): WriteTimes {
  const { expiresAt, lastUpdateTime } = after.record;
  const hasNewTimes = events.length > 0 || expiresAt !== before.record.expiresAt;
  return {
    updatedAt: lastUpdateTime === before.record.lastUpdateTime ? '' : lastUpdateTime,
    isExpiring: hasNewTimes && Math.min(expiresAt, before.record.expiresAt) < NEVER,
  };
}

function formatAnchorSeqs(events: readonly NumberedEvent[]): string {
  return events.flatMap(({ anchor, seq }) => (anchor ? [seq] : [])).join(' ');
}

/** Alternating the field of a group and the runs of its events. */
function runsOfGroups(events: readonly NumberedEvent[]): string[] {
  const runs = new Map<string, { from: number; to: number }[]>();
  for (const { group, seq } of events) {
    if (!group) continue;
    const ofGroup = runs.get(group) ?? [];
    runs.set(group, ofGroup);
    const last = ofGroup.at(-1);
    if (last?.to === seq - 1) last.to = seq;
    else ofGroup.push({ from: seq, to: seq });
  }
  return [...runs].flatMap(([group, ofGroup]) => [
    `\0${group}`,
    ofGroup.map(({ from, to }) => `${from}-${to}`).join(','),
  ]);
}

/** What watchers are told, then number, expiry and text of each. */
function partialArguments({ after, partials }: PlannedWrite): ScriptArguments {
  const { incarnation, lastSeq } = after.record;
  return [
    `${incarnation} ${lastSeq} ${partials.at(-1)?.number ?? 0}`,
    ...partials.flatMap((partial) => [partial.number, partial.expiresAt, memberOfPartial(partial)]),
  ];
}

/** What few writes have; undefined if this one has none of it. */
function rareArguments(
  write: PlannedWrite,
  { updatedAt, isExpiring }: WriteTimes,
  context: WriteContext,
): ScriptArguments | undefined {
  const { key, before, after, scopes, endsPartials, upkeep } = write;
  const { app, keys } = context;
  const metadata = after.metadata === before.metadata ? undefined : after.metadata;
  const hasNewMark = after.record.waitingSince !== before.record.waitingSince;
  const ended = endsPartials !== undefined && endsPartials.length > 0 ? endsPartials : undefined;
  const pendingUsage = app.isCluster && write.usage ? usageText(write.usage, usageAt(write)) : '';
  const pending = app.pendingText(scopes.find(isOfApp), pendingUsage);
  const ofUser = scopes.find((scope) => !isOfApp(scope));
  const ofApp = app.isCluster ? undefined : scopes.find(isOfApp);
  if (!(
    isExpiring ||
    metadata !== undefined ||
    hasNewMark ||
    ended ||
    ofUser ||
    ofApp ||
    upkeep?.trim ||
    upkeep?.checkpoint ||
    upkeep?.repairs ||
    pending !== ''
  )) {
    return undefined;
  }
  const parts = keys.partsOf(key);
  const numbers: Record<(typeof RARE_NUMBERS)[number], string | number> = {
    appBytes: parts.app.length,
    userBytes: parts.user.length,
    tag: app.slotTag(key),
    expiry: after.record.expiresAt,
    expiryBefore: before.record.expiresAt,
    created: after.record.createTime,
    updatedAt: updatedAt === '' ? '-' : updatedAt,
    since: hasNewMark ? after.record.waitingSince : '-',
    hasMetadata: metadata === undefined ? 0 : 1,
    ended: ended === undefined ? '-' : ended === 'all' ? ended : ended.length,
    withUser: ofUser ? 1 : 0,
    withApp: ofApp ? 1 : 0,
    trimmed: upkeep?.trim?.digests.length ?? '-',
    checkpointAt: upkeep?.checkpoint?.seq ?? '-',
    hasRepairs: upkeep?.repairs ? 1 : 0,
  };
  const args: ScriptArguments = [
    `${key.appName}\n${key.userId}\n${key.sessionId}`,
    RARE_NUMBERS.map((name) => numbers[name]).join(' '),
  ];
  if (metadata !== undefined) args.push(metadata);
  if (ended && ended !== 'all') args.push(...ended);
  if (upkeep) args.push(...upkeepArguments(write, upkeep));
  args.push(pending);
  for (const scope of [ofUser, ofApp]) if (scope) args.push(...scopeArguments(scope, context.countedSize?.(scope)));
  return args;
}

function upkeepArguments({ before, after }: PlannedWrite, { trim, checkpoint, repairs }: Upkeep): ScriptArguments {
  return [
    ...(trim ? [trim.baseState, before.record.firstSeq, after.record.firstSeq, ...trim.digests] : []),
    ...(checkpoint ? [checkpoint.text] : []),
    ...(repairs ? repairArguments(repairs) : []),
  ];
}

function repairArguments({ events = [], removeCheckpoints = [], anchors = [], groups = [] }: Repairs): ScriptArguments {
  // Events of no group have no runs.
  const named = groups.filter(({ group }) => group !== '');
  return [
    removeCheckpoints.join(' '),
    anchors.join(' '),
    events.length,
    ...events.flatMap(({ seq, id, payload }) => [seq, `${payloadChecksum(payload)}\n${id}\n${payload}`]),
    named.length,
    ...named.flatMap((group) => [group.group, formatGroupRuns(group)]),
  ];
}

function isOfApp({ owner }: PlannedScope): boolean {
  return owner.userId === undefined;
}

function scopeArguments(
  { entries, growth, most, lifetime }: PlannedScope,
  size: StateSize | undefined,
): ScriptArguments {
  const sets = entries.filter(({ value }) => value !== undefined);
  const removals = entries.filter(({ value }) => value === undefined);
  return [
    ...lifetimeArguments(lifetime),
    growth,
    most === Infinity ? Number.MAX_SAFE_INTEGER : most,
    size ? sizesText(size, [...sets, ...removals]) : '',
    sets.length,
    ...sets.flatMap(({ name, value = '' }) => [name, value]),
    removals.length,
    ...removals.map(({ name }) => name),
  ];
}

/** As the script makes it: the size of all, and of the keys that are written. */
function sizesText({ atMost, entries }: StateSize, written: readonly PlannedEntry[]): string {
  return `${atMost} ${written.map(({ name }) => entries?.get(name) ?? 0).join(' ')}`;
}
