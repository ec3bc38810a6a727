import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';

/** The server of Google Cloud that gives processes their tokens. */
export interface GoogleMetadata {
  /** Variables by which a process finds it, and no other credentials. */
  readonly env: NodeJS.ProcessEnv;
  stop(): void;
}

/** Gives these tokens, one after the other. Takes them out of the list. */
export async function startGoogleMetadata(tokens: string[]): Promise<GoogleMetadata> {
  const server = createServer((request, response) => {
    response.setHeader('metadata-flavor', 'Google');
    response.setHeader('content-type', 'application/json');
    const isToken = request.url?.includes('/token') === true;
    response.end(
      isToken ? JSON.stringify({ access_token: tokens.shift(), expires_in: 3_600, token_type: 'Bearer' }) : '{}',
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const env = {
    PATH: process.env.PATH,
    HOME: tmpdir(),
    CLOUDSDK_CONFIG: tmpdir(),
    GCE_METADATA_HOST: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    METADATA_SERVER_DETECTION: 'assume-present',
  };
  return { env, stop: () => server.close() };
}
