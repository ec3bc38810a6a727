import type { AppendOutcome, Commit } from '../../../domain/commit.js';
import { payloadChecksum } from '../../../domain/event-digest.js';
import { writesOf } from '../../../domain/stored-json.js';
import { OWN_SEQ, type ViewMarks } from '../../../domain/view-marks.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import { beganToWait } from '../coordinate/changed-sessions.js';
import type { RedisKeys } from '../redis-keys.js';
import {
  type FlatHash,
  type RecordReply,
  type ScriptArguments,
  countersText,
  excessFrom,
  incarnationOf,
  pairsOf,
  rangesText,
  recordOf,
  storedEventOf,
  writeArguments,
} from '../script/codec.js';
import { metadataArguments } from '../script/metadata.lua.js';
import { usageArgument } from '../script/usage.lua.js';
import type { ScriptRunner } from '../script/script.js';
import { APPEND_COMMIT } from './append-commit.lua.js';
import {
  type AppendHint,
  type RememberedRecords,
  type WrittenOutcome,
  hintArguments,
  hintedOutcome,
} from './remembered-records.js';

/** See APPEND_COMMIT. */
type AppendReply =
  | string
  | readonly [written: string, pending: FlatHash, readAt: string]
  | readonly [kind: 'missing' | 'failed']
  | readonly [
      kind: RefusalKind,
      now: string,
      record: RecordReply,
      details: readonly string[],
      pending?: FlatHash,
      readAt?: string,
    ];

const REFUSALS = ['seen', 'turnLost', 'turnRequired', 'stale', 'overtaken', 'full', 'stateFull'] as const;
type RefusalKind = (typeof REFUSALS)[number];

/** The script could not write this one of several commits. Run by itself, it returns the error. */
const FAILED = 'failed';

/** What a reply says. On a cluster with pending writes, and when the script read them. */
interface ReadReply {
  readonly outcome: AppendOutcome | typeof FAILED;
  readonly incarnation?: string;
  readonly pending?: FlatHash | undefined;
  readonly readAt?: string | undefined;
}

/** A commit with its encoded arguments, so that they are encoded once. */
export interface EncodedCommit {
  readonly commit: Commit;
  readonly hint: AppendHint | undefined;
  readonly recordKey: string;
  readonly args: ScriptArguments;
}

/** What appends need to run. */
export interface AppendContext {
  readonly scripts: ScriptRunner;
  readonly app: AppScope;
  readonly remembered: RememberedRecords;
}

/**
 * Appends commits in one script. Each has its own outcome, or fails by itself. On a cluster, they are of one slot, and their
 * writes to app state follow in other scripts.
 */
export async function appendCommits(
  context: AppendContext,
  encoded: readonly EncodedCommit[],
): Promise<(AppendOutcome | Promise<AppendOutcome>)[]> {
  const { scripts, app, remembered } = context;
  const replies = await scripts.write<readonly AppendReply[]>(APPEND_COMMIT, {
    keys: encoded.map(({ recordKey }) => recordKey),
    args: encoded.length === 1 ? (encoded[0]?.args ?? []) : encoded.flatMap(({ args }) => args),
    usedKeys: () => encoded.flatMap(({ commit }) => app.sessionKeys(commit.key)),
  });
  return encoded.map((each, index) => {
    const read = readReply(each, replies[index] ?? [FAILED], remembered);
    if (read.outcome === FAILED) return appendAlone(context, each);
    return app.isCluster ? completeOnCluster(app, each.commit, read, read.outcome) : read.outcome;
  });
}

/** Appends a commit in a script of its own. */
export async function appendAlone(context: AppendContext, encoded: EncodedCommit): Promise<AppendOutcome> {
  const [outcome] = await appendCommits(context, [encoded]);
  if (!outcome) throw new Error('A commit has one outcome');
  return outcome;
}

