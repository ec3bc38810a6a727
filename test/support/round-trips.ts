import type { TcpProxy } from './tcp-proxy.js';

/** A round trip begins when the client sends for the first time, or after it has received something. */
export function countTrips(proxy: TcpProxy): () => number {
  const speakers = new Map<number, string>();
  let trips = 0;
  proxy.filter = ({ from, connection }) => {
    if (from === 'client' && speakers.get(connection) !== 'client') trips += 1;
    speakers.set(connection, from);
    return 'pass';
  };
  return () => trips;
}
