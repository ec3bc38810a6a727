import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, type JWTPayload, SignJWT, exportJWK, exportSPKI, generateKeyPair } from 'jose';
import type { JwtOptions } from '../../src/sessions/rest/index.js';

export const AUDIENCE = 'shop';
export const ISSUER = 'https://login.example/';

interface Signer {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

/** What a token says besides its subject; `undefined` leaves a claim out. */
export interface TokenClaims extends JWTPayload {
  readonly [claim: string]: unknown;
}

/** Signs tokens, and serves its public keys at an address that counts who asks. */
export class Issuer {
  /** How often somebody has asked for the keys. */
  asked = 0;
  /** What is answered instead of the keys. */
  failure: { readonly status: number; readonly body: string } | undefined;
  /** Answers wait for it. */
  held: Promise<unknown> | undefined;
  readonly #signers: Signer[] = [];
  #made = 0;

  private constructor(private readonly server: Server) {}

  static async start(alg = 'ES256'): Promise<Issuer> {
    const server = createServer();
    const issuer = new Issuer(server);
    server.on('request', (_request, response) => {
      issuer.asked += 1;
      void (async () => {
        await issuer.held;
        const { status, body } = issuer.failure ?? { status: 200, body: JSON.stringify(await issuer.keySet()) };
        response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body);
      })();
    });
    await issuer.rotate(alg);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/keys`;
  }

  get options(): JwtOptions {
    return { jwks: this.url, issuer: ISSUER, audience: AUDIENCE };
  }

  async keySet(): Promise<{ keys: object[] }> {
    const keys = this.#signers.map(async ({ kid, alg, publicKey }) => ({
      ...(await exportJWK(publicKey)),
      kid,
      alg,
      use: 'sig',
    }));
    return { keys: await Promise.all(keys) };
  }

  async publicPem(): Promise<string> {
    return exportSPKI(this.#current.publicKey);
  }

  /** Signs with another key from now on, and forgets those before it if `isReplaced`. */
  async rotate(alg = this.#current.alg, isReplaced = false): Promise<void> {
    if (isReplaced) this.#signers.length = 0;
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    this.#signers.push({ kid: `key-${++this.#made}`, alg, privateKey, publicKey });
  }

  /** @param header replaces parts of the header */
  async token(sub: string, claims: TokenClaims = {}, header: object = {}): Promise<string> {
    const { kid, alg, privateKey } = this.#current;
    return new SignJWT(claimsFor(sub, claims)).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  get #current(): Signer {
    const signer = this.#signers.at(-1);
    if (!signer) throw new Error('The issuer has no key.');
    return signer;
  }
}

const NOW_SECONDS = (): number => Math.floor(Date.now() / 1000);

export function claimsFor(sub: string, claims: TokenClaims): JWTPayload {
  const all = { sub, iss: ISSUER, aud: AUDIENCE, iat: NOW_SECONDS(), exp: NOW_SECONDS() + 600, ...claims };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });
