import { IssuerUnavailableError } from '../../src/sessions/auth/auth-errors.js';
import { ComponentConflictError, ComponentNotFoundError } from '../../src/components/index.js';
import { AgentFailedError } from '../../src/agents/errors/agent-failed-error.js';
import { AgentNotFoundError } from '../../src/agents/agent-registry.js';
import { RunLimitError } from '../../src/agents/errors/run-limit-error.js';
import { AgentsClosingError } from '../../src/agents/errors/closing-error.js';
import {
  ApprovalAnsweredError,
  ApprovalChangedError,
  ApprovalExpiredError,
  ApprovalNotFoundError,
  ApprovalWithdrawnError,
} from '../../src/agents/errors/approval-errors.js';
import {
  EventConflictError,
  InvalidInputError,
  LeaseLostError,
  LimitExceededError,
  MissingInstructionValueError,
  PlainTextRefusedError,
  SessionExistsError,
  SessionNotFoundError,
  StaleSessionError,
  StoreUnavailableError,
  UnknownEncryptionKeyError,
  UnknownEncryptionVersionError,
  UnsavedStateError,
  WrongEncryptionKeyError,
} from '../../src/index.js';
import {
  type SessionsErrorCode,
  TurnHeldError,
  TurnLostError,
  TurnRequiredError,
} from '../../src/sessions/domain/errors/errors.js';
import { TransferConflictError, TransferFileError } from '../../src/transfer/transfer-errors.js';
import { BudgetExceededError, type ExceededBudget } from '../../src/sessions/domain/errors/budget-error.js';
import { QuotaExceededError, type QuotaUse } from '../../src/sessions/domain/errors/quota-error.js';
import { UserBeingErasedError } from '../../src/sessions/domain/retention/erasure-rules.js';
import { SessionHeldError } from '../../src/sessions/domain/retention/retention-rules.js';
import { UnsupportedByStoreError } from '../../src/sessions/domain/errors/unsupported-error.js';
import { SummaryFailedError, SummaryNotFoundError } from '../../src/summarizer/index.js';

/** An error of the service, and what a client has to be told. */
export interface ErrorSample {
  readonly error: Error;
  readonly code: SessionsErrorCode | 'INTERNAL';
  readonly status: number;
  readonly message: string;
  /** Seconds, where the error itself says when to come back. */
  readonly retryAfter?: string;
  readonly details: {
    readonly path?: string;
    readonly currentVersion?: number;
    readonly outcomeUnknown?: boolean;
    readonly eventId?: string;
    readonly eventIds?: readonly string[];
    readonly holder?: string;
    readonly expiresAt?: number;
    readonly budget?: ExceededBudget;
    readonly quota?: QuotaUse;
    readonly reason?: string;
    readonly retryable?: boolean;
    readonly invocationId?: string;
  };
}

type Sample = Omit<ErrorSample, 'code'>;

const SECRET = 'password=hunter2';

function lostAppend(...eventIds: string[]): StoreUnavailableError {
  const error = new StoreUnavailableError(`10.0.0.7 is away, ${SECRET}.`, true, { publicReason: 'The store is away.' });
  error.setEventIds(eventIds);
  return error;
}

const said = (error: Error, status: number, details: Sample['details'] = {}): Sample => ({
  error,
  status,
  message: error.message,
  details,
});

/** Who asks learns nothing about keys. */
const encrypted = (error: Error): Sample => ({
  ...said(error, 500),
  message: 'The stored data cannot be decrypted; the log of the server says why.',
});

const BUDGET: ExceededBudget = { scope: 'user', period: 'total', unit: 'tokens', used: 12, limit: 10 };
const RESETS = { period: 'day', unit: 'micros', resetsAt: 1_767_225_600_000 } as const;

const FULL: QuotaUse = { scope: 'user', quota: 'sessions', used: 100, limit: 100 };
const RATE: QuotaUse = { scope: 'app', quota: 'appendsPerMinute', used: 9, limit: 9, resetsAt: 1_767_225_600_000 };

const FAILED_RUN = { appName: 'shop', userId: 'ann', sessionId: 's-1', invocationId: 'i-1', agentName: 'support' };

