import { ConfigurationError } from '../config/configuration-error.js';
import { type EventKind, RETENTION, type RetentionRule, type RetentionSettings } from '../config/retention-settings.js';
import { checkOptionNames } from '../config/option-checks.js';
import { problemOf } from '../config/setting.js';
import { requireRequest } from './domain/input-checks.js';
import { SessionHeldError, decideRetention, isHeld, lastKept } from './domain/retention-rules.js';
import type { UserKey } from './domain/ids.js';
import { readPages } from './domain/paging.js';
import { metadataOf } from './domain/session-metadata.js';
import { type Session, referencedKey } from './domain/session.js';
import type { KindCount } from './domain/event-tally.js';
import { type RetainKindsOptions, oldestFirst, retainKinds, retainedSession } from './retain-kinds.js';
import { UnreadableSessions } from './retention/unreadable-sessions.js';
import { environmentBehind } from './service-environment.js';
import type { SessionService } from './session.service.js';

/** The parts of {@link SessionRetention}. */
export interface SessionRetentionOptions extends RetentionSettings {
  readonly sessions: SessionService;
}

/** What one rule found. */
export interface RetentionCount {
  readonly rule: RetentionRule;
  /** Sessions that were kept long enough; of a rule with kinds: events. */
  readonly due: number;
  /** How many of them were removed: none by a dry run. Others changed meanwhile. */
  readonly removed: number;
  /** The time of the last event of the oldest of them; of a rule with kinds: when the oldest was appended. */
  readonly oldest?: number;
  /** Of a rule with kinds: the events by what they say. One may say several. */
  readonly kinds?: Readonly<Partial<Record<EventKind, KindCount>>>;
}

/** What a policy found: the proof that nothing is older than it says, if nothing is due. */
export interface RetentionReport {
  readonly dryRun: boolean;
  /** By the clock of the store. */
  readonly checkedAt: number;
  /** In the order of the rules. */
  readonly rules: readonly RetentionCount[];
  /** Sessions that would be due, and are held. */
  readonly held: number;
  /** Sessions of an encrypted store whose texts cannot be decrypted: a key is missing. They are left as they are. */
  readonly unreadable: number;
}

/** Options of {@link SessionRetention.apply}. */
export interface ApplyRetentionOptions {
  /** Counts, and removes nothing. Default: `false`. */
  readonly dryRun?: boolean | undefined;
  /** Stops between two sessions, or pages of a log. */
  readonly signal?: AbortSignal | undefined;
  /** Gets the error of the first session that cannot be read. The run goes on with the others. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/**
 * Removes whole sessions, and what events say, as a policy says, and refuses to delete what a hold keeps. `SessionsModule` does this with
 * its option `retention`, in the cleanup.
 *
 * @example
 * const retention = new SessionRetention({ sessions, rules: [{ labels: { kind: 'trial' }, keep: '7d' }, { keep: '2y' }] });
 * const { rules } = await retention.apply({ dryRun: true });
 */
export class SessionRetention {
  readonly #sessions: SessionService;
  readonly #settings: RetentionSettings;
  readonly #stops: (() => void)[] = [];

  constructor(options: SessionRetentionOptions) {
    checkOptionNames(requireRequest(options), { sessions: true, rules: true, hold: true });
    const { sessions, ...settings } = options;
    const problem = problemOf('retention', { kind: RETENTION }, settings);
    if (problem !== undefined) throw new ConfigurationError([problem]);
    const { ttl } = environmentBehind(sessions);
    if (settings.hold && ttl.enabled && ttl.sessionSeconds > 0) {
      throw new ConfigurationError([
        'retention.hold cannot keep sessions that expire; set ttl.sessionSeconds to 0, and write a rule instead.',
      ]);
    }
    this.#sessions = sessions;
    this.#settings = settings;
  }

