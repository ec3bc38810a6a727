import { CHECKPOINT_EVERY } from '../../../domain/history/checkpoint.js';
import type { StoredEvent } from '../../../domain/stored/commit.js';
import { expectReadableText, type StateText } from '../../../domain/stored/state-text.js';
import { readExcessError } from '../../../domain/stored/state-size.js';
import type { EventWindow, ReadRequest, StoredSession } from '../../session-storage.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { duringRead } from '../connect/driver-errors.js';
import { ARGUMENTS, TIME } from '../script/base.lua.js';
import {
  type FlatHash,
  type OwnStateReply,
  type ScriptArguments,
  excessFrom,
  flag,
  keyArguments,
  limitArguments,
  optional,
  stateOfScopes,
  parseStoredEvent,
  storedEventsOf,
} from '../script/codec.js';
import { type RecordText, parseRecord } from '../../record-text.js';
import { EVENT_GROUPS } from '../script/event-groups.lua.js';
import { type NumberReply, type ScriptRunner, defineScript } from '../script/script.js';
import { CHECKPOINTS, SESSION } from '../script/session.lua.js';
import { SHARED_STATE, STATE_BYTES } from '../script/shared-state.lua.js';

type ExcessReply = readonly [kind: 'excess', scope: string, bytes: string];

type ReadReply =
  | ExcessReply
  | readonly [
      now: string,
      record: RecordText,
      seqs: readonly string[],
      texts: readonly (string | null)[],
      session: OwnStateReply,
      user: FlatHash,
      app: FlatHash,
      summary: string | null,
      base: string | null,
      metadata: string | null,
      checkpoint: readonly [] | readonly [text: string, seq: NumberReply],
      pending: FlatHash,
      readAt: string,
      found: NumberReply | null,
      isCut: NumberReply | null | undefined,
    ]
  | null;

/** A session, and its own state if that is one text. */
export interface ReadSession {
  readonly session: StoredSession;
  readonly stateText: StateText | undefined;
}

export async function readSession(
  scripts: ScriptRunner,
  app: AppScope,
  request: ReadRequest,
  noteTime: (now: string) => void,
): Promise<ReadSession | undefined> {
  const { key, window, withState, withMetadata, withSummary, withBase, checkpointAt, find, maxStateBytes } = request;
  const reply = await scripts.read<ReadReply>(READ_SESSION, {
    keys: app.sessionKeys(key),
    args: [
      ...keyArguments(key),
      ...[withState, withMetadata, withSummary, withBase].map(flag),
      ...limitArguments(maxStateBytes, ['session', 'user', 'app']),
      optional(checkpointAt),
      CHECKPOINT_EVERY,
      optional(find?.group),
      flag(find?.direction === 'next'),
      optional(find?.from),
      flag(window !== undefined),
      ...windowArguments(window ?? {}),
    ],
  });
  if (!reply) return undefined;
  if (isExcess(reply)) throw readExcessError(excessFrom(reply[1], reply[2], maxStateBytes), key);
  const [
    now,
    recordReply,
    seqs,
    texts,
    session,
    user,
    appReply,
    summary,
    base,
    metadata,
    checkpoint,
    pending,
    readAt,
    found,
    isCut,
  ] = reply;
  noteTime(now);
  const [checkpointText, checkpointSeq] = checkpoint;
  const record = parseRecord(key, recordReply);
  const statesOf = async (own: OwnStateReply, ofUser: FlatHash, ofApp: FlatHash): Promise<Partial<StoredSession>> => {
    if (typeof own === 'string') expectReadableText(own, maxStateBytes, key);
    return stateOfScopes(own, ofUser, await app.stateOf(key.appName, ofApp, maxStateBytes));
  };
  await duringRead(() => app.applyPending({ key, incarnation: record.incarnation, pending, readAt }));
  const stored: StoredSession = {
    record,
    now: Number(now),
    events: eventsInOrder(storedEventsOf(seqs, texts)),
    ...(isCut && { isCut: true }),
    ...(withState && (await statesOf(session, user, appReply))),
    ...(withMetadata && { metadata: metadata ?? '' }),
    ...(summary !== null && { summary: parseStoredEvent(record.marks.summarySeq, summary) }),
    ...(base !== null && { baseState: base }),
    ...(checkpointText !== undefined && { checkpoint: { seq: Number(checkpointSeq), text: checkpointText } }),
    ...(find && found !== null && { found: Number(found) }),
  };
  return { session: stored, stateText: typeof session === 'string' ? session : undefined };
}

