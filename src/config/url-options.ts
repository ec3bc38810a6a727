import { type TlsChoice, type TlsSettings, type TlsText, tlsFromText, tlsSettingsOf } from './tls-settings.js';

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

type Mode = NonNullable<TlsText['mode']>['verify'];

/** The options of one kind of server: those for the TLS mode, with their values, those that name a file, and those for the driver. */
interface OptionKinds {
  readonly modes: Readonly<Record<string, Readonly<Record<string, Mode>>>>;
  readonly files: Readonly<Record<keyof TlsText['files'], string>>;
  readonly passedOn: readonly string[];
}

const SSL: Readonly<Record<string, Mode>> = {
  true: 'full',
  1: 'full',
  false: 'off',
  0: 'off',
  'no-verify': 'none',
  '{"rejectunauthorized":true}': 'full',
  '{"rejectunauthorized":false}': 'none',
};

/** `require` and `REQUIRED` verify as well. To skip that, `no-verify` must be written out. */
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

/** Parses the options of a database address. Unknown options are problems. */
export function databaseUrlOptions(url: string, names: UrlNames): UrlOptions {
  const problems = problemsOfText(url, names);
  if (problems.length > 0) return { problems };
  const { modes, files, passedOn } = kindsOf(url);
  const { searchParams: options } = new URL(url);
  const known = [...Object.keys(modes), ...Object.values(files), ...passedOn];
  for (const name of options.keys()) {
    if (!known.includes(name)) problems.push(unknownOption(name, names, known));
  }
  const given = [...options].filter(([name]) => Object.hasOwn(modes, name));
  if (given.length > 1) {
    problems.push(`${names.url} says ${given.map(([name]) => name).join(' and ')}; it must say one of them, once.`);
  }
  const [name = '', value = ''] = given[0] ?? [];
  const values = modes[name];
  const verify = values && own(values, normal(value));
  if (values && verify === undefined) problems.push(unknownMode(name, value, Object.keys(values), names));
  const file = (part: keyof TlsText['files']): TlsText['files'][typeof part] => ({
    name: `${files[part]} of ${names.url}`,
    path: options.get(files[part]) ?? undefined,
  });
  const ca = file('ca');
  const tls = tlsFromText(
    {
      mode: verify && { name: `${name} of ${names.url}`, verify },
      files: { ca: ca.path === 'system' ? { ...ca, path: undefined } : ca, cert: file('cert'), key: file('key') },
    },
    problems,
  );
  return problems.length > 0 || tls === undefined ? { problems } : { problems, tls };
}

/** The address with only the driver's options. */
export function urlForDriver(url: string): string {
  const { passedOn } = kindsOf(url);
  const options = [...new URL(url).searchParams].filter(([name]) => passedOn.includes(name));
  const address = url.replace(/[?#].*$/s, '');
  return options.length > 0 ? `${address}?${new URLSearchParams(options).toString()}` : address;
}

function kindsOf(url: string): OptionKinds {
  return /^postgres/i.test(url) ? POSTGRES : MYSQL;
}

/** Parses the options of a Redis address. The scheme `rediss://` switches TLS on. */
export function redisUrlOptions(url: string, names: UrlNames): UrlOptions {
  const problems = problemsOfText(url, names);
  if (problems.length > 0) return { problems };
  for (const [name, value] of new URL(url).searchParams) {
    if (name !== 'family') problems.push(unknownOption(name, names, ['family']));
    else if (!/^[046]$/.test(value)) problems.push(`${names.url} has an invalid family; it must be 0, 4 or 6.`);
  }
  return { problems, ...(/^rediss/i.test(url) && { tls: true }) };
}

/** A list of hosts, such as that of a cluster, has no options. */
export function hostListProblems(url: string, names: UrlNames): string[] {
  const [, search = ''] = url.split('?', 2);
  if (search.includes('@')) return [misplacedSign(names)];
  return [...new URLSearchParams(search).keys()].map((name) => unknownOption(name, names, []));
}

/** The rest of a password that contains `?` or `#` would be shown as an option. */
function problemsOfText(url: string, names: UrlNames): string[] {
  const { search, hash } = new URL(url);
  if (hash === '' && !search.includes('@')) return [];
  return [misplacedSign(names)];
}

function misplacedSign({ url }: UrlNames): string {
  return `${url} has a ? or # that is part of a name or a password; write it as %3F or %23.`;
}

function unknownOption(name: string, { url, tls }: UrlNames, known: readonly string[]): string {
  const shown = SHOWABLE.test(name) ? `the option ${name}` : 'an option';
  const others = known.length > 0 ? ` Supported are ${known.join(', ')}.` : '';
  const advice = /ssl|tls/i.test(name) ? ` Configure TLS with ${tls}.` : '';
  return `${url} has ${shown}, which is not supported; remove it.${others}${advice}`;
}

function unknownMode(name: string, value: string, values: readonly string[], { url, tls }: UrlNames): string {
  const known = values.filter((each) => !/[{\d]/.test(each));
  const why = PLAIN_TEXT_FALLBACKS.has(normal(value)) ? 'which may connect in plain text' : 'which is not supported';
  const shown = SHOWABLE.test(value) ? `${name}=${value}` : name;
  return `${url} says ${shown}, ${why}; it must be one of ${known.join(', ')}, or leave it to ${tls}.`;
}

/** Ignores inherited properties such as `constructor`. */
function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function normal(value: string): string {
  return value.replaceAll(/\s/g, '').toLowerCase();
}

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
  return `${places.join(' and ')} both configure TLS; use only one of them.`;
}
