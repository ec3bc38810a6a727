import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import type { AuditRecord } from '../../sessions/transport/audit/audit-record.js';
import { readAudit } from '../../sessions/transport/audit/audit-table.js';
import type { CommandContext } from '../command-context.js';
import { shown, time } from '../output.js';

/** Options of `audit`. */
export interface AuditCommandOptions {
  readonly user?: string | undefined;
  readonly since?: string | undefined;
}

/** Says who asked for what, oldest first. */
export async function audit(
  context: CommandContext,
  { user: userId, since }: AuditCommandOptions,
  appName?: string,
): Promise<void> {
  const query = { appName, userId, since: since === undefined ? undefined : timeIn(since) };
  let found = 0;
  for await (const record of readAudit(await context.storage(), query)) {
    context.signal.throwIfAborted();
    await context.output.result(formatAuditLine(record), record);
    found++;
  }
  if (found > 0) return;
  const without =
    'no record is kept here of what was asked for without an app; name one for the records of its sessions';
  const none = 'no record is kept here of what was asked for; the sink "table" keeps them';
  context.output.note(appName === undefined ? without : none);
}

function formatAuditLine({ at, outcome, code, operation, action, target, by, ...ids }: AuditRecord): string {
  const whose = [ids.appName, ids.userId, ids.sessionId].filter((id) => id !== undefined).join(' / ');
  const asked = action === undefined ? '' : ` (${action} ${target})`;
  const what = `${operation ?? ''}${asked}`.trim();
  const result = code === undefined ? outcome : `${outcome} ${code}`;
  const who = by?.from === undefined ? (by?.id ?? '(nobody)') : `${by.from}:${by.id}`;
  return shown([time(at), who, what, whose, result].join('  '));
}

function timeIn(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new InvalidInputError('must be a day or a time, such as 2027-01-31', '--since');
  return at;
}
