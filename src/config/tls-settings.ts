import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { isRecord, kindOf } from './setting.js';

/** TLS settings of a connection. */
export interface TlsSettings {
  /**
   * What is checked of the server. `full` is the default and checks the certificate and the host. `ca` checks the certificate only.
   * `none` checks nothing, so that a machine in the middle can read everything.
   */
  readonly verify?: 'full' | 'ca' | 'none' | undefined;
  /** Certificates, as PEM, of the authorities that are trusted. Default: those that Node trusts. */
  readonly ca?: string | undefined;
  /** The certificate of this client, as PEM, for servers that ask for one. */
  readonly cert?: string | undefined;
  /** The private key of that certificate, as PEM. */
  readonly key?: string | undefined;
}

/** `true` verifies the server, `'no-verify'` only encrypts, `false` uses plain text. */
export type TlsChoice = boolean | 'no-verify' | TlsSettings;

const NAMES = new Set(['verify', 'ca', 'cert', 'key']);
const CHECKS = new Set<unknown>([undefined, 'full', 'ca', 'none']);

export const tlsChoice = kindOf(
  "true, false, 'no-verify', or an object of verify ('full', 'ca' or 'none'), ca, cert and key, each PEM text",
  isTlsChoice,
);

function isTlsChoice(value: unknown): boolean {
  if (typeof value === 'boolean' || value === 'no-verify') return true;
  if (!isRecord(value)) return false;
  const { verify, ca, cert, key } = value;
  return (
    Object.keys(value).every((name) => NAMES.has(name)) &&
    CHECKS.has(verify) &&
    (ca === undefined || isCertificate(ca)) &&
    (cert === undefined) === (key === undefined) &&
    (cert === undefined || (isCertificate(cert) && isKey(key)))
  );
}

function isCertificate(text: unknown): text is string {
  return typeof text === 'string' && text.includes('-----BEGIN CERTIFICATE-----');
}

function isKey(text: unknown): text is string {
  return typeof text === 'string' && text.includes('PRIVATE KEY-----');
}

/** What is verified of a server, or that nothing is encrypted. */
export type TlsMode = NonNullable<TlsSettings['verify']> | 'off';

/** The names of options or variables that name files. */
export type TlsParts = Readonly<Record<'ca' | 'cert' | 'key', string>>;

/** TLS as text gives it: an option or variable for the mode, and others that name files. */
export interface TlsText {
  readonly mode?: { readonly name: string; readonly verify: TlsMode } | undefined;
  readonly files: TlsParts;
  /** The name of an option or variable in messages. */
  readonly nameOf: (file: string) => string;
  readonly pathOf: (file: string) => string | undefined;
}

/** The TLS settings that text gives, with the files read. A file alone switches TLS on. */
export function tlsFromText({ mode, files, nameOf, pathOf }: TlsText, allProblems: string[]): TlsChoice | undefined {
  const given = Object.entries(files).flatMap(([part, file]) => {
    const path = pathOf(file);
    return path === undefined ? [] : [{ part, name: nameOf(file), text: pemIn(path) }];
  });
  if (mode === undefined && given.length === 0) return undefined;
  const problems: string[] = [];
  if (mode?.verify === 'off' && given.length > 0) {
    const names = given.map(({ name }) => name).join(' and ');
    problems.push(`${mode.name} switches TLS off, but there is ${names}; remove one of the two.`);
  }
  if ((pathOf(files.cert) === undefined) !== (pathOf(files.key) === undefined)) {
    problems.push(`${nameOf(files.cert)} and ${nameOf(files.key)} go together; give both or none.`);
  }
  for (const { name, text } of given) {
    if (text === undefined) problems.push(`${name} names no file of PEM text that can be read; give the path of one.`);
  }
  allProblems.push(...problems);
  if (problems.length > 0) return undefined;
  if (mode?.verify === 'off') return false;
  return { verify: mode?.verify ?? 'full', ...Object.fromEntries(given.map(({ part, text }) => [part, text])) };
}

function pemIn(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return isCertificate(text) || isKey(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** TLS options of Node, as drivers pass them on; `false` for plain text. */
export function tlsOptionsOf(choice: TlsChoice | undefined): ConnectionOptions | false | undefined {
  if (choice === undefined || choice === false) return choice;
  const { verify = 'full', ...files }: TlsSettings =
    choice === true ? {} : choice === 'no-verify' ? { verify: 'none' } : choice;
  return {
    rejectUnauthorized: verify !== 'none',
    ...(verify === 'ca' && { checkServerIdentity: () => undefined }),
    ...files,
  };
}

const VERIFICATION =
  /CERT_|_CERT|UNABLE_TO_(GET|VERIFY)|ERR_TLS_CERT|self[- ]signed certificate|unable to (get|verify)|altnames|certificate has expired|certificate is not yet valid/i;
const NO_TLS =
  /HANDSHAKE_NO_SSL_SUPPORT|does not support (SSL|secure) connection|ERR_SSL_(WRONG_VERSION|PACKET_LENGTH)|wrong version number|packet length too long/i;

/** Explains a failed TLS handshake, and what to do. Undefined for other errors. */
export function tlsProblem(code: string, message: string, server: string): string | undefined {
  const text = `${code} ${message}`;
  if (NO_TLS.test(text)) {
    return `TLS is not spoken by ${server} there: give the port where it does, or switch TLS on in the server.`;
  }
  if (!VERIFICATION.test(text)) return undefined;
  return (
    `The certificate of ${server} cannot be verified (${reasonIn(text)}): give the certificate of the authority that it comes from ` +
    'as ca of tls, and a host that it is for. To encrypt without verifying the server, set no-verify.'
  );
}

function reasonIn(text: string): string {
  if (/altnames|ERR_TLS_CERT/i.test(text)) return 'it is for another host';
  if (/EXPIRED/i.test(text)) return 'it has expired';
  if (/self[-_ ]signed/i.test(text)) return 'it is signed by itself, or by an authority that is not known';
  return 'it is signed by an authority that is not known';
}
