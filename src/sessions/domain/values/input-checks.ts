import { LONGEST_TIMER_MS, type Setting, type SettingsWithDefaults, defaultsOf } from '../../../config/setting.js';
import { InvalidInputError, LimitExceededError } from '../errors/errors.js';

/** Whether the value is a whole number from 0 on. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Checks an optional whole number from 0 on. */
export function optionalCount(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (isCount(value)) return value;
  throw new InvalidInputError('must be a whole number from 0 on', path);
}

/** Checks how long to wait, in milliseconds. A timer would end others at once. */
export function optionalTimer(value: unknown, path: string): void {
  if (value === undefined || (isCount(value) && value > 0 && value <= LONGEST_TIMER_MS)) return;
  throw new InvalidInputError(`must be a whole number from 1 to ${LONGEST_TIMER_MS}`, path);
}

/** Checks an optional yes or no. */
export function optionalFlag(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  throw new InvalidInputError('must be true or false', path);
}

interface Range {
  /** Of the value, for the message. */
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** Refuses what is not a whole number in this range. */
export function assertWholeNumber(value: unknown, { path, from, to }: Range): void {
  if (Number.isSafeInteger(value) && Number(value) >= from && Number(value) <= to) return;
  throw new InvalidInputError(`must be a whole number from ${from} to ${to}`, path);
}

/** Why a value cannot be a name in every store, or `undefined`. */
export function textProblem(value: unknown, maxBytes: number): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value === '') return 'must not be empty';
  if (!value.isWellFormed()) return 'must not hold a lone surrogate';
  if (value.includes('\u0000')) return 'must not hold U+0000';
  if (Buffer.byteLength(value) > maxBytes) return `must be at most ${maxBytes} UTF-8 bytes long`;
  return undefined;
}

/** Merges settings with defaults, and checks them. Missing and `undefined` settings get the default. */
export function checkedSettings<Settings extends object>(
  known: SettingsWithDefaults<Settings>,
  given: Partial<Settings> | undefined,
  name: string,
): Settings {
  const settings = defaultsOf<Settings>(known);
  for (const [key, value] of Object.entries(given ?? {})) {
    if (!Object.hasOwn(known, key)) {
      throw new InvalidInputError(`is no option; there are ${Object.keys(known).join(', ')}`, `${name}.${key}`);
    }
    if (value === undefined) continue;
    checkSetting(known[key as keyof Settings], value, `${name}.${key}`);
    settings[key as keyof Settings] = value as Settings[keyof Settings];
  }
  return settings;
}

export function checkSetting({ kind }: Setting, value: unknown, path: string): void {
  if (!kind.fits(value)) throw new InvalidInputError(`must be ${kind.allowed}`, path);
}

/**
 * Runs checks of a value that is part of a larger input, and puts the value's place into their errors: `$.actions`
 * becomes `$.events[3].actions`.
 */
export function underPath<Result>(path: string, check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    if (path === '$') throw error;
    if (error instanceof InvalidInputError) throw new InvalidInputError(...underPlace(error, path));
    if (error instanceof LimitExceededError) throw new LimitExceededError(...underPlace(error, path));
    throw error;
  }
}

function underPlace({ message, path = '' }: InvalidInputError | LimitExceededError, place: string): [string, string] {
  const reason = path === '' ? message : message.slice(`${path}: `.length);
  return [reason, place + path.replace(/^\$/, '')];
}
