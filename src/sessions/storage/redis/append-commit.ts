import type { AppendOutcome, Commit } from '../../domain/commit.js';
import { type Marks, OWN_SEQ } from '../../domain/marks.js';
import { writesOf } from '../../domain/scope-writes.js';
import type { AppScope } from './app-scope.js';
import { afterWrite } from './driver-errors.js';
import {
  type ScriptArguments,
  flag,
  keyArguments,
  lifetimeArguments,
  optional,
  writeArguments,
} from './script-arguments.js';
import type { ScriptRunner } from './script-runner.js';
import { APPEND_COMMIT } from './scripts/append-commit.js';
import {
  type FlatHash,
  type RecordReply,
  countersText,
  rangesText,
  recordOf,
  storedEventOf,
} from './session-replies.js';

type AppendReply =
  | readonly [kind: 'missing']
  | readonly [
      kind: 'appended' | 'seen' | 'stale' | 'overtaken',
      now: string,
      record: RecordReply,
      pending: FlatHash,
      seenAt: string,
      /** The previous tip, or the number of the event that was seen. */
      seq?: string,
      event?: string,
    ];

type Answered = Exclude<AppendReply, readonly [kind: 'missing']>;

export async function appendCommit(connection: ScriptRunner, app: AppScope, commit: Commit): Promise<AppendOutcome> {
  const { key, expiry } = commit;
  const reply = await connection.write<AppendReply>(APPEND_COMMIT, {
    keys: app.sessionKeys(key),
    args: commitArguments(commit, app),
  });
  if (reply[0] === 'missing') return { kind: 'missing' };
  const [kind, now, record, pending, seenAt] = reply;
  await afterWrite(async () => {
    await app.finish({ key, incarnation: record[0] ?? '', pending, seenAt });
    if (kind === 'appended' && expiry) await app.renewIfDue(key.appName, expiry.app, Number(now));
  });
  return outcomeOf(commit, reply);
}

function outcomeOf({ key }: Commit, [kind, now, reply, , , seq, event]: Answered): AppendOutcome {
  const record = recordOf(key, reply);
  switch (kind) {
    case 'appended':
      return { kind, record, now: Number(now), previousTipSeq: Number(seq) };
    case 'seen':
      return { kind, record, event: storedEventOf(seq ?? '', event ?? '') };
    case 'stale':
      return { kind, lastSeq: record.lastSeq };
    case 'overtaken':
      return { kind };
  }
}

function commitArguments(commit: Commit, app: AppScope): ScriptArguments {
  const { key, event, expiry, preconditions, counterIncrements: counts } = commit;
  const { incarnation, expectedVersion, lastSeq, firstSeq, marksSeq } = preconditions;
  return [
    ...keyArguments(key),
    event.id,
    event.digest,
    event.timestamp,
    flag(event.anchor),
    event.payload,
    ...[incarnation, expectedVersion, lastSeq, firstSeq, marksSeq].map(optional),
    counts.turns,
    counts.events,
    counts.contentLength,
    counts.tokens,
    ...markArguments(commit.marks),
    optional(expiry?.session.ttlMs),
    ...lifetimeArguments(expiry?.user),
    ...lifetimeArguments(expiry?.app),
    ...writeArguments(writesOf('session', commit)),
    ...writeArguments(writesOf('user', commit)),
    ...app.writeArguments(writesOf('app', commit), expiry?.app),
  ];
}

/** The number of the event itself is put in by the script. */
function markArguments(marks: Marks | undefined): ScriptArguments {
  if (!marks) return ['-', '', '', ''];
  const hidden = marks.hidden.map(({ from, to }) => ({ from: seqOrOwn(from), to: seqOrOwn(to) }));
  return [rangesText(hidden), marks.viewFromSeq, seqOrOwn(marks.summarySeq), countersText(marks.covered)];
}

function seqOrOwn(seq: number): number | string {
  return seq === OWN_SEQ ? '@' : seq;
}
