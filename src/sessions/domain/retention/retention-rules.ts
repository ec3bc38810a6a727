import { type RetentionRule, type RetentionSettings, keptMs } from '../../../config/retention-settings.js';
import { SessionsError } from '../errors/errors.js';
import { type MetadataChange } from '../metadata/metadata-entries.js';
import { metadataChanges } from '../metadata/metadata.js';

/** Keeps the sessions with all of these labels. */
export type RetentionHold = NonNullable<RetentionSettings['hold']>;

/** The rules of a policy, and all holds that count. */
export interface RetentionPolicy extends Pick<RetentionSettings, 'rules'> {
  readonly holds: readonly RetentionHold[];
}

/** What the rules look at. */
export interface RetainedSession {
  readonly appName: string;
  readonly lastUpdateTime: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** What is to become of a session: `held`, `kept`, or removed by the rule of this number. */
export type RetentionDecision = 'held' | 'kept' | { readonly rule: number };

/** How the entries of labels begin. */
const LABEL = 'label:';

/** Decides about a session. A hold comes first, then the first rule that fits. */
export function decideRetention(
  session: RetainedSession,
  { rules, holds }: RetentionPolicy,
  now: number,
): RetentionDecision {
  const number = rules.findIndex((one) => !one.kinds && fitsRule(session, one));
  const rule = rules[number];
  if (!rule || session.lastUpdateTime > lastKept(rule, now)) return 'kept';
  return isHeld(session, holds) ? 'held' : { rule: number };
}

/** Sessions whose last event is not later than this have been kept long enough. */
export function lastKept(rule: RetentionRule, now: number): number {
  return now - keptMs(rule);
}

/** Whether a hold keeps the session. */
export function isHeld({ labels }: Pick<RetainedSession, 'labels'>, holds: readonly RetentionHold[]): boolean {
  return holds.some((hold) => hasLabels(labels, hold.labels));
}

/** Whether changes of metadata set a label. Others make no session held. */
export function setsLabels(changes: readonly MetadataChange[]): boolean {
  return changes.some(([name, value]) => name.startsWith(LABEL) && value !== null);
}

/** Whether changes of metadata set a label that a hold names, so that they may make a session held. */
export function mayMakeHeld(changes: readonly MetadataChange[], holds: readonly RetentionHold[]): boolean {
  const set = new Map(changes);
  const named = holds.flatMap(({ labels }) => metadataChanges({ labels: { ...labels } }));
  return named.some(([name, value]) => set.get(name) === value);
}

/** Whether app and labels are those of the rule. */
export function fitsRule({ appName, labels }: Omit<RetainedSession, 'lastUpdateTime'>, rule: RetentionRule): boolean {
  return (rule.app === undefined || rule.app === appName) && hasLabels(labels, rule.labels ?? {});
}

function hasLabels(labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
}

/**
 * A hold keeps the session, or one of the user. Nothing was removed, and no event redacted.
 *
 * @example if (error instanceof SessionHeldError) return reply.status(409).send('Ask the legal department.');
 */
export class SessionHeldError extends SessionsError {
  readonly code = 'SESSION_HELD';
  readonly status = 409;

  constructor(readonly sessionId: string) {
    super(
      `A hold keeps session ${JSON.stringify(sessionId)}, so nothing was removed or replaced. Take its label away first.`,
    );
  }
}