async function completeOnCluster(
  app: AppScope,
  { key, expiry }: Commit,
  { incarnation = '', pending = [], readAt = '' }: ReadReply,
  outcome: AppendOutcome,
): Promise<AppendOutcome> {
  await afterWrite(async () => {
    await app.applyPending({ key, incarnation, pending, readAt });
    if (outcome.kind === 'appended' && expiry) await app.renewIfDue(key.appName, expiry.app, outcome.now);
  });
  if (outcome.kind === 'appended' && beganToWait(outcome.record, outcome.now)) app.announceChange(key);
  return outcome;
}

function readReply({ commit, hint }: EncodedCommit, reply: AppendReply, remembered: RememberedRecords): ReadReply {
  if (typeof reply === 'string') {
    const { outcome, text } =
      hint && !reply.includes('\n') ? hintedOutcome(commit, hint, Number(reply)) : writtenOutcome(commit, reply);
    remembered.remember(commit.key, { record: outcome.record, text });
    return { outcome };
  }
  if (reply[0] === 'missing') return { outcome: { kind: 'missing' } };
  if (reply[0] === FAILED) return { outcome: FAILED };
  if (!isRefusal(reply)) {
    const [written, pending, readAt] = reply;
    const { outcome } = writtenOutcome(commit, written);
    return { outcome, incarnation: outcome.record.incarnation, pending, readAt };
  }
  const [kind, , record, details, pending, readAt] = reply;
  return {
    outcome: refusalOutcome(commit, kind, record, details),
    incarnation: incarnationOf(record),
    pending,
    readAt,
  };
}

function isRefusal(reply: readonly unknown[]): reply is Extract<AppendReply, readonly [RefusalKind, ...unknown[]]> {
  return (REFUSALS as readonly unknown[]).includes(reply[0]);
}

/** Three parts: now, the previous tip, and the record. */
function writtenOutcome({ key }: Commit, written: string): WrittenOutcome {
  const endOfTime = written.indexOf('\n');
  const endOfTip = written.indexOf('\n', endOfTime + 1);
  const text = written.slice(endOfTip + 1);
  const now = Number(written.slice(0, endOfTime));
  const previousTipSeq = Number(written.slice(endOfTime + 1, endOfTip));
  return { outcome: { kind: 'appended', record: recordOf(key, text), now, previousTipSeq }, text };
}

function refusalOutcome(
  { key, maxStateBytes }: Commit,
  kind: RefusalKind,
  reply: RecordReply,
  details: readonly string[],
): AppendOutcome {
  switch (kind) {
    case 'seen':
      return {
        kind,
        record: recordOf(key, reply),
        events: pairsOf(details).map(([seq, text]) => (seq ? storedEventOf(seq, text) : undefined)),
      };
    case 'stale':
      return { kind, lastSeq: recordOf(key, reply).lastSeq };
    case 'stateFull': {
      const [scope = '', bytes = ''] = details;
      return { kind, excess: excessFrom(scope, bytes, maxStateBytes) };
    }
    case 'turnLost':
    case 'turnRequired':
    case 'overtaken':
    case 'full':
      return { kind };
  }
}

