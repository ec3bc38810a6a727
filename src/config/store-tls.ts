import { type TlsChoice, type TlsSettings, tlsSettingsOf } from './tls-settings.js';
import { type UrlNames, type UrlOptions, databaseUrlOptions, redisUrlOptions } from './url-options.js';

/** TLS of a store's connections, from its address and settings. */
export interface StoreTls {
  /** `false` for plain text, `undefined` if not configured. */
  readonly tls?: TlsSettings | false | undefined;
  readonly problems: readonly string[];
}

interface DatabasePlace {
  readonly url: string;
  readonly tls?: TlsChoice | undefined;
  readonly driverOptions?: Readonly<Record<string, unknown>> | undefined;
}

/** TLS of a SQL server. Only one place may configure it, since two could contradict each other. */
export function databaseTls({ url, tls, driverOptions }: DatabasePlace, names: UrlNames): StoreTls {
  const ofUrl = databaseUrlOptions(url, names);
  const said = [
    ...(ofUrl.tls === undefined ? [] : [`the options of ${names.url}`]),
    ...(tls === undefined ? [] : [names.tls]),
    ...(driverOptions?.ssl === undefined ? [] : ['driverOptions.ssl']),
  ];
  const problems = [...ofUrl.problems, ...(said.length > 1 ? [sayOnce(said)] : [])];
  const chosen = tls ?? ofUrl.tls;
  return { problems, ...(chosen !== undefined && { tls: tlsSettingsOf(chosen) }) };
}

interface RedisPlace {
  readonly url?: string | undefined;
  readonly tls?: TlsChoice | undefined;
  /** Nodes given as text may be addresses. */
  readonly cluster?: readonly unknown[] | undefined;
  readonly connection?: object | undefined;
}

/** TLS of Redis. The scheme of the address may enable TLS, and the setting configures it. */
export function redisTls({ url, tls, cluster = [], connection = {} }: RedisPlace, names: UrlNames): StoreTls {
  const addresses = [
    ...(url === undefined ? [] : [{ address: url, name: names.url }]),
    ...cluster.flatMap((node, index) =>
      typeof node === 'string' && URL.canParse(node) && node.includes('://')
        ? [{ address: node, name: `cluster[${index}]` }]
        : [],
    ),
  ];
  const found = addresses.map(({ address, name }): UrlOptions => redisUrlOptions(address, { ...names, url: name }));
  const isSecure = found.some((each) => each.tls === true);
  const ofClient = (connection as { readonly tls?: unknown }).tls;
  const problems = found.flatMap((each) => each.problems);
  if (isSecure && tls === false) problems.push(`${names.url} says rediss://, but ${names.tls} switches TLS off.`);
  if (tls !== undefined && ofClient !== undefined) problems.push(sayOnce([names.tls, 'connection.tls']));
  const chosen = tls ?? (isSecure && ofClient === undefined ? true : undefined);
  return { problems, ...(chosen !== undefined && { tls: tlsSettingsOf(chosen) }) };
}

function sayOnce(places: readonly string[]): string {
  return `${places.join(' and ')} both say how to encrypt; say it in one place.`;
}
