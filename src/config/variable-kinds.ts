import {
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
import { HIGHEST_PORT } from './redis-address.js';

/** What may stand in an environment variable, and how it is read. */
export interface VariableKind {
  /** What is allowed, to follow "must be". */
  readonly allowed: string;
  /** The text as a value; text that is no such value stays as it is, for the check to find. */
  readonly read: (text: string) => unknown;
  readonly checks: (options: ValidationOptions) => readonly PropertyDecorator[];
}

/** Only as people write numbers: `Number` takes `0x10` and `1e3` as well. */
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

/** How long something may take: no time at all would let nothing happen, and timers have a limit. */
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
