import type { Cluster, Redis } from 'ioredis';

const SLOTS = 16_384;
const POLYNOMIAL = 0x1021;

/** The cluster slot of a key: CRC-16 (XMODEM) of the text in its first braces, or of the whole key. */
export function slotOf(key: string): number {
  const start = key.indexOf('{');
  const end = key.indexOf('}', start + 1);
  const hashed = start >= 0 && end > start + 1 ? key.slice(start + 1, end) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}

/** `host:port` of the master of a key, if the client knows it. */
export function masterNameOf(cluster: Cluster, key: string): string | undefined {
  return cluster.slots[slotOf(key)]?.[0];
}

export function nodeNamed(cluster: Cluster, name: string | undefined): Redis | undefined {
  return cluster.nodes('all').find(({ options }) => `${options.host}:${options.port}` === name);
}
