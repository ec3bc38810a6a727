import { readFileSync } from 'node:fs';
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

/** What a choice means; `false` for plain text. */
export function tlsSettingsOf(choice: TlsChoice): TlsSettings | false {
  if (choice === false) return false;
  if (choice === true) return {};
  return choice === 'no-verify' ? { verify: 'none' } : choice;
}

/** TLS as text gives it: an option or variable for the mode, and others that name files. */
export interface TlsText {
  readonly mode?: { readonly name: string; readonly verify: NonNullable<TlsSettings['verify']> | 'off' } | undefined;
  readonly files: Readonly<Record<'ca' | 'cert' | 'key', { readonly name: string; readonly path: string | undefined }>>;
}

/** The TLS settings that text gives, with the files read. A file alone switches TLS on. */
export function tlsFromText({ mode, files }: TlsText, allProblems: string[]): TlsChoice | undefined {
  const problems: string[] = [];
  const given = Object.values(files).filter(({ path }) => path !== undefined);
  if (mode === undefined && given.length === 0) return undefined;
  if (mode?.verify === 'off' && given.length > 0) {
    const names = given.map(({ name }) => name).join(' and ');
    problems.push(`${mode.name} switches TLS off, but there is ${names}; remove one of the two.`);
  }
  if ((files.cert.path === undefined) !== (files.key.path === undefined)) {
    problems.push(`${files.cert.name} and ${files.key.name} go together; give both or none.`);
  }
  const texts = Object.fromEntries(
    Object.entries(files).flatMap(([part, { name, path }]) => {
      if (path === undefined) return [];
      const text = pemIn(path);
      if (text === undefined)
        problems.push(`${name} names no file of PEM text that can be read; give the path of one.`);
      return [[part, text]];
    }),
  );
  allProblems.push(...problems);
  if (problems.length > 0) return undefined;
  return mode?.verify === 'off' ? false : { verify: mode?.verify ?? 'full', ...texts };
}

function pemIn(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return isCertificate(text) || isKey(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** TLS options of Node, as drivers pass them on. */
export interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly checkServerIdentity?: () => undefined;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export function tlsOptionsOf({ verify = 'full', ca, cert, key }: TlsSettings): TlsOptions {
  return {
    rejectUnauthorized: verify !== 'none',
    ...(verify === 'ca' && { checkServerIdentity: () => undefined }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
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
