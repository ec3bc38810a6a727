import type { AppendOutcome, Commit } from '../../../domain/commit.js';
import { OWN_SEQ, type ViewMarks } from '../../../domain/view-marks.js';
import { changesNothing, writesOf } from '../../../domain/stored-json.js';
import type { AppScope } from '../app-scope/app-scope.js';
import { afterWrite } from '../connect/driver-errors.js';
import { beganToWait } from '../coordinate/changed-sessions.js';
import {
  type FlatHash,
  type RecordReply,
  type ScriptArguments,
  counterValues,
  countersText,
  incarnationOf,
  keyArguments,
  pairsOf,
  rangesText,
  recordOf,
  storedEventOf,
  writeArguments,
} from '../script/codec.js';
import { metadataArguments } from '../script/metadata.lua.js';
import type { ScriptRunner } from '../script/script.js';
import { APPEND_COMMIT } from './append-commit.lua.js';

type AppendReply =
  | readonly [kind: 'missing']
  | readonly [
      kind: 'appended' | 'seen' | 'turnLost' | 'turnRequired' | 'stale' | 'overtaken' | 'full',
      now: string,
      record: RecordReply,
      /** The previous tip of an appended commit; number and text of each seen event, '' for one that is not stored. */
      details: readonly string[],
      /** On a cluster: pending writes, and the time of the server. */
      pending?: FlatHash,
      readAt?: string,
    ];

type FoundReply = Exclude<AppendReply, readonly [kind: 'missing']>;

/** Appends a commit in one script. On a cluster, writes to app state follow in a second one. */
export async function appendCommit(scripts: ScriptRunner, app: AppScope, commit: Commit): Promise<AppendOutcome> {
  const { key } = commit;
  const reply = await scripts.write<AppendReply>(APPEND_COMMIT, {
    keys: app.sessionKeys(key),
    args: commitArguments(commit, app),
  });
  if (reply[0] === 'missing') return { kind: 'missing' };
  const outcome = outcomeOf(commit, reply);
  if (app.isCluster) await completeOnCluster(app, commit, reply);
  if (outcome.kind === 'appended' && beganToWait(outcome.record, outcome.now)) app.announceChange(key);
  return outcome;
}

function completeOnCluster(
  app: AppScope,
  { key, expiry }: Commit,
  [kind, now, record, , pending = [], readAt = '']: FoundReply,
): Promise<void> {
  return afterWrite(async () => {
    await app.applyPending({ key, incarnation: incarnationOf(record), pending, readAt });
    if (kind === 'appended' && expiry) await app.renewIfDue(key.appName, expiry.app, Number(now));
  });
}

function outcomeOf({ key }: Commit, [kind, now, reply, details]: FoundReply): AppendOutcome {
  const record = recordOf(key, reply);
  switch (kind) {
    case 'appended':
      return { kind, record, now: Number(now), previousTipSeq: Number(details[0]) };
    case 'seen':
      return {
        kind,
        record,
        events: pairsOf(details).map(([seq, text]) => (seq ? storedEventOf(seq, text) : undefined)),
      };
    case 'stale':
      return { kind, lastSeq: record.lastSeq };
    case 'turnLost':
    case 'turnRequired':
    case 'overtaken':
    case 'full':
      return { kind };
  }
}

function commitArguments(commit: Commit, app: AppScope): ScriptArguments {
  const { key, events, expiry, preconditions, counterIncrements } = commit;
  const own = writesOf('session', commit);
  const user = writesOf('user', commit);
  const ofApp = writesOf('app', commit);
  const writesShared = !changesNothing(user) || !changesNothing(ofApp);
  // Redis takes one long argument faster than many short ones. Texts of callers stay out, as they may not be valid Unicode.
  const request = {
    timestamps: events.map(({ timestamp }) => timestamp),
    anchors: events.flatMap(({ anchor }, index) => (anchor ? [index + 1] : [])),
    version: preconditions.expectedVersion,
    expected: { last: preconditions.lastSeq, first: preconditions.firstSeq, marks: preconditions.marksSeq },
    inTurn: preconditions.turnToken !== undefined || undefined,
    endsTurn: commit.endsTurn || undefined,
    increments: counterValues(counterIncrements),
    marks: commit.marks && marksArgument(commit.marks),
    expiry: expiry && [
      expiry.session.ttlMs,
      expiry.user.ttlMs,
      expiry.user.renewBelowMs,
      expiry.app.ttlMs,
      expiry.app.renewBelowMs,
    ],
    own: [own.upserts.length, own.removals.length],
    writesShared: writesShared || undefined,
    endsPartials: commit.endsPartials,
  };
  const args: ScriptArguments = [...keyArguments(key), preconditions.incarnation ?? '', JSON.stringify(request)];
  for (const { id, digest, group = '', payload } of events) args.push(id, `${digest}\n${id}\n${payload}`, group);
  for (const { name, value } of own.upserts) args.push(name, value);
  for (const { name } of own.removals) args.push(name);
  if (preconditions.turnToken !== undefined) args.push(preconditions.turnToken);
  if (writesShared) args.push(...writeArguments(user), ...app.writeArguments(ofApp, expiry?.app));
  args.push(...metadataArguments(commit.metadata));
  return args;
}

/** The script replaces `@` with the number of the event, which is the only one of its commit. */
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
