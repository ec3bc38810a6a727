import { ConfigurationError } from './configuration-error.js';
import { plainName, similarNames } from './near-miss.js';
import { type Setting, isRecord, describeSettingProblem, settings } from './setting.js';

export type Options = Readonly<Record<string, unknown>>;

/** How messages name settings: by the paths of options, or by variables. */
export interface Names {
  of(path: string): string;
  /** The names of all that is given for an option or a group. */
  given(path: string): readonly string[];
  /** The name of a group of options. */
  group(path: string): string;
  /** What to write for a store at a URL. */
  example(url: string): string;
  /** The problem of a provider that needs a database and has none. */
  readonly missingDatabase: readonly string[];
  /** What can replace the provider. */
  readonly insteadOfProvider: string;
  /** The paths of all options, for hints. */
  readonly paths?: readonly string[];
}

/** Names that options of the same meaning have elsewhere, in plain spelling. */
const FOREIGN_NAMES: Readonly<Record<string, string>> = {
  dburl: 'url',
  databaseurl: 'url',
  redisurl: 'url',
  connectionstring: 'url',
  dsn: 'url',
  uri: 'url',
  dbpath: 'database',
  filename: 'database',
  keyprefix: 'prefix',
  ttlseconds: 'sessionSeconds',
};

/** What stands in the place of options that others have. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  sessionconfig: 'its settings are in history and ttl.',
  sessionserviceconfig: 'its settings are in history and ttl.',
  summarizer: 'write new SummarizerSessionManager({ sessions }, …), or in Nest SummarizerModule.',
  summarizermanager: 'write new SummarizerSessionManager({ sessions }, …), or in Nest SummarizerModule.',
  isasync: 'everything is asynchronous. Leave it out.',
  retention: 'write new SessionRetention({ sessions, rules, hold }).',
  titler: 'write new SessionTitles({ sessions, titler }).start().',
  cleanup: 'only SessionsModule removes expired data by itself; call purgeExpired().',
  retryattempts: 'only SessionsModule opens the store at the start.',
  retrydelayms: 'only SessionsModule opens the store at the start.',
  encryption: 'encrypt the store: new SessionService({ storage: encryptedStorage(storage, …) }).',
  provider: 'the name of the service says it. Leave it out.',
  storage: 'the store is that of the service. Leave it out, or write new SessionService({ storage }).',
  redis: 'its settings stand beside the others.',
  vertex: 'its settings stand beside the others.',
  poolrecycle: 'a connection that the server closed is replaced. Leave it out.',
  poolpreping: 'a connection that the server closed is replaced. Leave it out.',
};

const ALL = new Intl.ListFormat('en', { type: 'conjunction' });
const EITHER = new Intl.ListFormat('en', { type: 'disjunction' });

/** Refuses options that would have no effect, and says which one was meant. */
export function unknownNames(given: Options, known: readonly string[], names: Names, before = ''): string[] {
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  return unknown.map((name) => {
    const all = `${known.join(', ')}.`;
    const hint = hintOf(name, known, names, before);
    return `${names.of(before + name)} is no option; ${hint ? `${hint} There` : 'there'} are ${all}`;
  });
}

/**
 * Refuses options of a class that it does not know, by name.
 *
 * @throws ConfigurationError
 */
export function checkOptionNames(options: object, known: Readonly<Record<string, unknown>>): void {
  const names = Object.keys(known);
  const problems = unknownNames({ ...options }, names, PLAIN_NAMES);
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/**
 * The problems of options without groups: unknown names, and values that do not fit.
 *
 * @param before the path of the group, with its dot
 */
export function problemsOfOptions(given: object, known: Readonly<Record<string, Setting>>, before = ''): string[] {
  const options = { ...given };
  return [
    ...unknownNames(options, Object.keys(known), PLAIN_NAMES, before),
    ...problemsOfValues(options, known, PLAIN_NAMES, before),
  ];
}

function hintOf(name: string, known: readonly string[], names: Names, before: string): string | undefined {
  const plain = plainName(name);
  const wanted = FOREIGN_NAMES[plain];
  const similar = wanted !== undefined && known.includes(wanted) ? [wanted] : similarNames(name, known);
  const beside = similar.map((each) => before + each);
  const meant =
    beside.length > 0 ? beside : (names.paths ?? []).filter((path) => isMeant(getOptionName(path), name, wanted));
  if (meant.length > 0) return `did you mean ${EITHER.format(meant.map((path) => names.of(path)))}?`;
  return Object.hasOwn(REPLACEMENTS, plain) ? REPLACEMENTS[plain] : undefined;
}

function isMeant(option: string, name: string, wanted: string | undefined): boolean {
  return option === wanted || option === name || similarNames(name, [option]).length > 0;
}

/** The paths of the settings of groups. */
export function pathsOf(groups: Readonly<Record<string, object>>): string[] {
  return Object.entries(groups).flatMap(([group, known]) => Object.keys(known).map((name) => `${group}.${name}`));
}

function getOptionName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** Checks each setting separately, so that one problem does not hide the next. */
export function problemsOfGroup(
  group: string,
  known: Readonly<Record<string, Setting>>,
  given: unknown,
  names: Names = PLAIN_NAMES,
): string[] {
  if (!isRecord(given)) return [describeSettingProblem(group, { kind: settings }, given) ?? []].flat();
  const problems = [
    ...unknownNames(given, Object.keys(known), names, `${group}.`),
    ...problemsOfValues(given, known, names, `${group}.`),
  ];
  return problems.length > 0 ? problems : problemsOfSwitch(group, known, given, names);
}

/** Refuses settings of what is off unless it is enabled, if nothing says whether it is. */
export function problemsOfSwitch(
  group: string,
  known: Readonly<Record<string, Setting>>,
  given: Options,
  names: Names,
): string[] {
  if (known.enabled?.default !== false || given.enabled !== undefined) return [];
  const idle = Object.keys(known).filter((name) => given[name] !== undefined);
  if (idle.length === 0) return [];
  const listed = ALL.format(idle.map((name) => names.of(`${group}.${name}`)));
  return [
    `${listed} ${idle.length > 1 ? 'have' : 'has'} no effect without ${names.of(`${group}.enabled`)}; set it to true, or to false.`,
  ];
}

export function problemsOfValues(
  given: Options,
  known: Readonly<Record<string, Setting>>,
  names: Names,
  before = '',
): string[] {
  return Object.entries(known).flatMap(
    ([name, setting]) => describeSettingProblem(names.of(`${before}${name}`), setting, given[name]) ?? [],
  );
}

/** Options that have no effect beside a client or DataSource of the app. */
export function besides(
  given: Options,
  own: string,
  others: readonly string[],
  { names, before }: { readonly names: Names; readonly before: string },
): string[] {
  return others
    .filter((name) => given[name] !== undefined)
    .map((name) => `${names.of(before + name)} has no effect with ${names.of(before + own)}; remove one of the two.`);
}

/** Names of options that are written as they are. */
export const PLAIN_NAMES: Names = {
  of: (path) => path,
  given: (path) => [path],
  group: (path) => path,
  missingDatabase: ['database is missing; the typeorm provider needs { database: path }, { url } or { dataSource }.'],
  example: (url) => {
    if (url.startsWith('redis')) return `{ provider: 'redis', redis: { url: '${url}' } }`;
    const place = url.startsWith('sqlite:') ? `database: '${url.slice('sqlite:'.length)}'` : `url: '${url}'`;
    return `{ provider: 'typeorm', database: { ${place} } }`;
  },
  insteadOfProvider: ', or give a storage of your own',
};