/** The arguments of a commit: see APPEND_COMMIT. Few long ones are faster than many short ones. */
export function encodeCommit(
  commit: Commit,
  hint: AppendHint | undefined,
  keys: RedisKeys,
  app: AppScope,
): EncodedCommit {
  const { key, events, expiry, preconditions, counterIncrements, usage, upserts, removals, maxStateBytes } = commit;
  const isOwn = upserts.every(({ scope }) => scope === 'session') && removals.every(({ scope }) => scope === 'session');
  const own = isOwn ? commit : writesOf('session', commit);
  const more = rareArguments(commit, !isOwn);
  const pending = usage ? app.usageArguments(usage, writesOf('app', commit), expiry?.app) : [];
  const parts = keys.partsOf(key);
  const lengths = `${parts.app.length} ${parts.user.length} ${parts.id.length}`;
  const head = `${key.appName}\n${key.userId}\n${key.sessionId}\n${preconditions.incarnation ?? ''}\n${lengths} ${app.slotTag(key)} ${more === undefined ? 0 : 1} ${events.length} ${expiryText(expiry)} ${own.upserts.length} ${own.removals.length} ${maxStateBytes?.session ?? '-'} ${countersText(counterIncrements)}${usage ? `\n${usageArgument(usage)}` : ''}`;
  const args: ScriptArguments = [0, head];
  const checksums = events.map(({ payload }) => payloadChecksum(payload));
  if (hint) args.push(...hintArguments(hint, commit, parts, checksums[0] ?? ''));
  else args.push('');
  if (more !== undefined) args.push(more);
  for (const [index, { timestamp, anchor, group = '', id, payload }] of events.entries()) {
    args.push(`${timestamp} ${anchor ? 1 : 0}\n${checksums[index]}\n${group}`, id, payload);
  }
  for (const { name, value } of own.upserts) args.push(name, value);
  for (const { name } of own.removals) args.push(name);
  if (preconditions.turnToken !== undefined) args.push(preconditions.turnToken);
  // With usage, these are all that a cluster keeps pending.
  args.push(...pending);
  if (!isOwn) {
    const ofApp = pending.length > 0 ? [''] : app.writeArguments(writesOf('app', commit), expiry?.app);
    args.push(...writeArguments(writesOf('user', commit)), ...ofApp);
  }
  args.push(...metadataArguments(commit.metadata));
  args[0] = args.length - 1;
  return { commit, hint, recordKey: parts.recordKey, args };
}

function expiryText(expiry: Commit['expiry']): string {
  if (!expiry) return '- - - - -';
  const { session, user, app } = expiry;
  return `${session.ttlMs} ${user.ttlMs} ${user.renewBelowMs} ${app.ttlMs} ${app.renewBelowMs}`;
}

/** What few commits have, as JSON. Texts of callers stay out, as they may not be valid Unicode. */
function rareArguments(
  { preconditions, endsTurn, marks, endsPartials, metadata = [], maxStateBytes }: Commit,
  writesShared: boolean,
): string | undefined {
  const { expectedVersion: version, lastSeq: last, firstSeq: first, marksSeq, turnToken } = preconditions;
  const isExpecting = last !== undefined || first !== undefined || marksSeq !== undefined;
  const inTurn = turnToken !== undefined;
  const changesMetadata = metadata.length > 0;
  const endsSome = endsPartials !== undefined && endsPartials.length > 0;
  if (!(
    isExpecting ||
    inTurn ||
    endsTurn ||
    changesMetadata ||
    marks ||
    endsSome ||
    writesShared ||
    version !== undefined
  ))
    return undefined;
  return JSON.stringify({
    version,
    expected: isExpecting ? { last, first, marks: marksSeq } : undefined,
    inTurn: inTurn || undefined,
    endsTurn: endsTurn || undefined,
    marks: marks && marksArgument(marks),
    metadata: changesMetadata || undefined,
    writesShared: writesShared || undefined,
    userMost: writesShared ? maxStateBytes?.user : undefined,
    appMost: writesShared ? maxStateBytes?.app : undefined,
    endsPartials: endsSome ? endsPartials : undefined,
  });
}

/** The script replaces `@` with the number of the first event of the commit. */
function marksArgument({ hidden, viewFromSeq, summarySeq, covered }: ViewMarks): Record<string, string> {
  return {
    hidden: rangesText(hidden.map(({ from, to }) => ({ from: seqOrOwn(from), to: seqOrOwn(to) }))),
    viewFrom: String(viewFromSeq),
    summary: String(seqOrOwn(summarySeq)),
    covered: countersText(covered),
  };
}

function seqOrOwn(seq: number): number | string {
  return seq === OWN_SEQ ? '@' : seq;
}