function isExcess(reply: NonNullable<ReadReply>): reply is ExcessReply {
  return reply[0] === 'excess';
}

/** The script reads the newest first if it keeps the newest. */
function eventsInOrder(events: StoredEvent[]): StoredEvent[] {
  const [first, second] = events;
  return first && second && first.seq > second.seq ? events.toReversed() : events;
}

function windowArguments(window: EventWindow): ScriptArguments {
  const { inView, afterSeq = 0, since = 0, maxAgeMs, anchorsOnly, limit, keep, maxBytes, ranges } = window;
  return [
    flag(inView),
    afterSeq,
    since,
    optional(maxAgeMs),
    flag(anchorsOnly),
    optional(limit),
    flag(keep === 'oldest'),
    optional(maxBytes),
    optional(ranges?.length),
    ...(ranges ?? []).flatMap(({ from, to }) => [from, to]),
  ];
}

/**
 * Reads a session and a window of its log.
 *
 * KEYS and ARGV 1–4: see SESSION.
 * ARGV 5 and on: with state, with metadata, with summary, with base state (1 or 0 each), most bytes of session state, user state and
 *      app state ('' = any), up to where to find a
 *      checkpoint ('' = none), distance of checkpoints, group of an event to find ('' = none), whether the next one (1) or the previous one (0),
 *      from where, with a window (1 or 0); of the window: in view, afterSeq, since, maxAgeMs ('' = any age), anchors only, limit ('' = none), keep the oldest, maximum bytes ('' =
 *      none), number of ranges ('' = the whole log), from and to of each range.
 * Returns nothing if there is no session; { 'excess', scope, bytes } if state to read is too large; else { now, record, numbers of the events (if they are consecutive: the first and, if they descend, the second),
 *      texts of the events, session state as one text or key by key, user state, app state, summary or nothing, base state or nothing, metadata or nothing, text and seq of a checkpoint or an
 *      empty table, pending, server time, the event that was found, 0 or nothing, 1 if the window
 *      ended early }.
 */
