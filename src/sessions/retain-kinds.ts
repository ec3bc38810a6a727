import type { RetentionRule } from '../config/retention-settings.js';
import { type LogMarks, LogReading, kindRulesFor } from './domain/retention/event-retention.js';
import { EventTally, type KindCounts } from './domain/retention/event-tally.js';
import { readPages } from './domain/values/paging.js';
import {
  type RetainedSession,
  type RetentionPolicy,
  decideRetention,
  isHeld,
} from './domain/retention/retention-rules.js';
import { incarnationOf } from './domain/session/session-tracking.js';
import { type Session, referencedKey } from './domain/session/session.js';
import { type ListSessionsRequest, type SessionPage, listSessions } from './operations/list-sessions.js';
import { type RetainEventsOptions, retainEvents } from './operations/retain-events.js';
import { readMarks } from './retention/retention-marks.js';
import type { UnreadableSessions } from './retention/unreadable-sessions.js';
import { environmentBehind } from './service-environment.js';
import type { SessionService } from './session.service.js';

/** Sessions that are looked at together. */
const SESSIONS_TOGETHER = 100;

/** How to apply a policy. */
export type RetainKindsOptions = Omit<RetainEventsOptions, 'holds'>;

/** What rules with kinds found. */
export interface RetainedKinds {
  /** By the number of the rule. */
  readonly counts: ReadonlyMap<number, { readonly rule: RetentionRule } & KindCounts>;
  /** Sessions that a hold kept from them, and from no other rule. */
  readonly held: number;
}

/**
 * Takes from all logs what rules with kinds name. Each page of sessions is a list and a read of their marks. A log is read if something in it
 * may be due. A dry run trusts no mark, so it is a proof.
 */
export async function retainKinds(
  sessions: SessionService,
  policy: RetentionPolicy,
  options: RetainKindsOptions,
  unreadable: UnreadableSessions,
): Promise<RetainedKinds> {
  const env = environmentBehind(sessions);
  const { rules, holds } = policy;
  const tallies = new Map<number, EventTally>();
  for (const [number, { kinds }] of rules.entries()) if (kinds) tallies.set(number, new EventTally(number));
  let held = 0;
  for await (const page of pagesOfSessions(sessions, policy, unreadable)) {
    if (options.signal?.aborted) break;
    const incarnations = page.map((session) => incarnationOf(session) ?? '');
    const marks = options.dryRun ? [] : await readMarks(env.storage.entries, incarnations);
    for (const [index, session] of page.entries()) {
      const log = describeRetainedLog(session, policy, options.now, marks[index]);
      if (log.rules.length === 0) continue;
      const retained = retainedSession(session);
      if (isHeld(retained, holds)) held += Number(decideRetention(retained, policy, options.now) !== 'held');
      else if (!new LogReading(log.rules, log.marks).isDone) {
        await unreadable.unless(log.key, async () => {
          for await (const found of retainEvents(env, log, { ...options, holds })) {
            for (const tally of tallies.values()) for (const event of found) tally.add(event);
          }
        });
      }
    }
  }
  const counts = [...tallies].flatMap(([number, tally]) => {
    const rule = rules[number];
    return rule ? [[number, { rule, ...tally.counts }] as const] : [];
  });
  return { counts: new Map(counts), held };
}

function describeRetainedLog(session: Session, policy: RetentionPolicy, now: number, marks: LogMarks = {}) {
  const rules = kindRulesFor(retainedSession(session), policy, now);
  return { key: referencedKey(session), incarnation: incarnationOf(session) ?? '', rules, marks };
}

/** What rules look at. */
export function retainedSession({ appName, lastUpdateTime, metadata: { labels } }: Session): RetainedSession {
  return { appName, lastUpdateTime, labels };
}

/** By the time of their creation, which does not change while they are read. */
async function* pagesOfSessions(
  sessions: SessionService,
  policy: RetentionPolicy,
  unreadable: UnreadableSessions,
): AsyncGenerator<readonly Session[], void, void> {
  const rules = policy.rules.filter(({ kinds }) => kinds);
  if (rules.length === 0) return;
  const named = rules.flatMap(({ app }) => app ?? []);
  const apps = named.length === rules.length ? new Set(named) : await sessions.listApps();
  for (const appName of apps) {
    for await (const page of oldestFirst(sessions, { appName, orderBy: 'createTime' }, unreadable)) yield page.sessions;
  }
}

/** Pages of sessions without their state, and without those whose texts cannot be decrypted. */
export function oldestFirst(
  sessions: SessionService,
  of: Pick<ListSessionsRequest, 'appName' | 'orderBy' | 'filter'>,
  unreadable: UnreadableSessions,
): AsyncGenerator<SessionPage, void, void> {
  const request = { ...of, order: 'asc', limit: SESSIONS_TOGETHER, includeState: false } as const;
  const env = environmentBehind(sessions);
  return readPages(async (cursor) => {
    const page = await listSessions(env, { ...request, cursor }, unreadable.add);
    return { ...page, sessions: page.sessions.filter((session) => !unreadable.has(referencedKey(session))) };
  });
}
