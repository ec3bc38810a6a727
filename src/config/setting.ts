/** What a setting accepts, in options and in variables. `Value` is what its variable gives. */
export interface Kind<Value = unknown> {
  /** Follows "must be" in messages and in the docs. */
  readonly allowed: string;
  readonly fits: (value: unknown) => boolean;
  /** A sentence on what to write instead of a value that does not fit, if it looks like something known. */
  readonly hint?: ((value: unknown) => string | undefined) | undefined;
  /** Parses the text of a variable. Text that cannot be parsed is returned unchanged, and does not fit. */
  readonly read: (text: string) => Value | string;
}

/** A setting: everything that the checks, the docs and `.env.example` say about it. */
export interface Setting {
  readonly kind: Kind;
  /** The description of its variable. A setting without one has no variable: only code sets it. */
  readonly meaning?: string;
  /** The name of its variable, where that does not follow from the option. */
  readonly name?: string;
  readonly default?: number | boolean | string | object;
  /** What applies without it, if that is not one value. */
  readonly otherwise?: string;
  /** Whether it may contain a password. Then its value is never shown. */
  readonly isSecret?: boolean;
  /** What is different for its variable, if that has another form than the option. */
  readonly variable?: Pick<Setting, 'kind' | 'isSecret'>;
  /** Further variables that give this setting, by name. */
  readonly otherVariables?: VariableSettings;
}

export type VariableSettings = Readonly<Record<string, Setting & { readonly meaning: string }>>;

/** The settings of a group of options: the type requires an entry for every option. */
export type SettingsOf<Options extends object> = { readonly [Name in keyof Options]-?: Setting };

/** The same for options that all have a default. */
export type SettingsWithDefaults<Options extends object> = {
  readonly [Name in keyof Options]-?: Setting & { readonly default: Options[Name] };
};

/** A setting as an environment variable. */
export interface Variable extends Setting {
  readonly name: string;
  readonly meaning: string;
  /** The option that it gives, such as `history.maxEvents`. */
  readonly path: string;
  /** Whether it gives the option, unlike a part of an address. */
  readonly isOption: boolean;
}

type Settings = Readonly<Record<string, Setting>>;

/** The variables of a group. Their names follow from the options: `SESSIONS_HISTORY_MAX_EVENTS` gives `history.maxEvents`. */
export function toVariables(prefix: string, group: string, settings: Settings): Variable[] {
  return Object.entries(settings).flatMap(([option, { meaning, variable, otherVariables = {}, ...setting }]) => {
    const path = group === '' ? option : `${group}.${option}`;
    const name = `${prefix}${path.replace('.', '_').replaceAll(/[A-Z]/g, '_$&')}`.toUpperCase();
    const others = Object.entries(otherVariables).map(([other, its]) => ({
      ...its,
      name: other,
      path,
      isOption: false,
    }));
    return meaning === undefined
      ? others
      : [{ name, ...setting, ...variable, meaning, path, isOption: true }, ...others];
  });
}

export function defaultsOf<Options extends object>(settings: SettingsWithDefaults<Options>): Options {
  const entries = Object.entries<Setting>(settings).map(([name, setting]) => [name, setting.default]);
  return Object.fromEntries(entries) as Options;
}

/** Describes a value that does not fit. `undefined` always fits, since it means the default. */
export function describeSettingProblem(
  name: string,
  { kind, isSecret = false }: Setting,
  value: unknown,
): string | undefined {
  if (value === undefined || kind.fits(value)) return undefined;
  const hint = kind.hint?.(value);
  return `${name} ${isSecret ? UNSHOWN : shown(value)}; it must be ${kind.allowed}.${hint === undefined ? '' : ` ${hint}`}`;
}

const UNSHOWN = 'cannot be read (its value is not shown)';

/** Hides addresses, since they may contain a password, in any setting. */
export function shown(value: unknown): string {
  const description = descriptionOf(value);
  return description.includes('@') ? UNSHOWN : `is ${description}`;
}

/** JSON cannot represent NaN, functions, a BigInt and circular objects. */
function descriptionOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'bigint') return `${value}n`;
  try {
    return JSON.stringify(value) ?? `a ${typeof value}`;
  } catch {
    return `an ${typeof value} that JSON cannot represent`;
  }
}

const isNumber = (value: unknown): value is number => typeof value === 'number';
const isText = (value: unknown): value is string => typeof value === 'string';

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A kind that only options have, or whose variables are plain text. */
export const kindOf = (allowed: string, fits: Kind['fits']): Kind<string> => ({
  allowed,
  fits,
  read: (given) => given,
});

/** Decimal numbers only: `Number` also accepts `0x10` and `1e3`. */
function asNumber(given: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : given;
}

export const wholeNumber = (least = 0, most = Infinity): Kind<number> => ({
  allowed: `a whole number from ${least} ${most === Infinity ? 'on' : `to ${most}`}`,
  fits: (value) => Number.isSafeInteger(value) && isNumber(value) && value >= least && value <= most,
  read: asNumber,
});

/** Node fires longer timers immediately. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const HIGHEST_PORT = 65_535;
export const port = wholeNumber(1, HIGHEST_PORT);

/** Up to a hundred years. */
export const days = wholeNumber(1, 36_525);

export const seconds: Kind<number> = {
  allowed: 'a number of seconds from 0 on',
  fits: (value) => isNumber(value) && value >= 0 && Number.isFinite(value),
  read: asNumber,
};

/** A timeout, limited by the range of timers. */
export const secondsUpTo = (most: number, { canBeZero }: { readonly canBeZero: boolean }): Kind<number> => ({
  allowed: canBeZero ? `a number of seconds from 0 to ${most}` : `a number of seconds above 0, up to ${most}`,
  fits: (value) => isNumber(value) && (value > 0 || (canBeZero && value === 0)) && value <= most,
  read: asNumber,
});

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

export const flag: Kind<boolean> = {
  allowed: 'true or false',
  fits: (value) => typeof value === 'boolean',
  read: (given) => FLAGS.get(given.toLowerCase()) ?? given,
};

export const oneOf = <Choice extends string>(...choices: readonly Choice[]): Kind<Choice> => ({
  ...kindOf(`one of ${choices.join(', ')}`, (value) => choices.some((choice) => choice === value)),
  read: (given) => given,
});

export const text = kindOf('text', isText);

export const matching = (pattern: RegExp, allowed: string): Kind<string> =>
  kindOf(allowed, (value) => isText(value) && pattern.test(value));

/** A host name or address. IPv6 addresses need no brackets. */
export const host = matching(
  /^(\[[^\]/?#@\s]+\]|[^:/?#@\s]+|[^[\]/?#@\s:]*:[^[\]/?#@\s:]*:[^[\]/?#@\s]*)$/,
  'a host name or an IP address, without port or path',
);

/** Values that are separated by commas, each of which matches. */
export const listOf = (pattern: RegExp, allowed: string): Kind<readonly string[]> => ({
  allowed,
  fits: (value) => Array.isArray(value) && value.length > 0 && value.every((item) => pattern.test(String(item))),
  read: (given) =>
    given
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
});

/** A list of texts, which may be empty, and which only code gives. A text is no list. */
export const texts = kindOf('a list of texts', (value) => Array.isArray(value) && value.every(isText));

/** A function, which only code gives. */
export const callable = kindOf('a function', (value) => typeof value === 'function');

/** An object of which only the type is checked here. */
export const settings = kindOf('an object of settings', isRecord);
