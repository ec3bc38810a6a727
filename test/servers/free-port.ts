import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the ephemeral ports of outgoing connections, also with the 10,000 that Redis Cluster adds for its bus port.
const FIRST_PORT = 12_000;
const LAST_PORT = 22_000;
const BUS_PORT_OFFSET = 10_000;

/** A free port of 127.0.0.1. The bus port that Redis Cluster would use with it is free, too. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if ((await isFree(port)) && (await isFree(port + BUS_PORT_OFFSET))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
