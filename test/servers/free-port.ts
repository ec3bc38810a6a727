import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the ports that systems give to outgoing connections, also after Redis Cluster has added 10,000 for its bus.
const FIRST = 12_000;
const LAST = 22_000;
const BUS_DISTANCE = 10_000;

/** A port of 127.0.0.1 on which nobody listens, nor on the one that Redis Cluster would use besides it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    if ((await isFree(port)) && (await isFree(port + BUS_DISTANCE))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
