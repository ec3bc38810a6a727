import { validateSync } from 'class-validator';
import { ConfigurationError } from './configuration-error.js';
import type { Variable } from './variables.js';

const UNSHOWN = 'cannot be read (its value is not shown)';

/** The parsed and checked values of an environment, and the problems of the others. */
export interface CheckedEnvironment {
  readonly values: CheckedVariables;
  /** By variable name. */
  readonly problems: ReadonlyMap<string, string>;
}

export type CheckedVariables = ReadonlyMap<string, unknown>;

/** Reads the variables that are set. Blank variables count as not set. */
export function readEnvironment(env: NodeJS.ProcessEnv, variables: readonly Variable[]): CheckedEnvironment {
  const given = variables.flatMap((variable) => {
    const text = env[variable.name]?.trim();
    return text ? [{ variable, text }] : [];
  });
  const Environment = classFor(given.map(({ variable }) => variable));
  const environment = new Environment();
  for (const { variable, text } of given) environment[variable.name] = variable.kind.read(text);
  const errors = validateSync(environment, { stopAtFirstError: true, forbidUnknownValues: false });
  const problems = new Map(
    errors.map(({ property, constraints = {} }) => [property, Object.values(constraints)[0] ?? property] as const),
  );
  return { values: new Map(Object.entries(environment).filter(([name]) => !problems.has(name))), problems };
}

/** Builds a class for class-validator, with the checks of each variable. */
function classFor(variables: readonly Variable[]): new () => Record<string, unknown> {
  class Environment {
    [name: string]: unknown;
  }
  for (const variable of variables) {
    const { name, kind } = variable;
    const message = ({ value }: { value: unknown }): string => problemOf(variable, value);
    for (const check of kind.checks({ message })) check(Environment.prototype, name);
  }
  return Environment;
}

function problemOf({ name, kind, isSecret }: Variable, value: unknown): string {
  return `${name} ${isSecret ? UNSHOWN : shown(value)}; it must be ${kind.allowed}.${kind.hint?.(value) ?? ''}`;
}

/** Hides addresses, since they may contain a password, in any variable. */
export function shown(value: unknown): string {
  return String(value).includes('@') ? UNSHOWN : `is ${JSON.stringify(value)}`;
}

/** The error for text that passes the checks and still cannot be parsed. */
export function unreadable({ name, kind }: Variable): ConfigurationError {
  return new ConfigurationError([`${name} ${UNSHOWN}; it must be ${kind.allowed}.`]);
}
