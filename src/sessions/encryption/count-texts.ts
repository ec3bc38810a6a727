import { sessionKeyOf } from '../domain/values/ids.js';
import { metadataEntries } from '../domain/metadata/metadata-entries.js';
import type { SessionRecord } from '../domain/stored/session-record.js';
import { sealedFormOf } from '../domain/stored/sealed-form.js';
import { listedSessions } from '../storage/listed-records.js';
import type { ListedSession } from '../storage/session-list.js';
import type { SessionStorage } from '../storage/session-storage.js';
import { ownEntries } from '../storage/state-entries.js';
import { isEncryptedEntry } from './sealed-metadata.js';

/** How many texts are encrypted, and how many are not. */
export interface CountedTexts {
  readonly sealed: number;
  readonly plain: number;
}

const SESSIONS_AT_ONCE = 100;
const EVENTS_AT_ONCE = 500;

/**
 * Counts the events, the values of state and the metadata of all sessions, page by page. State of users counts once for each session.
 *
 * @param storage the store as it is
 */
export async function countTexts(storage: SessionStorage): Promise<CountedTexts> {
  const counts = { sealed: 0, plain: 0 };
  const count = (text: string): void => {
    if (sealedFormOf(text)) counts.sealed += 1;
    else counts.plain += 1;
  };
  for (const appName of await storage.consumers.apps())
    for await (const session of listedSessions(storage, { appName }, { order: 'asc', pageSize: SESSIONS_AT_ONCE })) {
      for (const text of listSessionTexts(session)) count(text);
      for await (const payload of payloadsOf(storage, session.record)) count(payload);
    }
  return counts;
}

function listSessionTexts({ state, metadata }: ListedSession): string[] {
  const values = [...ownEntries(state.session), ...state.user, ...state.app].map(([, value]) => value);
  const entries = [...metadataEntries(metadata)].flatMap(([name, value]) => (isEncryptedEntry(name) ? [value] : []));
  return [...values, ...entries];
}

async function* payloadsOf(storage: SessionStorage, record: SessionRecord): AsyncGenerator<string> {
  let afterSeq = 0;
  for (;;) {
    const window = { afterSeq, limit: EVENTS_AT_ONCE, keep: 'oldest' } as const;
    const { events = [] } = (await storage.read({ key: sessionKeyOf(record), window })) ?? {};
    const found = events.filter(({ seq }) => seq > afterSeq);
    for (const { payload } of found) if (payload !== null) yield payload;
    const last = found.at(-1);
    if (!last || last.seq >= record.lastSeq) return;
    afterSeq = last.seq;
  }
}
