import { ConfigurationError } from '../../../config/configuration-error.js';
import { LONGEST_TIMER_MS } from '../../../config/setting.js';
import { problemsOfOptions } from '../../../config/option-checks.js';
import {
  type Kind,
  callable,
  flag,
  isRecord,
  kindOf,
  matching,
  seconds,
  text,
  texts,
  wholeNumber,
} from '../../../config/setting.js';
import { isUserName } from './reserved-words.js';
import { MAX_ID_BYTES, isId } from './ids.js';

/** What the option of a class can be. */
const KINDS = {
  object: kindOf('an object', isRecord),
  clock: kindOf('a clock', (value) => isRecord(value) && typeof value.now === 'function'),
  list: kindOf('a list', Array.isArray),
  texts,
  function: callable,
  flag,
  count: wholeNumber(),
  /** What timers can wait: a longer time would be over at once. */
  timer: wholeNumber(1, LONGEST_TIMER_MS),
  seconds,
  number: kindOf('a number', Number.isFinite),
  text,
  path: matching(/\S/, 'the path of a folder'),
  id: kindOf(`a name of at most ${MAX_ID_BYTES} bytes`, isId),
  'id or function': kindOf(
    `a name of at most ${MAX_ID_BYTES} bytes or a function`,
    (value) => isId(value) || typeof value === 'function',
  ),
  author: kindOf(
    `a name of at most ${MAX_ID_BYTES} bytes, other than user`,
    (value) => isId(value) && !isUserName(value),
  ),
  /** What is checked elsewhere. */
  anything: kindOf('anything', () => true),
} satisfies Record<string, Kind>;

type KindName = keyof typeof KINDS;

/** The kinds of all options of a class. Those of options that may be missing end with a question mark. */
export type OptionKinds<Options extends object> = {
  readonly [Name in keyof Options]-?: undefined extends Options[Name] ? `${KindName}?` : KindName;
};

/**
 * Refuses what are no options at all, such as the `undefined` of a factory that forgets to return them.
 *
 * @throws ConfigurationError
 */
export function requireOptions<Options extends object>(owner: string, options: Options): Options {
  if (isRecord(options)) return options;
  const given = Array.isArray(options) ? 'a list' : options === null ? 'null' : typeof options;
  throw new ConfigurationError([`${owner}: the options must be an object, not ${given}.`]);
}

/**
 * Refuses options that are missing, unknown or of another kind, all at once: a misspelled one would have no effect. An option that the
 * list of kinds lacks does not compile.
 *
 * @param owner whose options they are, for the message
 * @throws ConfigurationError
 *
 * @example
 * constructor(options: MyHistoryOptions) {
 *   checkOptions<MyHistoryOptions>('MyHistory', options, { sessions: 'object', appName: 'id', agent: 'author?' });
 * }
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options,
  kinds: OptionKinds<NoInfer<Options>>,
): void {
  const named = Object.entries<string>(kinds).map(([name, kind]) => {
    const plain = kind.replace('?', '') as KindName;
    return { name, kind: KINDS[plain], isNeeded: plain === kind && plain !== 'anything' };
  });
  const isMissing = options === undefined && named.some(({ isNeeded }) => isNeeded);
  const given: Readonly<Record<string, unknown>> = isMissing ? {} : { ...requireOptions(owner, options) };
  const missing = named.filter(({ name, isNeeded }) => isNeeded && given[name] === undefined);
  const problems = [
    ...problemsOfOptions(given, Object.fromEntries(named.map(({ name, kind }) => [name, { kind }]))),
    ...missing.map(({ name, kind }) => `${name} is missing; it must be ${kind.allowed}.`),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems.map((problem) => `${owner}: ${problem}`));
}