  /**
   * From now on, held sessions refuse to be deleted, and their users to be erased, with `SessionHeldError`.
   * @example retention.start();
   */
  start(): void {
    if (!this.#settings.hold || this.#stops.length > 0) return;
    const { hooks } = this.#sessions;
    this.#stops.push(hooks.onBeforeDelete(async ({ key }) => this.#assertFree(key, key.sessionId)));
    this.#stops.push(hooks.onBeforeErase(async ({ user }) => this.#assertFree(user)));
  }

  /**
   * Lets held sessions be deleted again.
   * @example retention.stop();
   */
  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  /**
   * Removes what was kept long enough, session by session, or counts it. A dry run reads all logs anew.
   * @example const { rules, held } = await retention.apply({ dryRun: true });
   */
  async apply({ dryRun = false, signal, onError }: ApplyRetentionOptions = {}): Promise<RetentionReport> {
    const checkedAt = await this.#now();
    const counts: RetentionCount[] = [];
    let held = 0;
    const options = { dryRun, signal, now: checkedAt };
    const unreadable = new UnreadableSessions(onError);
    for (const [number, rule] of this.#settings.rules.entries()) {
      if (rule.kinds) continue;
      const found = await this.#applyRule(number, rule, options, unreadable);
      counts[number] = found.count;
      held += found.held;
    }
    const kinds = await retainKinds(this.#sessions, this.#settings, options, unreadable);
    for (const [number, count] of kinds.counts) counts[number] = count;
    return { dryRun, checkedAt, rules: counts, held: held + kinds.held, unreadable: unreadable.count };
  }

  async #applyRule(
    number: number,
    rule: RetentionRule,
    { dryRun, signal, now }: RetainKindsOptions,
    unreadable: UnreadableSessions,
  ): Promise<{ readonly count: RetentionCount; readonly held: number }> {
    let [due, removed, held] = [0, 0, 0];
    let oldest: number | undefined;
    for await (const session of this.#oldEnough(rule, now, unreadable)) {
      if (signal?.aborted) break;
      const decision = decideRetention(retainedSession(session), this.#settings, now);
      if (decision === 'held' && isFirst(session, this.#settings, number, now)) held += 1;
      if (typeof decision !== 'object' || decision.rule !== number) continue;
      due += 1;
      oldest ??= session.lastUpdateTime;
      if (!dryRun && (await unreadable.unless(referencedKey(session), () => this.#remove(session)))) removed += 1;
    }
    return { count: { rule, due, removed, ...(oldest !== undefined && { oldest }) }, held };
  }

  /** Sessions that may be due by a rule, the oldest first. Each page is one request. */
  async *#oldEnough(rule: RetentionRule, now: number, unreadable: UnreadableSessions): AsyncGenerator<Session> {
    const apps = rule.app === undefined ? await this.#sessions.listApps() : [rule.app];
    const filter = rule.labels && { labels: { ...rule.labels } };
    const until = lastKept(rule, now);
    for (const appName of apps) {
      const oldest = oldestFirst(this.#sessions, { appName, orderBy: 'lastUpdateTime', filter }, unreadable);
      for await (const { sessions } of oldest) {
        for (const session of sessions) if (session.lastUpdateTime <= until) yield session;
        if ((sessions.at(-1)?.lastUpdateTime ?? 0) > until) break;
      }
    }
  }

  /** Unless somebody has written meanwhile, or holds it by now. */
  async #remove(session: Session): Promise<boolean> {
    const key = referencedKey(session);
    try {
      await this.#sessions.deleteSession({ ...key, loaded: session, ifUnchanged: true });
    } catch (error) {
      if (error instanceof SessionHeldError) return false;
      throw error;
    }
    return !(await environmentBehind(this.#sessions).storage.read({ key }));
  }

  async #assertFree({ appName, userId }: UserKey, sessionId?: string): Promise<void> {
    const { hold } = this.#settings;
    if (!hold) return;
    if (sessionId === undefined) {
      const found = await this.#findHeld({ appName, userId }, hold.labels);
      if (found) throw new SessionHeldError(found.id);
      return;
    }
    const { storage } = environmentBehind(this.#sessions);
    const read = await storage.read({ key: { appName, userId, sessionId }, withMetadata: true });
    if (read && isHeld(metadataOf(read.metadata ?? ''), hold)) throw new SessionHeldError(sessionId);
  }

  async #findHeld(user: UserKey, labels: Readonly<Record<string, string>>): Promise<Session | undefined> {
    const request = { ...user, filter: { labels: { ...labels } }, includeState: false, limit: 1 };
    for await (const { sessions } of readPages((cursor) => this.#sessions.listSessions({ ...request, cursor }))) {
      if (sessions[0]) return sessions[0];
    }
    return undefined;
  }

  async #now(): Promise<number> {
    const { storage } = environmentBehind(this.#sessions);
    return (await storage.entries.find([{ space: 'retention', name: 'now' }])).now;
  }
}

/** A held session is met by each rule that fits it, and counted by the one that counts. */
function isFirst(session: Session, { rules }: RetentionSettings, number: number, now: number): boolean {
  const decision = decideRetention(retainedSession(session), { rules }, now);
  return typeof decision === 'object' && decision.rule === number;
}
