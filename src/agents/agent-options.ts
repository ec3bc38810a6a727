import { ConfigurationError } from '../config/configuration-error.js';
import { problemsOfGroup, problemsOfOptions } from '../config/option-checks.js';
import { LONGEST_TIMER_MS } from '../config/setting.js';
import { type Setting, type SettingsOf, callable, isRecord, kindOf, settings, wholeNumber } from '../config/setting.js';
import { type IdGenerator, randomId } from '../sessions/domain/values/ids.js';
import { checkedIds } from '../sessions/domain/values/generated-ids.js';
import { LONGEST_LEASE_MS, SHORTEST_LEASE_MS } from '../sessions/domain/background/lease-limits.js';
import { environmentBehind } from '../sessions/service-environment.js';
import { SessionNotFoundError } from '../sessions/domain/errors/errors.js';
import type { SessionService } from '../sessions/session.service.js';
import { Semaphore } from '../sessions/storage/semaphore.js';
import { AgentFailedError } from './errors/agent-failed-error.js';
import { PartialFlusher } from './turn/partial-flusher.js';
import { PARTIALS, type PartialSettings, partialSettings } from './turn/partial-log.js';
import {
  type AskEnvironment,
  MAX_RUNS,
  type RunLimits,
  RunPlaces,
  WAITING,
  WaitingMemory,
  waitingLimits,
} from './ask/run-limits.js';
import { MAX_INVOCATION_BYTES } from './ask/run-settings.js';

/** How the agents of an instance close. */
export interface CloseAgentsOptions {
  /** How long runs may finish before they are handed over. Default: that of {@link AgentSessionsOptions}. */
  readonly drainMs?: number | undefined;
}

/** The parts and settings of {@link AgentSessions}. */
export interface AgentSessionsOptions {
  readonly sessions: SessionService;
  /** How long a session waits after a crash of the process that answers. Default: 30 seconds. */
  readonly turnTtlMs?: number | undefined;
  /** How often a waiting message looks whether its turn has come, besides signals. Default: 1,000 ms. */
  readonly pollMs?: number | undefined;
  /**
   * How long others wait for work that may hang: a free turn for the process of the first message in the queue, and expired approvals for
   * agents that go on. Default: 5,000 ms.
   */
  readonly graceMs?: number | undefined;
  /** How long `close` lets runs finish before it hands them over. Default: 5,000 ms, at most an hour. */
  readonly drainMs?: number | undefined;
  /**
   * The most runs at once, working and waiting, of a user, of an app and of this instance. The next one is refused with `RunLimitError`.
   * Default: 1,000 of this instance.
   */
  readonly maxRuns?: RunLimits | undefined;
  /** The most `temp:` state of a message that waits, as JSON: it is not stored, so it waits in memory. Default: 64 KiB. */
  readonly maxTempBytes?: number | undefined;
  /** The most bytes that all waiting messages of this instance hold in memory; others are refused with `RunLimitError`. Default: 64 MiB. */
  readonly maxWaitingBytes?: number | undefined;
  /** How partial events are saved, so that readers in other processes get them, also late ones. `false`: not at all. */
  readonly partials?: Partial<PartialSettings> | false | undefined;
  /** Generates missing ids. Default: UUIDs. */
  readonly newId?: IdGenerator | undefined;
  /** Receives errors of work in the background. Default: a warning on the console. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Learns of each handler that threw: why, where, and what. Default: a warning on the console. */
  readonly onRunFailure?: ((failure: AgentFailedError) => void | Promise<void>) | undefined;
}

const milliseconds = wholeNumber(0, LONGEST_TIMER_MS);
/** The longest time that runs may finish: an hour. */
export const MAX_DRAIN_MS = 3_600_000;

const AGENT_SESSIONS: SettingsOf<AgentSessionsOptions> = {
  // Whatever has an environment, which is looked for later.
  sessions: { kind: kindOf('a SessionService', () => true) },
  turnTtlMs: { kind: wholeNumber(SHORTEST_LEASE_MS, LONGEST_LEASE_MS) },
  pollMs: { kind: wholeNumber(1, LONGEST_TIMER_MS) },
  graceMs: { kind: milliseconds },
  drainMs: { kind: wholeNumber(0, MAX_DRAIN_MS) },
  maxRuns: { kind: settings },
  ...WAITING,
  partials: { kind: kindOf('an object of settings, or false', (value) => value === false || isRecord(value)) },
  newId: { kind: callable },
  onError: { kind: callable },
  onRunFailure: { kind: callable },
};

const { sessions: _served, onError: _logged, ...OF_MODULE } = AGENT_SESSIONS;

/** What the module takes: it gives the sessions and `onError` itself, and looks for expired approvals. */
export const AGENTS_MODULE = { ...OF_MODULE, expireApprovalsMs: { kind: milliseconds } };

/** Results of many messages that one run has answered. */
const LOADS_AT_ONCE = 2;

/** Checks the options, and fills in missing ones. */
export function createAskEnvironment(options: AgentSessionsOptions, draining: AbortSignal): AskEnvironment {
  checkAgentOptions(options, AGENT_SESSIONS);
  const { sessions, turnTtlMs = 30_000, pollMs = 1_000, graceMs = 5_000 } = options;
  const { onError, onRunFailure } = listenersOf(options);
  const { storage, clock } = environmentBehind(sessions);
  const newId = options.newId ? checkedIds(options.newId, MAX_INVOCATION_BYTES) : randomId;
  const partials = partialSettings(options.partials);
  return {
    sessions,
    storage,
    newId,
    clock,
    turnTtlMs,
    pollMs,
    graceMs,
    onError,
    onRunFailure,
    partials: partials && new PartialFlusher({ storage, newId, onError }, partials),
    runs: new RunPlaces({ sessions, leases: storage.leases, ttlMs: turnTtlMs, onError }, options.maxRuns),
    waitingMemory: new WaitingMemory(waitingLimits(options)),
    loads: new Semaphore(LOADS_AT_ONCE),
    draining,
  };
}

/** @throws ConfigurationError with all that is wrong */
export function checkAgentOptions(
  options: Partial<AgentSessionsOptions>,
  known: Readonly<Record<string, Setting>>,
): void {
  const { maxRuns, partials } = options;
  const problems = [
    ...problemsOfOptions(options, known),
    ...(isRecord(maxRuns) ? problemsOfGroup('maxRuns', MAX_RUNS, maxRuns) : []),
    ...(isRecord(partials) ? problemsOfGroup('partials', PARTIALS, partials) : []),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}

function warnOfFailedRun(error: unknown): void {
  console.warn('nestjs-agent-sessions: work of a run in the background failed', error);
}

/**
 * Failures go to `onRunFailure` alone, and what the app does with them changes nothing for callers. A session that is gone is none: a
 * client may delete it at any time.
 */
function listenersOf({
  onError = warnOfFailedRun,
  onRunFailure = warnOfFailure,
}: AgentSessionsOptions): Pick<AskEnvironment, 'onError' | 'onRunFailure'> {
  return {
    onError: (error) => {
      if (!(error instanceof AgentFailedError || error instanceof SessionNotFoundError)) onError(error);
    },
    onRunFailure: (failure) => void (async () => onRunFailure(failure))().catch(onError),
  };
}

/** Errors of SDKs hold requests with their keys, so that only stacks are written. */
function warnOfFailure(failure: AgentFailedError): void {
  console.warn(`nestjs-agent-sessions: ${failure.message}\n${failure.trace}`);
}
