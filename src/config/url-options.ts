import type { ConnectionOptions } from 'node:tls';
import { type TlsChoice, type TlsMode, type TlsParts, tlsFromText, tlsOptionsOf } from './tls-settings.js';

/** The parsed options after the `?` of an address, and their problems. */
export interface UrlOptions {
  /** Missing if no option is about TLS. */
  readonly tls?: TlsChoice | undefined;
  readonly problems: readonly string[];
}

/** Names for messages: of the address, and of the equivalent setting. */
export interface UrlNames {
  readonly url: string;
  readonly tls: string;
}

/** The options of one kind of server: those for the TLS mode, with their values, those that name a file, and those for the driver. */
interface OptionKinds {
  readonly modes: Readonly<Record<string, Readonly<Record<string, TlsMode>>>>;
  readonly files: TlsParts;
  readonly passedOn: readonly string[];
}

const SSL: Readonly<Record<string, TlsMode>> = {
  true: 'full',
  1: 'full',
  false: 'off',
  0: 'off',
  'no-verify': 'none',
  '{"rejectunauthorized":true}': 'full',
  '{"rejectunauthorized":false}': 'none',
};

/**
 * Options for TLS are translated here, because drivers get them wrong in silence. TypeORM drops all options of MySQL, and mysql2 does not
 * know `ssl-mode`. pg encrypts at `ssl=false`, takes an unknown `sslmode` for `verify-full`, and `system` for a file; at `verify-ca` it
 * checks the host, too. `require` and `REQUIRED` verify as well. To skip that, `no-verify` must be written out.
 */
