import { ConfigurationError } from './configuration-error.js';
import {
  STORE_OPTIONS,
  problemsOfDatabase,
  problemsOfRedis,
  problemsOfVertex,
  problemsWithVertex,
} from './check-store-options.js';
import {
  type Names,
  type Options,
  PLAIN_NAMES,
  pathsOf,
  problemsOfGroup,
  problemsOfValues,
  unknownNames,
} from './option-checks.js';
import { COMMON, SERVICE_ONLY, SETTING_GROUPS } from './session-settings.js';
import { isRecord } from './setting.js';

/** The services, by the store that they make. */
export type ServiceName =
  | 'SessionService'
  | 'InMemorySessionService'
  | 'RedisSessionService'
  | 'DatabaseSessionService'
  | 'VertexSessionService';

const SERVICE_OPTIONS = [...Object.keys(COMMON), ...Object.keys(SERVICE_ONLY), ...Object.keys(SETTING_GROUPS)];

/**
 * Checks the options of a service, before anything is opened. Reports all problems at once.
 *
 * @throws ConfigurationError
 */
export function checkServiceOptions(service: ServiceName, options: unknown): void {
  if (!isRecord(options)) throw new ConfigurationError([`The options of ${service} are missing; it needs an object.`]);
  const problems = [
    ...STORE_PROBLEMS[service](options),
    ...Object.entries(SETTING_GROUPS).flatMap(([group, known]) => problemsOfGroup(group, known, options[group], PLAIN)),
    ...problemsOfValues(options, { ...COMMON, ...SERVICE_ONLY }, PLAIN),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/**
 * Refuses unknown options of a store. Their values are checked when it opens.
 *
 * @throws ConfigurationError
 */
export function checkStoreOptionNames(store: keyof typeof STORE_OPTIONS, options: object): void {
  const known = [...STORE_OPTIONS[store], ...STORE_ONLY[store], 'clock'];
  const problems = unknownNames({ ...options }, known, { ...PLAIN_NAMES, paths: STORE_OPTIONS[store] });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/** Options that settings do not have. */
const STORE_ONLY = { redis: [], database: ['driver'], vertex: [] } as const;

const PLAIN: Names = { ...PLAIN_NAMES, paths: pathsOf(SETTING_GROUPS) };

/** The options of the store stand beside those of the service. */
function namesIn(service: ServiceName, store: keyof typeof STORE_OPTIONS): Names {
  const before = `${store}.`;
  const of = (path: string): string => (path.startsWith(before) ? path.slice(before.length) : path);
  return {
    ...PLAIN,
    of,
    given: (path) => [of(path)],
    group: () => service,
    paths: [...STORE_OPTIONS[store].map((name) => before + name), ...pathsOf(SETTING_GROUPS)],
  };
}

const STORE_PROBLEMS: Readonly<Record<ServiceName, (options: Options) => readonly string[]>> = {
  SessionService: (options) => [
    ...unknownNames(options, ['storage', ...SERVICE_OPTIONS], PLAIN),
    ...(isRecord(options.storage) && typeof options.storage.append === 'function'
      ? []
      : ['storage is no store; give one, such as new InMemorySessionStorage().']),
  ],
  InMemorySessionService: (options) => unknownNames(options, SERVICE_OPTIONS, PLAIN),
  RedisSessionService: (options) => problemsOfRedis(options, namesIn('RedisSessionService', 'redis'), SERVICE_OPTIONS),
  DatabaseSessionService: (options) =>
    problemsOfDatabase(options, namesIn('DatabaseSessionService', 'database'), [
      ...STORE_ONLY.database,
      ...SERVICE_OPTIONS,
    ]),
  VertexSessionService: (options) => [
    ...problemsOfVertex(options, namesIn('VertexSessionService', 'vertex'), SERVICE_OPTIONS),
    ...problemsWithVertex(options),
  ],
};
