import type { TlsSettings } from './tls-settings.js';

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
    'as ca of tls, and a host that it is for. To encrypt without knowing whom you talk to, say no-verify.'
  );
}

function reasonIn(text: string): string {
  if (/altnames|ERR_TLS_CERT/i.test(text)) return 'it is for another host';
  if (/EXPIRED/i.test(text)) return 'it has expired';
  if (/self[-_ ]signed/i.test(text)) return 'it is signed by itself, or by an authority that is not known';
  return 'it is signed by an authority that is not known';
}