const POSTGRES: OptionKinds = {
  modes: {
    sslmode: { disable: 'off', require: 'full', 'verify-ca': 'ca', 'verify-full': 'full', 'no-verify': 'none' },
    ssl: SSL,
  },
  files: { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' },
  passedOn: ['host', 'application_name', 'options'],
};
const MYSQL: OptionKinds = {
  modes: {
    'ssl-mode': { disabled: 'off', required: 'full', verify_ca: 'ca', verify_identity: 'full', 'no-verify': 'none' },
    ssl: SSL,
  },
  files: { ca: 'ssl-ca', cert: 'ssl-cert', key: 'ssl-key' },
  passedOn: [],
};

/** Modes that may fall back to plain text. */
const PLAIN_TEXT_FALLBACKS = new Set(['allow', 'prefer', 'preferred']);
const SHOWABLE = /^[a-z][\w.-]{0,40}$/i;

function chooseOptionKinds(url: string): OptionKinds {
  return /^postgres/i.test(url) ? POSTGRES : MYSQL;
}

/** Parses the options of a database address. Unknown options are problems. */
export function databaseUrlOptions(url: string, names: UrlNames): UrlOptions {
  const { modes, files, passedOn } = chooseOptionKinds(url);
  const { problems, options } = readOptions(url, names, [...Object.keys(modes), ...Object.values(files), ...passedOn]);
  const given = [...options].filter(([name]) => Object.hasOwn(modes, name));
  if (given.length > 1) {
    problems.push(`${names.url} says ${given.map(([name]) => name).join(' and ')}; it must say one of them, once.`);
  }
  const [name = '', value = ''] = given[0] ?? [];
  const mode = Object.entries(modes[name] ?? {}).find(([known]) => known === normal(value))?.[1];
  if (given.length > 0 && mode === undefined) problems.push(unknownMode(name, value, modes, names));
  // What Node trusts, which is the default.
  if (options.get(files.ca) === 'system') options.delete(files.ca);
  const tls = tlsFromText(
    {
      mode: mode && { name: `${name} of ${names.url}`, verify: mode },
      files,
      nameOf: (file) => `${file} of ${names.url}`,
      pathOf: (file) => options.get(file) ?? undefined,
    },
    problems,
  );
  return { problems, ...(problems.length === 0 && tls !== undefined && { tls }) };
}

/** The address with only the driver's options. */
export function urlForDriver(url: string): string {
  const { passedOn } = chooseOptionKinds(url);
  const options = [...new URL(url).searchParams].filter(([name]) => passedOn.includes(name));
  return `${url.replace(/[?#].*$/s, '')}${options.length > 0 ? '?' : ''}${new URLSearchParams(options).toString()}`;
}

/** Parses the options of a Redis address. The scheme `rediss://` switches TLS on. */
export function redisUrlOptions(url: string, names: UrlNames): UrlOptions {
  const { problems, options } = readOptions(url, names, ['family']);
  if (!/^[046]$/.test(options.get('family') ?? '0')) {
    problems.push(`${names.url} has an invalid family; it must be 0, 4 or 6.`);
  }
  return { problems, ...(/^rediss:/i.test(url) && { tls: true }) };
}

/** A list of hosts, such as that of a cluster, has no options. */
export function hostListProblems(url: string, names: UrlNames): readonly string[] {
  return readOptions(url, names, []).problems;
}

/** The options of an address. Those that are not known are problems: drivers ignore them, or take them for settings of their own. */
function readOptions(
  url: string,
  { url: address, tls }: UrlNames,
  known: readonly string[],
): { problems: string[]; options: URLSearchParams } {
  const options = new URLSearchParams(/\?.*/s.exec(url)?.[0]);
  // The rest of a password that contains one of these would be shown as an option.
  if (/\?.*@|#/s.test(url)) {
    const problem = `${address} has a ? or # that is part of a name or a password; write it as %3F or %23.`;
    return { problems: [problem], options: new URLSearchParams() };
  }
  const others = known.length > 0 ? ` Supported are ${known.join(', ')}.` : '';
  const unknown = [...options.keys()].filter((name) => !known.includes(name));
  const problems = unknown.map((name) => {
    const shown = SHOWABLE.test(name) ? `the option ${name}` : 'an option';
    const advice = /ssl|tls/i.test(name) ? ` Configure TLS with ${tls}.` : '';
    return `${address} has ${shown}, which is not supported; remove it.${others}${advice}`;
  });
  return { problems, options };
}

function unknownMode(name: string, value: string, modes: OptionKinds['modes'], { url, tls }: UrlNames): string {
  const known = Object.keys(modes[name] ?? {}).filter((each) => !/[{\d]/.test(each));
  const why = PLAIN_TEXT_FALLBACKS.has(normal(value)) ? 'which may connect in plain text' : 'which is not supported';
  const shown = SHOWABLE.test(value) ? `${name}=${value}` : name;
  return `${url} says ${shown}, ${why}; it must be one of ${known.join(', ')}, or leave it to ${tls}.`;
}

function normal(value: string): string {
  return value.replaceAll(/\s/g, '').toLowerCase();
}

/** TLS of a store's connections, from its address and settings. */
export interface StoreTls {
  /** `false` for plain text, `undefined` if not configured. */
  readonly tls?: ConnectionOptions | false | undefined;
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
  return { problems, tls: tlsOptionsOf(tls ?? ofUrl.tls) };
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
    { node: url, name: names.url },
    ...cluster.map((node, index) => ({ node, name: `cluster[${index}]` })),
  ];
  const found = addresses.flatMap(({ node, name }) =>
    typeof node === 'string' ? [redisUrlOptions(node, { ...names, url: name })] : [],
  );
  const isSecure = found.some((each) => each.tls === true);
  const ofClient = (connection as { readonly tls?: unknown }).tls;
  const problems = found.flatMap((each) => each.problems);
  if (isSecure && tls === false) problems.push(`${names.url} says rediss://, but ${names.tls} switches TLS off.`);
  if (tls !== undefined && ofClient !== undefined) problems.push(sayOnce([names.tls, 'connection.tls']));
  return { problems, tls: tlsOptionsOf(tls ?? (isSecure && ofClient === undefined ? true : undefined)) };
}

function sayOnce(places: readonly string[]): string {
  return `${places.join(' and ')} both configure TLS; use only one of them.`;
}
