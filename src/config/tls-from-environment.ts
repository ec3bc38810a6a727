import { ConfigurationError } from './configuration-error.js';
import type { TlsChoice, TlsSettings } from './tls-settings.js';
import { pemIn, unreadableFile } from './url-options.js';

/** The TLS variables of a store: values and names. */
export interface TlsVariables {
  readonly mode: NamedValue;
  readonly ca: NamedValue;
  readonly cert: NamedValue;
  readonly key: NamedValue;
}

interface NamedValue {
  readonly name: string;
  readonly value: string | undefined;
}

/** The allowed values of the TLS variable. */
export const TLS_MODES = ['verify', 'verify-ca', 'no-verify', 'off'] as const;

const CHECKS: Readonly<Record<string, TlsSettings['verify']>> = { 'verify-ca': 'ca', 'no-verify': 'none' };

/** The TLS settings; `undefined` if no variable is set. A certificate file alone enables TLS. */
export function tlsFromEnvironment({ mode, ca, cert, key }: TlsVariables): TlsChoice | undefined {
  const files = { ca, cert, key };
  const given = Object.values(files).filter(({ value }) => value !== undefined);
  if (mode.value === undefined && given.length === 0) return undefined;
  const problems: string[] = [];
  if (mode.value === 'off' && given.length > 0) {
    problems.push(
      `${mode.name} is off, but ${given.map(({ name }) => name).join(', ')} is there; take one of the two away.`,
    );
  }
  if ((cert.value === undefined) !== (key.value === undefined)) {
    problems.push(`${cert.name} and ${key.name} go together; give both or none.`);
  }
  const texts = Object.fromEntries(
    Object.entries(files).flatMap(([part, { name, value }]) => {
      const text = value === undefined ? undefined : pemIn(value);
      if (value !== undefined && text === undefined) problems.push(unreadableFile(name));
      return text === undefined ? [] : [[part, text]];
    }),
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
  if (mode.value === 'off') return false;
  return { verify: CHECKS[mode.value ?? ''] ?? 'full', ...texts };
}
