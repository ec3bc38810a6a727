const SLOTS = 16_384;
const POLYNOMIAL = 0x1021;

/** The slot of a cluster that a key lies in: CRC-16 (XMODEM) of what stands between its first braces, or of all of it. */
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
