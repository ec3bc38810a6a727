import type { Entry } from './entries.js';
import type { ModelSession } from './model-session.js';
import type { SessionFilter } from '../../../src/index.js';
import { type ModelMetadata, metadataFrom } from './metadata.js';
import type { ModelStore } from './model-store.js';

export interface ModelList {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly order: 'asc' | 'desc';
  readonly orderBy: 'lastUpdateTime' | 'createTime';
  readonly filter?: SessionFilter | undefined;
}

/** All sessions of a list, in order. */
export function listedSessions(
  store: ModelStore,
  { appName, userId, order, orderBy, filter = {} }: ModelList,
): ModelSession[] {
  const direction = order === 'asc' ? 1 : -1;
  return store
    .all()
    .filter(({ key }) => store.live(key) && key.appName === appName && (userId ?? key.userId) === key.userId)
    .filter(({ metadata }) => hasAll(metadata, filter))
    .sort((a, b) => direction * (a[orderBy] - b[orderBy] || compareKeys(a, b)));
}

export interface LogRange {
  readonly afterSeq?: number | undefined;
  readonly beforeSeq?: number | undefined;
  readonly order: 'asc' | 'desc';
}

/** All events in a range of a log, in order. */
export function listedEvents({ log }: ModelSession, { afterSeq = 0, beforeSeq = Infinity, order }: LogRange): Entry[] {
  const found = log.filter(({ seq }) => seq > afterSeq && seq < beforeSeq);
  return order === 'asc' ? found : found.toReversed();
}

function hasAll(metadata: ModelMetadata, { status, tags = [], labels = {} }: SessionFilter): boolean {
  const wanted = metadataFrom({ ...(status && { status }), tags: [...tags], labels: { ...labels } });
  return [...wanted].every(([thing, value]) => metadata.get(thing) === value);
}

function compareKeys(a: ModelSession, b: ModelSession): number {
  return compareBytes(a.key.userId, b.key.userId) || compareBytes(a.key.sessionId, b.key.sessionId);
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
