import { similarNames } from '../../../config/near-miss.js';
import { LONGEST_TIMER_MS, type Setting, type SettingsWithDefaults, defaultsOf } from '../../../config/setting.js';
import { InvalidInputError, LimitExceededError } from '../errors/errors.js';
import { noted } from '../errors/nested-failures.js';

/** Returns the request; refuses a call without one, which plain JavaScript allows. */
export function requireRequest<Request extends object>(request: Request): Request {
  if (typeof request === 'object' && request !== null) return request;
  throw new InvalidInputError('must be an object, such as { appName, userId, sessionId }', 'request');
}

/** Refuses fields that would have no effect, such as a misspelled one. */
export function assertFieldNames<Request extends object>(
  request: Request,
  known: Readonly<Record<keyof Request, true>>,
): void {
  const names = Object.keys(known);
  const unknown = Object.keys(request).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const [meant] = similarNames(unknown, names);
  const all = `there are ${names.join(', ')}`;
  throw new InvalidInputError(
    `is no field; ${meant === undefined ? all : `did you mean ${meant}? T${all.slice(1)}`}`,
    unknown,
  );
}

/** All fields of a request: without one of them, it does not compile. */
export type FieldNames<Request> = Readonly<Record<keyof Required<Request>, true>>;

/**
 * Names the fields of a request.
 *
 * @example fieldNames<SessionKey>({ appName: true, userId: true, sessionId: true });
 */
export function fieldNames<Request>(names: FieldNames<Request>): readonly string[] {
  return Object.keys(names);
}

/**
 * Refuses a field that is one of the known ones in another spelling: it would have no effect. Others may be there, as the object may be
 * one of the app that has more.
 *
 * @param of what the known fields are of, for the message
 */
export function refuseMisspelled(given: object, known: readonly string[], of: string, path = ''): void {
  for (const name in given) {
    if (known.includes(name)) continue;
    const meant = similarNames(name, known).find((each) => !(each in given));
    if (meant !== undefined) throw new InvalidInputError(`is no field of ${of}; did you mean ${meant}?`, path + name);
  }
}

/**
 * Makes the check of the requests of a class, by its methods: it returns the request, and refuses a field that is one of the method's in
 * another spelling.
 *
 * @example
 * const checked = requestCheck({ open: fieldNames<OpenRequest>({ id: true, title: true }) });
 * checked('open', { id: 'a', titel: 'Hi' }); // throws: `did you mean title?`
 */
export function requestCheck<Method extends string>(fields: Readonly<Record<Method, readonly string[]>>) {
  return <Request extends object>(method: Method, request: Request): Request => {
    try {
      refuseMisspelled(requireRequest(request), fields[method], method);
    } catch (error) {
      throw noted(error);
    }
    return request;
  };
}

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
