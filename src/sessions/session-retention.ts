import { ConfigurationError } from '../config/configuration-error.js';
import { type EventKind, RETENTION, type RetentionRule, type RetentionSettings } from '../config/retention-settings.js';
import { checkOptionNames } from '../config/option-checks.js';
import { describeSettingProblem } from '../config/setting.js';
import { requireOptionsOf } from './domain/values/request-fields.js';
import {
  type RetentionPolicy,
  SessionHeldError,
  decideRetention,
  lastKept,
} from './domain/retention/retention-rules.js';
import { type Session, referencedKey } from './domain/session/session.js';
import type { KindCount } from './domain/retention/event-tally.js';
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

  constructor(options: SessionRetentionOptions) {
    checkOptionNames(requireOptionsOf('SessionRetention', options, 'sessions, rules'), {
      sessions: true,
      rules: true,
      hold: true,
    });
    const { sessions, ...settings } = options;
    const problem = describeSettingProblem('retention', { kind: RETENTION }, settings);
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
   * From now on, held sessions refuse to be deleted, redacted and replaced, and their users to be erased, with `SessionHeldError`: in all
   * processes, as soon as the store has the hold.
   * @example retention.start();
   */
  start(): void {
    const { hold } = this.#settings;
    if (!hold) return;
    const { holds, tasks } = environmentBehind(this.#sessions);
    holds.give(hold);
    tasks.trackInBackground(holds.store(hold));
  }

  /**
   * Ends the hold in the store and here. Processes whose policy has it, hold on.
   * @example await retention.release();
   */
  async release(): Promise<void> {
    const { hold } = this.#settings;
    if (hold) await environmentBehind(this.#sessions).holds.release(hold);
  }

  /**
   * Removes what was kept long enough, session by session, or counts it. A dry run reads all logs anew.
   * @example const { rules, held } = await retention.apply({ dryRun: true });
   */
  async apply({ dryRun = false, signal, onError }: ApplyRetentionOptions = {}): Promise<RetentionReport> {
    const checkedAt = await this.#now();
    const policy = await this.#policy(dryRun);
    const counts: RetentionCount[] = [];
    let held = 0;
    const options = { dryRun, signal, now: checkedAt };
    const unreadable = new UnreadableSessions(onError);
    for (const [number, rule] of this.#settings.rules.entries()) {
      if (rule.kinds) continue;
      const found = await this.#applyRule(policy, { number, rule }, options, unreadable);
      counts[number] = found.count;
      held += found.held;
    }
    const kinds = await retainKinds(this.#sessions, policy, options, unreadable);
    for (const [number, count] of kinds.counts) counts[number] = count;
    return { dryRun, checkedAt, rules: counts, held: held + kinds.held, unreadable: unreadable.count };
  }

  /** With the holds of all processes. */
  async #policy(isDryRun: boolean): Promise<RetentionPolicy> {
    const { rules, hold } = this.#settings;
    const { holds } = environmentBehind(this.#sessions);
    if (hold && !isDryRun) await holds.store(hold);
    return { rules, holds: [...(hold ? [hold] : []), ...(await holds.all())] };
  }

  async #applyRule(
    policy: RetentionPolicy,
    { number, rule }: { readonly number: number; readonly rule: RetentionRule },
    { dryRun, signal, now }: RetainKindsOptions,
    unreadable: UnreadableSessions,
  ): Promise<{ readonly count: RetentionCount; readonly held: number }> {
    let [due, removed, held] = [0, 0, 0];
    let oldest: number | undefined;
    for await (const session of this.#oldEnough(rule, now, unreadable)) {
      if (signal?.aborted) break;
      const decision = decideRetention(retainedSession(session), policy, now);
      if (decision === 'held' && isFirst(session, policy, number, now)) held += 1;
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
    // A filter only saves work: the decision about a session compares its labels again.
    const { hidesLabels = false } = environmentBehind(this.#sessions).storage;
    const filter = rule.labels && !hidesLabels ? { labels: { ...rule.labels } } : undefined;
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

  async #now(): Promise<number> {
    const { storage } = environmentBehind(this.#sessions);
    return (await storage.entries.find([{ space: 'retention', name: 'now' }])).now;
  }
}

/** A held session is met by each rule that fits it, and counted by the one that counts. */
function isFirst(session: Session, { rules }: RetentionPolicy, number: number, now: number): boolean {
  const decision = decideRetention(retainedSession(session), { rules, holds: [] }, now);
  return typeof decision === 'object' && decision.rule === number;
}
