import { type Lifetimes } from '../sessions/domain/values/expiry.js';
import { sessionKeyOf } from '../sessions/domain/values/ids.js';
import type { SessionRecord } from '../sessions/domain/stored/session-record.js';
import { LogPoints, undefinedIfTrimmed } from '../sessions/operations/read-log.js';
import { inBatches } from '../sessions/domain/stored/batches.js';
import type { SessionStorage, TouchRequest } from '../sessions/storage/session-storage.js';
import { appendDifference, appendResponses } from './append-repair.js';
import type { FindingCode, Note } from './findings.js';
import { eventsOfGroups } from './group-check.js';
import type { RepairPlan, SessionCheck } from './session-check.js';

/** What an event with the difference mends. */
const BY_DIFFERENCE: ReadonlySet<FindingCode> = new Set([
  'STATE_DIFFERS',
  'METADATA_DIFFERS',
  'COUNTERS_DIFFER',
  'MARKS_DIFFER',
  'RECORD_DIFFERS',
]);

/** What follows from the log as it is. */
const BY_REBUILDING: ReadonlySet<FindingCode> = new Set([
  'CHECKPOINT_DIFFERS',
  'ANCHOR_MISSING',
  'INVOCATION_DIFFERS',
  'USAGE_TOO_HIGH',
  'USAGE_TOO_LOW',
]);

const PACE = { pageSize: 500, pauseMs: 0 };

/** Whether a repair can mend it. */
export function isRepairable({ code }: Note, { plan, texts }: SessionCheck): boolean {
  if (code === 'EXPIRY_MISSING') return true;
  if (code === 'EVENT_UNREADABLE') return texts !== undefined;
  if (!plan) return false;
  return BY_DIFFERENCE.has(code) || BY_REBUILDING.has(code) || code === 'TOOL_CALL_WITHOUT_RESPONSE';
}

/** Mends what can be mended in a session. Does nothing where somebody has written in the meantime. */
export async function repairSession(
  storage: SessionStorage,
  { stored: { record, now }, notes, plan, texts }: SessionCheck,
  lifetimes: Lifetimes | undefined,
): Promise<void> {
  const { incarnation, lastSeq } = record;
  if (texts) await storage.rebuild({ key: sessionKeyOf(record), incarnation, lastSeq, events: texts });
  if (plan) {
    // It is about the log up to here, so it comes before events are appended.
    await rebuild(storage, record, plan);
    const codes = notes.map(({ code }) => code).filter((code) => BY_DIFFERENCE.has(code));
    const isAppended = codes.length > 0 && (await appendDifference(storage, { record, now }, plan, codes));
    if (plan.leftCalls.length > 0) {
      await appendResponses(storage, { ...record, lastSeq: record.lastSeq + (isAppended ? 1 : 0) }, plan);
    }
  }
  if (lifetimes && notes.some(({ code }) => code === 'EXPIRY_MISSING')) {
    await setLifetime(storage, record, { session: lifetimes.session });
  }
}

/** Gives a session, its user or its app a lifetime from now on. */
export async function setLifetime(
  storage: SessionStorage,
  record: SessionRecord,
  renew: TouchRequest['renew'],
): Promise<void> {
  await storage.touch({ key: sessionKeyOf(record), incarnation: record.incarnation, renew });
}

/** Replaces tokens, anchors and checkpoints that are not right. */
async function rebuild(
  storage: SessionStorage,
  record: SessionRecord,
  { usage, beside: { anchors, checkpoints, groups } }: RepairPlan,
): Promise<void> {
  const { incarnation, lastSeq } = record;
  const session = { key: sessionKeyOf(record), incarnation, lastSeq };
  if (usage) await storage.rebuild({ ...session, usage });
  for (const some of inBatches(anchors)) await storage.rebuild({ ...session, anchors: some });
  if (groups.size > 0) {
    const right = await eventsOfGroups(storage, record, groups, PACE);
    for (const some of inBatches(right, { items: 100 })) await storage.rebuild({ ...session, groups: some });
  }
  if (checkpoints.length === 0) return;
  // All of them go first, since one is derived from the one before.
  const isRemoved = await storage.rebuild({ ...session, removeCheckpoints: checkpoints });
  if (isRemoved) for (const seq of checkpoints) await deriveCheckpoint(storage, record, seq).catch(undefinedIfTrimmed);
}

async function deriveCheckpoint(storage: SessionStorage, record: SessionRecord, seq: number): Promise<void> {
  const { log, start } = await LogPoints.readBefore(storage, record, seq);
  await log.saveCheckpoints(start, seq);
}