export const READ_SESSION = defineScript(
  'read-session',
  TIME,
  ARGUMENTS,
  SHARED_STATE,
  STATE_BYTES,
  SESSION,
  CHECKPOINTS,
  EVENT_GROUPS,
  String.raw`
local record = liveRecord()
if not record then return false end
local withState, withMetadata, withSummary = take() == '1', take() == '1', take() == '1'
local withBase, sessionMost, userMost, appMost = take() == '1', takeNumber(), takeNumber(), takeNumber()
local checkpointAt, checkpointDistance = takeNumber(), takeNumber()
local wantedGroup, isNext, findFrom = take(), take() == '1', takeNumber()
local withWindow = take() == '1'

local userState, appState, ownState = {}, {}, ownStateText(RECORD)
if withState then
  if not ownState and sessionMost and record.stateBytes > sessionMost then
    local bytes = countState(STATE)
    if bytes > sessionMost then return { 'excess', 'session', text(bytes) } end
  end
  userState, appState = readState(USER_STATE), APP_STATE and readState(APP_STATE) or {}
  local bytes = userMost and bytesOfState(userState)
  if bytes and bytes > userMost then return { 'excess', 'user', text(bytes) } end
  bytes = appMost and bytesOfState(appState)
  if bytes and bytes > appMost then return { 'excess', 'app', text(bytes) } end
end

-- The high water mark never falls along the log, so a binary search finds the first event at or after the time.
local function firstSince(time)
  local low, high = record.first, record.last + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    local event = redis.call('HGET', RECORD, text(middle))
    local water = event and tonumber(string.match(event, '^%d+\n(%d+)'))
    -- Of an event that is damaged, the time is not known: rather more events than too few.
    if not water or water >= time then high = middle else low = middle + 1 end
  end
  return low
end

local function takeRanges(from)
  local count = takeNumber()
  if not count then return { { from, record.last } } end
  local ranges = {}
  for index = 1, count do
    ranges[index] = { math.max(takeNumber(), from), math.min(takeNumber(), record.last) }
  end
  return ranges
end

-- The events in the order in which the limits keep them, and the limit of bytes.
local function seqsOfWindow()
  local inView, afterSeq, since, maxAge = take() == '1', takeNumber(), takeNumber(), takeNumber()
  local anchorsOnly, limit, oldest = take() == '1', takeNumber() or math.huge, take() == '1'
  local maxBytes = takeNumber()
  local from = math.max(record.first, afterSeq + 1, inView and record.viewFrom + 1 or 1)
  since = math.max(since, maxAge and now - maxAge or 0)
  if since > 0 then from = math.max(from, firstSince(since)) end

  local ranges, seqs = takeRanges(from), {}
  for index = 1, #ranges do
    local range = ranges[oldest and index or #ranges + 1 - index]
    local low, high, left = range[1], range[2], limit - #seqs
    if left <= 0 then break end
    if anchorsOnly then
      local count = left == math.huge and '-1' or text(left)
      local found = oldest and redis.call('ZRANGEBYSCORE', ANCHORS, text(low), text(high), 'LIMIT', 0, count)
        or redis.call('ZREVRANGEBYSCORE', ANCHORS, text(high), text(low), 'LIMIT', 0, count)
      for _, seq in ipairs(found) do seqs[#seqs + 1] = tonumber(seq) end
    elseif oldest then
      for seq = low, math.min(high, low + left - 1) do seqs[#seqs + 1] = seq end
    else
      for seq = high, math.max(low, high - left + 1), -1 do seqs[#seqs + 1] = seq end
    end
  end
  return seqs, maxBytes
end

-- Redis formats numbers in arguments itself, which is faster.
local function textsOf(seqs, first, last)
  return redis.call('HMGET', RECORD, unpack(seqs, first, last))
end

-- Appends the texts of these events until they have more bytes than maxBytes. Each step reads at most twice as many as the
-- one before, and expects events as large as the largest of that one, so few large ones are read in vain.
local function readUpTo(maxBytes, seqs, texts)
  local size, largest, step = 0, 1, math.max(1, math.min(64, math.floor(maxBytes / 32768)))
  while #texts < #seqs do
    local start = #texts
    for index, event in ipairs(textsOf(seqs, start + 1, math.min(start + step, #seqs))) do
      -- A log that was damaged may lack events.
      local bytes = event and #event or 0
      size = size + bytes
      largest = math.max(index == 1 and 1 or largest, bytes)
      if size > maxBytes and #texts > 0 then return true end
      texts[#texts + 1] = event
    end
    step = math.max(1, math.min(2 * step, 1000, math.ceil((maxBytes - size) / largest)))
  end
end

local events, numbers, isCut = {}, {}, nil
if withWindow then
  local seqs, maxBytes = seqsOfWindow()
  if maxBytes then
    isCut = readUpTo(maxBytes, seqs, events)
  else
    for start = 1, #seqs, 1000 do
      local texts = textsOf(seqs, start, math.min(start + 999, #seqs))
      if #seqs == #texts then
        events = texts
      else
        for index = 1, #texts do events[start + index - 1] = texts[index] end
      end
    end
  end
  local count = #events
  local distance = count > 0 and seqs[count] - seqs[1] or 0
  local isRun = math.abs(distance) == count - 1
  for index = 1, isRun and (distance < 0 and 2 or 1) or count do numbers[index] = text(seqs[index]) end
end

local hasSummary = withSummary and record.summary >= record.first
return {
  text(now),
  record.text,
  numbers,
  events,
  ownState or withState and redis.call('HGETALL', STATE) or {},
  userState,
  appState,
  hasSummary and redis.call('HGET', RECORD, text(record.summary)),
  withBase and redis.call('HGET', RECORD, 'base'),
  withMetadata and redis.call('HGET', RECORD, 'metadata'),
  checkpointAt and { checkpointUpTo(checkpointAt, checkpointDistance) } or {},
  pendingWrites(),
  text(serverTime),
  wantedGroup ~= '' and findInGroup(wantedGroup, isNext, findFrom) or false,
  isCut and 1,
}
`,
);
