import { type Variable, describeSettingProblem } from './setting.js';

/** The values of the variables that are set. */
export interface Reading {
  readonly values: ReadonlyMap<string, unknown>;
  /** What is wrong with the others, by name. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Parses and checks the variables that are set. Blank variables count as not set. */
export function readVariables(env: NodeJS.ProcessEnv, variables: readonly Variable[]): Reading {
  const values = new Map<string, unknown>();
  const problems = new Map<string, string>();
  for (const variable of variables) {
    const { name, kind } = variable;
    const given = env[name]?.trim();
    if (!given) continue;
    const value = kind.read(given);
    const problem = describeSettingProblem(name, variable, value);
    if (problem === undefined) values.set(name, value);
    else problems.set(name, problem);
  }
  return { values, problems };
}

/** The options of a group whose variables hold them as they are. */
export function optionsIn(
  values: Reading['values'],
  variables: readonly Variable[],
  group: string,
): Readonly<Record<string, unknown>> {
  const ofGroup = variables.filter(({ path, isOption }) => isOption && path.startsWith(`${group}.`));
  const given = ofGroup.filter(({ name }) => values.has(name));
  return Object.fromEntries(given.map(({ name, path }) => [path.slice(group.length + 1), values.get(name)]));
}

const EITHER = new Intl.ListFormat('en', { type: 'disjunction' });

/** Unknown variables with our prefixes would have no effect, and most of them are typing errors. */
export function problemsOfNames(env: NodeJS.ProcessEnv, known: readonly string[], prefix: string): string[] {
  const unknown = Object.keys(env).filter((name) => {
    const value = env[name]?.trim() ?? '';
    return name.startsWith(prefix) && value !== '' && !known.includes(name) && !isOfKubernetes(name, value);
  });
  return unknown.map((name) => {
    const similar = similarNames(name, known, prefix);
    const hint =
      similar.length > 0 ? `did you mean ${EITHER.format(similar)}?` : 'docs/configuration.md lists what is.';
    return `${name} is not known; ${hint}`;
  });
}

/** Kubernetes sets variables for every Service: for one named `sessions`, SESSIONS_SERVICE_HOST and SESSIONS_PORT=tcp://… */
function isOfKubernetes(name: string, value: string): boolean {
  return /_SERVICE_(HOST|PORT(_.+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_.+)?$/.test(name) || /^(tcp|udp|sctp):/.test(value);
}

/** The known name without the prefix, such as REDIS_HOST, else the known names that differ in the last word. */
function similarNames(name: string, known: readonly string[], prefix: string): readonly string[] {
  const withoutPrefix = name.slice(prefix.length);
  if (known.includes(withoutPrefix)) return [withoutPrefix];
  return known.filter((other) => withoutLastWord(other) === withoutLastWord(name));
}

function withoutLastWord(name: string): string {
  return name.slice(0, name.lastIndexOf('_'));
}
