import { kindOf, oneOf } from '../../config/setting.js';
import { OUTPUT_SETTINGS } from '../invocation/output-key.js';
import { RUN_POLICIES } from '../turn/run-policy.js';

/** The longest time of `debounce`: an hour. */
export const MAX_QUIET_MS = 3_600_000;

/** Ids of events are made from that of an invocation. */
export const MAX_INVOCATION_BYTES = 150;

/** What both an agent and a request may say of a run. */
export const RUN_SETTINGS = {
  policy: { kind: oneOf(...RUN_POLICIES) },
  quietMs: {
    kind: kindOf(
      `a number from 0 to ${MAX_QUIET_MS}, in milliseconds`,
      (value) => typeof value === 'number' && value >= 0 && value <= MAX_QUIET_MS,
    ),
  },
  ...OUTPUT_SETTINGS,
} as const;

/** Users are the authors of their messages by this name. */
export function isNameOfUser(name: string): boolean {
  return name.toLowerCase() === 'user';
}
