import { readFileSync } from 'node:fs';
import { type TlsChoice, type TlsSettings, isPem } from './tls-settings.js';

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

type Mode = NonNullable<TlsSettings['verify']> | 'off';

/** The options of one kind of server: those that say how to encrypt, with their values, those that name a file, and those for the driver. */
interface OptionKinds {
  readonly modes: Readonly<Record<string, Readonly<Record<string, Mode>>>>;
  readonly files: Readonly<Record<string, 'ca' | 'cert' | 'key'>>;
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

/** `require` and `REQUIRED` verify as well: a server that nobody verifies has to be asked for by name. */
const POSTGRES: OptionKinds = {
  modes: {
    sslmode: { disable: 'off', require: 'full', 'verify-ca': 'ca', 'verify-full': 'full', 'no-verify': 'none' },
    ssl: SSL,
  },
  files: { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' },
  passedOn: ['host', 'application_name', 'options'],
};
const MYSQL: OptionKinds = {
  modes: {
    'ssl-mode': { disabled: 'off', required: 'full', verify_ca: 'ca', verify_identity: 'full', 'no-verify': 'none' },
    ssl: SSL,
  },
  files: { 'ssl-ca': 'ca', 'ssl-cert': 'cert', 'ssl-key': 'key' },
  passedOn: [],
};

/** Those that may connect in plain text all the same. */
const PLAIN_TEXT_FALLBACKS = new Set(['allow', 'prefer', 'preferred']);
const SHOWABLE = /^[a-z][\w.-]{0,40}$/i;

/** Parses the options of a database address. Unknown options are problems. */
export function databaseUrlOptions(url: string, names: UrlNames): UrlOptions {
  const kinds = kindsOf(url);
  const problems = problemsOfText(url, names);
  if (problems.length > 0) return { problems };
  const options = [...new URL(url).searchParams];
  const known = [...Object.keys(kinds.modes), ...Object.keys(kinds.files), ...kinds.passedOn];
  const modes = options.flatMap(([name, value]) => (Object.hasOwn(kinds.modes, name) ? [{ name, value }] : []));
  const files = options.flatMap(([name, path]) => {
    const part = own(kinds.files, name);
    return part === undefined || (part === 'ca' && path === 'system') ? [] : [{ name, part, path }];
  });
  for (const [name] of options) {
    if (!known.includes(name)) problems.push(unknownOption(name, names, known));
  }
  if (modes.length > 1) {
    problems.push(`${names.url} says ${modes.map(({ name }) => name).join(' and ')}; it must say one of them, once.`);
  }
  const [chosen] = modes;
  const mode = chosen && own(kinds.modes[chosen.name] ?? {}, normal(chosen.value));
  if (chosen && mode === undefined) problems.push(unknownMode(chosen, kinds, names));
  if (mode === 'off' && files.length > 0) {
    problems.push(
      `${names.url} gives ${files.map(({ name }) => name).join(', ')}, but ${chosen?.name} switches TLS off.`,
    );
  }
  const parts: { -readonly [Part in keyof TlsSettings]: TlsSettings[Part] } = {};
  for (const { name, part, path } of files) {
    const text = pemIn(path);
    if (text === undefined) problems.push(unreadableFile(`${name} of ${names.url}`));
    else parts[part] = text;
  }
  if ((parts.cert === undefined) !== (parts.key === undefined)) {
    problems.push(`${names.url} gives a certificate of the client or its key; it must give both.`);
  }
  if (problems.length > 0 || (chosen === undefined && files.length === 0)) return { problems };
  return { problems, tls: mode === 'off' ? false : { verify: mode ?? 'full', ...parts } };
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

/** Reads the options of an address of Redis, which says by `rediss://` that it means TLS. */
export function redisUrlOptions(url: string, names: UrlNames): UrlOptions {
  const problems = problemsOfText(url, names);
  if (problems.length > 0) return { problems };
  for (const [name, value] of new URL(url).searchParams) {
    if (name !== 'family') problems.push(unknownOption(name, names, ['family']));
    else if (!/^[046]$/.test(value)) problems.push(`${names.url} has a family that is none; it must be 0, 4 or 6.`);
  }
  return { problems, ...(/^rediss/i.test(url) && { tls: true }) };
}

/** Options behind a list of hosts, such as that of a cluster: there are none. */
export function hostListProblems(url: string, names: UrlNames): string[] {
  const [, search = ''] = url.split('?', 2);
  if (search.includes('@')) return [misplacedSign(names)];
  return [...new URLSearchParams(search).keys()].map((name) => unknownOption(name, names, []));
}

/** A password with one of these signs would be taken for something else, and be shown. */
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
  const others = known.length > 0 ? ` Understood are ${known.join(', ')}.` : '';
  const advice = /ssl|tls/i.test(name) ? ` How to encrypt is said by ${tls}.` : '';
  return `${url} has ${shown}, which is not understood; take it away.${others}${advice}`;
}

function unknownMode(
  { name, value }: { readonly name: string; readonly value: string },
  { modes }: OptionKinds,
  { url, tls }: UrlNames,
): string {
  const known = Object.keys(modes[name] ?? {}).filter((each) => !/[{\d]/.test(each));
  const why = PLAIN_TEXT_FALLBACKS.has(normal(value)) ? 'which may connect in plain text' : 'which is not understood';
  const shown = SHOWABLE.test(value) ? `${name}=${value}` : name;
  return `${url} says ${shown}, ${why}; it must be one of ${known.join(', ')}, or leave it to ${tls}.`;
}

/** Not what every object has, such as `constructor`. */
function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function normal(value: string): string {
  return value.replaceAll(/\s/g, '').toLowerCase();
}

/** Reads a certificate or key file. */
export function pemIn(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return isPem(text) || text.includes('PRIVATE KEY-----') ? text : undefined;
  } catch {
    return undefined;
  }
}

export function unreadableFile(name: string): string {
  return `${name} names no file of PEM text that can be read; give the path of one.`;
}