/** Each code that an error may have. The compiler demands a sample of a new one. */
const SAMPLES: Readonly<Record<SessionsErrorCode, readonly Sample[]>> = {
  INVALID_INPUT: [
    said(new InvalidInputError('must be odd', '$.actions.stateDelta["ä"]'), 400, { path: '$.actions.stateDelta["ä"]' }),
    said(new InvalidInputError('name it in one way'), 400),
  ],
  SESSION_NOT_FOUND: [said(new SessionNotFoundError('cart "1" ä'), 404)],
  SESSION_EXISTS: [said(new SessionExistsError('cart "1" ä'), 409)],
  EVENT_CONFLICT: [said(new EventConflictError('event "1" ä', 7), 409)],
  STALE_SESSION: [
    said(new StaleSessionError(3, 999_999_999_999_999), 409, { currentVersion: 999_999_999_999_999 }),
    said(new StaleSessionError(3, 0), 409, { currentVersion: 0 }),
  ],
  TURN_HELD: [
    said(new TurnHeldError('cart', 'bob ä', 1_767_225_600_000), 409, { holder: 'bob ä', expiresAt: 1_767_225_600_000 }),
  ],
  ISSUER_UNAVAILABLE: [said(new IssuerUnavailableError(), 503)],
  UNSUPPORTED_BY_STORE: [said(new UnsupportedByStoreError('This store has no state of users.'), 501)],
  ENCRYPTION_KEY_WRONG: [encrypted(new WrongEncryptionKeyError('k-1 "ä"', 'an event'))],
  ENCRYPTION_KEY_UNKNOWN: [encrypted(new UnknownEncryptionKeyError('k-1', 'an event'))],
  ENCRYPTION_VERSION_UNKNOWN: [encrypted(new UnknownEncryptionVersionError('e9', 'an event'))],
  PLAIN_TEXT_REFUSED: [encrypted(new PlainTextRefusedError('an event'))],
  BUDGET_EXCEEDED: [
    said(new BudgetExceededError(BUDGET), 429, { budget: BUDGET }),
    said(new BudgetExceededError({ ...BUDGET, ...RESETS }), 429, { budget: { ...BUDGET, ...RESETS } }),
  ],
  QUOTA_EXCEEDED: [
    said(new QuotaExceededError(FULL), 429, { quota: FULL }),
    { ...said(new QuotaExceededError(RATE, 30_000), 429, { quota: RATE }), retryAfter: '30' },
  ],
  USER_BEING_ERASED: [said(new UserBeingErasedError('ann "1" ä'), 409)],
  SESSION_HELD: [said(new SessionHeldError('cart "1" ä'), 409)],
  TURN_LOST: [said(new TurnLostError('cart'), 409)],
  COMPONENT_NOT_FOUND: [said(new ComponentNotFoundError('cart', 'agent'), 404)],
  COMPONENT_CONFLICT: [said(new ComponentConflictError('cart', 'agent', 1, 2), 409)],
  INSTRUCTION_VALUE_MISSING: [said(new MissingInstructionValueError('user:name'), 409)],
  TURN_REQUIRED: [said(new TurnRequiredError('cart'), 409)],
  UNSAVED_STATE: [said(new UnsavedStateError('cart', ['step', 'user:theme']), 409)],
  LIMIT_EXCEEDED: [
    said(new LimitExceededError('is too long', '$.content'), 413, { path: '$.content' }),
    said(new LimitExceededError('The page is too large'), 413),
  ],
  AGENTS_CLOSING: [said(new AgentsClosingError('i-1 "ä"'), 503)],
  RUN_LIMIT_REACHED: [
    said(new RunLimitError({ scope: 'user', unit: 'runs', limit: 4 }), 429),
    said(new RunLimitError({ scope: 'process', unit: 'bytes', limit: 1_024 }), 429),
  ],
  AGENT_FAILED: [
    {
      error: new AgentFailedError('RATE_LIMITED', { cause: new Error(SECRET), run: FAILED_RUN }),
      status: 500,
      message: 'The agent failed: what it needs was asked too often. Try again later.',
      details: { reason: 'RATE_LIMITED', retryable: true, invocationId: 'i-1' },
    },
    {
      error: new AgentFailedError('FAULT', { cause: SECRET }),
      status: 500,
      message: 'The agent failed.',
      details: { reason: 'FAULT', retryable: false },
    },
  ],
  AGENT_NOT_FOUND: [said(new AgentNotFoundError('shop ä'), 404)],
  APPROVAL_NOT_FOUND: [said(new ApprovalNotFoundError('order@1 ä'), 404)],
  APPROVAL_ANSWERED: [said(new ApprovalAnsweredError('order@1 ä', 7), 409)],
  APPROVAL_CHANGED: [said(new ApprovalChangedError('order@1 ä', 'hint'), 409)],
  APPROVAL_WITHDRAWN: [said(new ApprovalWithdrawnError('order@1 ä'), 409)],
  APPROVAL_EXPIRED: [said(new ApprovalExpiredError('order@1 ä', 1e12), 409)],
  LEASE_LOST: [said(new LeaseLostError('summary of cart'), 409)],
  TRANSFER_CONFLICT: [said(new TransferConflictError('cart', 'its event 3 is another one'), 409)],
  TRANSFER_FILE_INVALID: [said(new TransferFileError('it is no JSON', 7), 422)],
  SUMMARY_NOT_FOUND: [said(new SummaryNotFoundError('cart'), 404)],
  SUMMARY_FAILED: [
    {
      error: new SummaryFailedError('gpt', SECRET),
      status: 502,
      message: 'The model gave no summary. Nothing was changed; try again later.',
      details: {},
    },
  ],
  STORE_UNAVAILABLE: [
    said(new StoreUnavailableError('The store is away.', false), 503, { outcomeUnknown: false }),
    {
      error: lostAppend('event/7 ä'),
      status: 503,
      message: 'The store is away. The outcome is unknown: retry with the same event id.',
      details: { outcomeUnknown: true, eventId: 'event/7 ä' },
    },
    {
      error: lostAppend('event/7 ä', 'e-8'),
      status: 503,
      message: 'The store is away. The outcome is unknown: retry with the same event id.',
      details: { outcomeUnknown: true, eventIds: ['event/7 ä', 'e-8'] },
    },
  ],
};

/** An error that the service should not have thrown. Its message may hold anything. */
const BUG: ErrorSample = {
  error: new Error(SECRET),
  code: 'INTERNAL',
  status: 500,
  message: 'The request could not be answered; the log of the server says why.',
  details: {},
};

export const ERROR_SAMPLES: readonly ErrorSample[] = [
  ...Object.entries(SAMPLES).flatMap(([code, samples]) =>
    samples.map((sample) => ({ ...sample, code: code as SessionsErrorCode })),
  ),
  BUG,
];
