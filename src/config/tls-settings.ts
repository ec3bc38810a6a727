/** TLS settings of a connection. */
export interface TlsSettings {
  /**
   * What is checked of the server: `full` (unless given) its certificate and that it is for this host, `ca` its certificate alone,
   * `none` nothing, so that anybody in between can read along.
   */
  readonly verify?: 'full' | 'ca' | 'none' | undefined;
  /** Certificates, as PEM, of the authorities that the server's may come from; those that Node knows unless given. */
  readonly ca?: string | undefined;
  /** The certificate of this client, as PEM, for servers that ask for one. */
  readonly cert?: string | undefined;
  /** The private key of that certificate, as PEM. */
  readonly key?: string | undefined;
}

/** `true` verifies the server, `'no-verify'` only encrypts, `false` says that plain text is meant. */
export type TlsChoice = boolean | 'no-verify' | TlsSettings;

/** What to write, to follow "must be". */
export const TLS_ALLOWED =
  "true, false, 'no-verify', or an object of verify ('full', 'ca' or 'none'), ca, cert and key, each PEM text";

const NAMES = new Set(['verify', 'ca', 'cert', 'key']);
const CHECKS = new Set<unknown>([undefined, 'full', 'ca', 'none']);
const CERTIFICATE = '-----BEGIN CERTIFICATE-----';

/** Whether a value says how to encrypt, and nothing else. */
export function isTlsChoice(value: unknown): value is TlsChoice {
  if (typeof value === 'boolean' || value === 'no-verify') return true;
  if (typeof value !== 'object' || value === null) return false;
  const { verify, ca, cert, key } = value as Record<string, unknown>;
  return (
    Object.keys(value).every((name) => NAMES.has(name)) &&
    CHECKS.has(verify) &&
    (ca === undefined || isPem(ca)) &&
    (cert === undefined) === (key === undefined) &&
    (cert === undefined || (isPem(cert) && typeof key === 'string' && key.includes('PRIVATE KEY-----')))
  );
}

export function isPem(text: unknown): boolean {
  return typeof text === 'string' && text.includes(CERTIFICATE);
}

/** What a choice means; `false` for plain text. */
export function tlsSettingsOf(choice: TlsChoice): TlsSettings | false {
  if (choice === false) return false;
  if (choice === true) return {};
  return choice === 'no-verify' ? { verify: 'none' } : choice;
}
