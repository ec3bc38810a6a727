/** The number of slots of a cluster. */
export const SLOTS = 16_384;

/** The slot of a key: of the text in its first braces, or of the whole key. */
export function slotOf(key: string): number {
  const start = key.indexOf('{');
  const end = key.indexOf('}', start + 1);
  const hashed = start >= 0 && end > start + 1 ? key.slice(start + 1, end) : key;
  return slotOfTag(Buffer.from(hashed).toString('latin1'));
}

/** The slot of a hash tag of ASCII characters: CRC16 as Redis computes it. */
export function slotOfTag(tag: string): number {
  let crc = 0;
  for (let index = 0; index < tag.length; index++) {
    crc = ((crc << 8) & 0xffff) ^ (TABLE[((crc >> 8) ^ tag.charCodeAt(index)) & 0xff] ?? 0);
  }
  return crc % SLOTS;
}

/**
 * A hash tag of a slot. Keys of this tag can be used in one script with all other keys of the slot. No encoded id
 * contains `@`.
 */
export function tagOfSlot(slot: number): string {
  tags ??= findTags();
  return tags[slot] ?? '';
}

let tags: readonly string[] | undefined;

function findTags(): string[] {
  const found: string[] = Array.from({ length: SLOTS }, () => '');
  for (let number = 0, left = SLOTS; left > 0; number++) {
    const tag = `@${number}`;
    const slot = slotOfTag(tag);
    if (found[slot] !== '') continue;
    found[slot] = tag;
    left--;
  }
  return found;
}

/** CRC16 with the polynomial x¹⁶ + x¹² + x⁵ + 1 of each byte. */
const TABLE: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  return crc;
});
