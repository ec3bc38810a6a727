import type { EventWindow, ReadRequest, StoredSession } from '../session-storage.js';
import type { AppScope } from './app-scope.js';
import { beforeAnswer } from './driver-errors.js';
import { type ScriptArguments, flag, keyArguments, optional } from './script-arguments.js';
import type { ScriptRunner } from './script-runner.js';
import { READ_SESSION } from './scripts/read-session.js';
import { type FlatHash, type RecordReply, recordOf, storedEventOf, storedEventsOf } from './session-replies.js';
import { stateOfReply } from './state-replies.js';

type ReadReply =
  | readonly [
      now: string,
      record: RecordReply,
      events: FlatHash,
      session: FlatHash,
      user: FlatHash,
      app: FlatHash,
      summary: string | null,
      base: string | null,
      pending: FlatHash,
      seenAt: string,
    ]
  | null;

export async function readSession(
  connection: ScriptRunner,
  app: AppScope,
  request: ReadRequest,
): Promise<StoredSession | undefined> {
  const { key, window, withState, withSummary, withBase } = request;
  const reply = await connection.read<ReadReply>(READ_SESSION, {
    keys: app.sessionKeys(key),
    args: [
      ...keyArguments(key),
      ...[withState, withSummary, withBase, window !== undefined].map(flag),
      ...windowArguments(window ?? {}),
    ],
  });
  if (!reply) return undefined;
  const [now, recordReply, events, session, user, ofApp, summary, base, pending, seenAt] = reply;
  const record = recordOf(key, recordReply);
  await beforeAnswer(() => app.finish({ key, incarnation: record.incarnation, pending, seenAt }));
  return {
    record,
    now: Number(now),
    events: storedEventsOf(events),
    ...(withState && stateOfReply(session, user, await app.stateOf(key.appName, ofApp))),
    ...(summary !== null && { summary: storedEventOf(record.marks.summarySeq, summary) }),
    ...(base !== null && { baseState: base }),
  };
}

function windowArguments(window: EventWindow): ScriptArguments {
  const { inView, afterSeq = 0, since = 0, maxAgeMs, anchorsOnly, limit, keep, ranges } = window;
  return [
    flag(inView),
    afterSeq,
    since,
    optional(maxAgeMs),
    flag(anchorsOnly),
    optional(limit),
    flag(keep === 'oldest'),
    optional(ranges?.length),
    ...(ranges ?? []).flatMap(({ from, to }) => [from, to]),
  ];
}
