import { randomUUID } from 'node:crypto';
import { writesOf } from '../../domain/scope-writes.js';
import type { CreateRequest, StoredSession } from '../session-storage.js';
import type { AppScope } from './app-scope.js';
import { afterWrite } from './driver-errors.js';
import { logArguments } from './log-arguments.js';
import { keyArguments, lifetimeArguments, writeArguments } from './script-arguments.js';
import type { ScriptRunner } from './script-runner.js';
import { CREATE_SESSION } from './scripts/create-session.js';
import { type FlatHash, type RecordReply, recordOf } from './session-replies.js';
import { stateOfReply } from './state-replies.js';

type CreateReply =
  | readonly [
      now: string,
      record: RecordReply,
      session: FlatHash,
      user: FlatHash,
      app: FlatHash,
      pending: FlatHash,
      seenAt: string,
    ]
  | null;

export async function createSession(
  connection: ScriptRunner,
  app: AppScope,
  { key, baseState, upserts, expiry, log }: CreateRequest,
): Promise<StoredSession | undefined> {
  const writes = { upserts, removals: [] };
  const reply = await connection.write<CreateReply>(CREATE_SESSION, {
    keys: app.sessionKeys(key),
    args: [
      ...keyArguments(key),
      randomUUID(),
      baseState,
      expiry.session.ttlMs,
      ...lifetimeArguments(expiry.user),
      ...lifetimeArguments(expiry.app),
      ...writeArguments(writesOf('session', writes)),
      ...writeArguments(writesOf('user', writes)),
      ...app.writeArguments(writesOf('app', writes), expiry.app),
      ...logArguments(log),
    ],
  });
  if (!reply) return undefined;
  const [now, recordReply, session, user, ofApp, pending, seenAt] = reply;
  const record = recordOf(key, recordReply);
  const appState = await afterWrite(async () => {
    await app.finish({ key, incarnation: record.incarnation, pending, seenAt });
    await app.renewIfDue(key.appName, expiry.app, Number(now));
    return app.stateOf(key.appName, ofApp);
  });
  return { record, now: Number(now), events: [], ...stateOfReply(session, user, appState) };
}
