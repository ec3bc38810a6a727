import type { SessionKey } from '../../domain/ids.js';
import type { LogPosition, LogReference } from '../session-changes.js';
import type { StoredEntry } from './session-index.js';

/** Where logs end, of sessions that are there in the expected incarnation. */
export function positionsOf(
  logs: readonly LogReference[],
  live: (key: SessionKey, now: number) => StoredEntry | undefined,
  now: number,
): (LogPosition | undefined)[] {
  return logs.map(({ key, incarnation }) => {
    const { record, partials } = live(key, now) ?? {};
    if (record?.incarnation !== incarnation) return undefined;
    const lastPartial = partials?.at(-1)?.number ?? 0;
    return { lastSeq: record.lastSeq, livesForMs: record.expiresAt - now, lastPartial };
  });
}
