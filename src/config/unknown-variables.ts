/**
 * Reports unknown variables with our prefixes. They would be ignored silently, and most of them are typing errors.
 */
export function problemsOfNames(env: NodeJS.ProcessEnv, known: readonly string[], prefix: string): string[] {
  const services = servicesOf(env);
  const unknown = Object.keys(env).filter(
    (name) =>
      name.startsWith(prefix) && !known.includes(name) && env[name]?.trim() !== '' && !isOfAService(name, services),
  );
  return unknown.map((name) => {
    const meant = withoutPrefix(name, known, prefix) ?? nearest(name, known);
    return meant === undefined
      ? `${name} is not known; docs/configuration.md lists what is.`
      : `${name} is not known; did you mean ${meant}?`;
  });
}

const HOST_OF_SERVICE = '_SERVICE_HOST';

/** Kubernetes sets variables for every service: one named `sessions` sets `SESSIONS_PORT`. */
function servicesOf(env: NodeJS.ProcessEnv): string[] {
  const hosts = Object.keys(env).filter((name) => name.endsWith(HOST_OF_SERVICE));
  return hosts.map((name) => name.slice(0, -HOST_OF_SERVICE.length));
}

function isOfAService(name: string, services: readonly string[]): boolean {
  return services.some(
    (service) => name.startsWith(service) && /^_(SERVICE|PORT)(_|$)/.test(name.slice(service.length)),
  );
}

/** Some names are shared with others, and begin with what they are about: `REDIS_HOST`. */
function withoutPrefix(name: string, known: readonly string[], prefix: string): string | undefined {
  const rest = name.slice(prefix.length);
  return known.includes(rest) ? rest : undefined;
}

/** Maximum edit distance of a suggestion. */
const MOST_SLIPS = 3;

function nearest(name: string, known: readonly string[]): string | undefined {
  const slips = known.map((candidate) => ({ candidate, count: slipsBetween(name, candidate) }));
  const [best] = slips.sort((one, other) => one.count - other.count);
  return best !== undefined && best.count <= MOST_SLIPS ? best.candidate : undefined;
}

/** The Levenshtein distance. */
function slipsBetween(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...one].entries()) {
    const row = [index + 1];
    for (let column = 1; column <= other.length; column++) {
      const swapped = at(above, column - 1) + (letter === other[column - 1] ? 0 : 1);
      row.push(Math.min(swapped, at(above, column) + 1, at(row, column - 1) + 1));
    }
    above = row;
  }
  return at(above, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
