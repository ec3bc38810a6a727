import {
  ArrayNotEmpty,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsPositive,
  IsString,
  Matches,
  Max,
  Min,
  type ValidationOptions,
} from 'class-validator';
import { HIGHEST_PORT, HOST } from './redis-address.js';

/** The type of an environment variable: its parser and its checks. */
export interface VariableKind {
  /** Description of allowed values, after "must be". */
  readonly allowed: string;
  /** Parses the text. Returns invalid text unchanged, so that the checks report it. */
  readonly read: (text: string) => unknown;
  readonly checks: (options: ValidationOptions) => readonly PropertyDecorator[];
  /** A hint for a wrong value, appended to the message. */
  readonly hint?: (value: unknown) => string | undefined;
}

/** Decimal numbers only: `Number` also accepts `0x10` and `1e3`. */
function asNumber(text: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

export const wholeNumber = (least = 0, most = Number.MAX_SAFE_INTEGER): VariableKind => ({
  allowed: `a whole number from ${least} ${most === Number.MAX_SAFE_INTEGER ? 'on' : `to ${most}`}`,
  read: asNumber,
  checks: (options) => [IsInt(options), Min(least, options), Max(most, options)],
});

export const port = wholeNumber(1, HIGHEST_PORT);

export const seconds: VariableKind = {
  allowed: 'a number of seconds from 0 on',
  read: asNumber,
  checks: (options) => [IsNumber({}, options), Min(0, options), Max(Number.MAX_SAFE_INTEGER, options)],
};

/** A timeout, limited by the range of timers. */
export const secondsUpTo = (most: number, { canBeZero }: { readonly canBeZero: boolean }): VariableKind => ({
  allowed: canBeZero ? `a number of seconds from 0 to ${most}` : `a number of seconds above 0, up to ${most}`,
  read: asNumber,
  checks: (options) => [IsNumber({}, options), canBeZero ? Min(0, options) : IsPositive(options), Max(most, options)],
});

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

export const flag: VariableKind = {
  allowed: 'true or false',
  read: (text) => FLAGS.get(text.toLowerCase()) ?? text,
  checks: (options) => [IsBoolean(options)],
};

export const oneOf = (...choices: readonly string[]): VariableKind => ({
  allowed: `one of ${choices.join(', ')}`,
  read: (text) => text,
  checks: (options) => [IsIn([...choices], options)],
});

export const text: VariableKind = {
  allowed: 'text',
  read: (given) => given,
  checks: (options) => [IsString(options)],
};

export const matching = (pattern: RegExp, allowed: string): VariableKind => ({
  allowed,
  read: (given) => given,
  checks: (options) => [Matches(pattern, options)],
});

/** A host name or address. */
export const host: VariableKind = matching(HOST, 'a host name or an IP address, without port or path');

/** Values that are separated by commas, each of which matches. */
export const listOf = (pattern: RegExp, allowed: string): VariableKind => ({
  allowed,
  read: (given) =>
    given
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  checks: (options) => [ArrayNotEmpty(options), Matches(pattern, { ...options, each: true })],
});
