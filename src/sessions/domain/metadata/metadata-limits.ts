/** How much metadata a session can have. */
export const METADATA_LIMITS = { tags: 64, labels: 16, fields: 64, reserved: 64, bytes: 32_768 } as const;

/** Labels and fields of this package. They have limits of their own, so that those of an app leave them room. */
const RESERVED = /^(label|field):agents:/;

/** Of those, runs that were handed over. However many messages wait, an instance can close. */
const HANDED_OVER = /^field:agents:handedOver:/;

const MAX_OF_KIND = [
  ['tag:', METADATA_LIMITS.tags],
  ['label:', METADATA_LIMITS.labels],
  ['field:', METADATA_LIMITS.fields],
] as const;

/** How many entries a filter can ask for. */
export const MAX_FILTER_ENTRIES = 16;

/** Characters of a title, as readers count them: an emoji counts once. */
export const MAX_TITLE_CHARACTERS = 1_000;

/** Whether a session can have these entries, each with its two lines. */
export function areWithinLimits(lines: readonly string[]): boolean {
  const reserved = lines.filter((line) => RESERVED.test(line));
  const isRoom = reserved.length === 0 ? hasRoom(lines) : hasRoom(lines.filter((line) => !RESERVED.test(line)));
  return isRoom && hasRoomForReserved(reserved);
}

function hasRoom(lines: readonly string[]): boolean {
  const isOverfull = ([kind, max]: (typeof MAX_OF_KIND)[number]): boolean =>
    lines.filter((line) => line.startsWith(kind)).length > max;
  return !MAX_OF_KIND.some(isOverfull) && hasRoomFor(lines, lines.length);
}

function hasRoomForReserved(lines: readonly string[]): boolean {
  const handedOver = lines.filter((line) => HANDED_OVER.test(line));
  const others = handedOver.length === 0 ? lines : lines.filter((line) => !HANDED_OVER.test(line));
  return [handedOver, others].every((each) => hasRoomFor(each, METADATA_LIMITS.reserved));
}

function hasRoomFor(lines: readonly string[], max: number): boolean {
  return lines.length <= max && Buffer.byteLength(lines.join('')) <= METADATA_LIMITS.bytes;
}

/** The message of the error when metadata is beyond its limits. */
export function metadataLimitText(): string {
  const { tags, labels, fields, bytes } = METADATA_LIMITS;
  return `a session has at most ${tags} tags, ${labels} labels, ${fields} fields and ${bytes} bytes of metadata`;
}
