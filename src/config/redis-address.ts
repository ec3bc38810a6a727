/** Address and credentials of Redis, as options of ioredis. */
export interface RedisAddress {
  readonly url?: string;
  readonly connection?: Readonly<Record<string, unknown>>;
  readonly cluster?: readonly HostAndPort[];
  /** Whether the scheme of a list of hosts is `rediss-…`. For one node the URL says it. */
  readonly tls?: true;
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

const LIST =
  /^redis(?<secure>s?)-(?<kind>sentinel|cluster):\/\/(?:(?<login>[^@/]*)@)?(?<hosts>[^/?]+)(?:\/(?<name>[^/?]+))?$/;
export const HIGHEST_PORT = 65_535;
const USUAL_PORT = { sentinel: 26_379, cluster: 6_379 };

/**
 * Parses an address of Redis: one node, Sentinels with the name of their master, or nodes of a cluster. Returns
 * `undefined` for invalid addresses.
 */
export function redisAddress(url: string): RedisAddress | undefined {
  if (/^rediss?:/.test(url)) return isRedisUrl(url) ? { url } : undefined;
  const { secure, kind, login = '', hosts = '', name } = LIST.exec(url)?.groups ?? {};
  if (kind !== 'sentinel' && kind !== 'cluster') return undefined;
  const connection = loginOf(login);
  const nodes = hosts.split(',').map((host) => hostAndPort(host, USUAL_PORT[kind]));
  if (connection === undefined || nodes.some((node) => node === undefined)) return undefined;
  const known = nodes as HostAndPort[];
  const tls = secure ? ({ tls: true } as const) : {};
  if (kind === 'cluster') return name === undefined ? { ...tls, cluster: known, connection } : undefined;
  return name === undefined ? undefined : { ...tls, connection: { ...connection, sentinels: known, name } };
}

/** Whether a URL names one node of Redis, with an optional database number and nothing else. */
export function isRedisUrl(url: string): boolean {
  if (!isDecodable(url)) return false;
  const { protocol, hostname, pathname } = new URL(url);
  return hostname !== '' && /^rediss?:$/.test(protocol) && /^\/?\d*$/.test(pathname);
}

/** Whether a URL can be parsed, including its encoded credentials. */
export function isDecodable(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return decoded(username) !== undefined && decoded(password) !== undefined;
}

/** A host name or address, and nothing else. IPv6 addresses need no brackets. */
export const HOST = /^(\[[^\]/?#@\s]+\]|[^:/?#@\s]+|[^[\]/?#@\s:]*:[^[\]/?#@\s]*:[^[\]/?#@\s]*)$/;

export function isHost(text: string): boolean {
  return HOST.test(text);
}

/** Whether it is an IPv6 address without brackets. */
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
