/** Where Redis is and how to log in, in the words of ioredis. */
export interface RedisAddress {
  readonly url?: string;
  readonly connection?: Readonly<Record<string, unknown>>;
  readonly cluster?: readonly HostAndPort[];
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

const LIST = /^redis-(?<kind>sentinel|cluster):\/\/(?:(?<login>[^@/]*)@)?(?<hosts>[^/?]+)(?:\/(?<name>[^/?]+))?$/;
export const HIGHEST_PORT = 65_535;
const USUAL_PORT = { sentinel: 26_379, cluster: 6_379 };

/**
 * Takes an address of Redis apart: of one node, of Sentinels with the name of what they watch, or of some
 * nodes of a cluster. `undefined` where it is none.
 */
export function redisAddress(url: string): RedisAddress | undefined {
  if (/^rediss?:/.test(url)) return isRedisUrl(url) ? { url } : undefined;
  const { kind, login = '', hosts = '', name } = LIST.exec(url)?.groups ?? {};
  if (kind !== 'sentinel' && kind !== 'cluster') return undefined;
  const connection = loginOf(login);
  const nodes = hosts.split(',').map((host) => hostAndPort(host, USUAL_PORT[kind]));
  if (connection === undefined || nodes.some((node) => node === undefined)) return undefined;
  const known = nodes as HostAndPort[];
  if (kind === 'cluster') return name === undefined ? { cluster: known, connection } : undefined;
  return name === undefined ? undefined : { connection: { ...connection, sentinels: known, name } };
}

/** Whether a URL names one node of Redis; behind it may stand the number of a database, and nothing else. */
export function isRedisUrl(url: string): boolean {
  if (!isReadable(url)) return false;
  const { protocol, pathname } = new URL(url);
  return /^rediss?:$/.test(protocol) && /^\/?\d*$/.test(pathname);
}

/** Whether a URL can be taken apart, its login included, which is encoded. */
export function isReadable(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, username, password } = new URL(url);
  return hostname !== '' && decoded(username) !== undefined && decoded(password) !== undefined;
}

/** Whether this is a name or an address of a machine, and nothing else. */
export function isHost(text: string): boolean {
  return /^(\[[^\]/?#@\s]+\]|[^:/?#@\s]+)$/.test(text) || isIpv6(text);
}

/** Whether it is an address of many colons, without brackets around it. */
export function isIpv6(text: string): boolean {
  return /^[^[\]/?#@\s:]*:[^[\]/?#@\s]*:[^[\]/?#@\s]*$/.test(text);
}

function loginOf(login: string): Record<string, unknown> | undefined {
  if (login === '') return {};
  const colon = login.indexOf(':');
  const username = decoded(login.slice(0, Math.max(0, colon)));
  const password = decoded(login.slice(colon + 1));
  if (username === undefined || password === undefined) return undefined;
  return { ...(username && { username }), password };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function hostAndPort(text: string, usualPort: number): HostAndPort | undefined {
  const found = /^(?<host>\[[^\]]+\]|[^:]+)(?::(?<port>\d+))?$/.exec(text.trim())?.groups;
  const port = Number(found?.port ?? usualPort);
  if (found?.host === undefined || !isHost(found.host) || port < 1 || port > HIGHEST_PORT) return undefined;
  return { host: found.host.replaceAll(/^\[|\]$/g, ''), port };
}
