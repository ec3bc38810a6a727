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
  /^redis(?<secure>s?)-(?<kind>sentinel|cluster):\/\/(?:(?<login>[^@/]*)@)?(?<hosts>[^@/?]+)(?:\/(?<name>[^/?]+))?$/;

/**
 * Parses an address of Redis: one node, Sentinels with the name of their master, or nodes of a cluster. Only the first is an address
 * for ioredis, too. Returns `undefined` for invalid addresses.
 */
export function redisAddress(url: string): RedisAddress | undefined {
  if (/^rediss?:/.test(url)) return isRedisUrl(url) ? { url } : undefined;
  const { secure, kind, login = '', hosts = '', name } = LIST.exec(url)?.groups ?? {};
  if ((kind === 'sentinel') !== (name !== undefined)) return undefined;
  const credentials = login && `${login.includes(':') ? '' : ':'}${login}@`;
  const urls = hosts.split(',').map((host) => `redis://${credentials}${host.trim()}`);
  if (!urls.every((each) => isRedisUrl(each))) return undefined;
  const nodes = urls.map((each): HostAndPort => {
    const { hostname, port } = new URL(each);
    return { host: hostname.replaceAll(/^\[|\]$/g, ''), port: Number(port || (name === undefined ? 6_379 : 26_379)) };
  });
  const { username, password } = new URL(urls[0] ?? '');
  const connection = {
    ...(username && { username: decodeURIComponent(username) }),
    ...(login && { password: decodeURIComponent(password) }),
  };
  return {
    ...(secure && { tls: true }),
    ...(name === undefined
      ? { cluster: nodes, connection }
      : { connection: { ...connection, sentinels: nodes, name } }),
  };
}

/** Whether a URL names one node of Redis, with an optional database number and nothing else. */
export function isRedisUrl(url: string): boolean {
  if (!isDecodable(url)) return false;
  const { protocol, hostname, port, pathname } = new URL(url);
  return hostname !== '' && port !== '0' && /^rediss?:$/.test(protocol) && /^\/?\d*$/.test(pathname);
}

/** Whether a URL can be parsed, including its encoded credentials. */
export function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return URL.canParse(url);
  } catch {
    return false;
  }
}
