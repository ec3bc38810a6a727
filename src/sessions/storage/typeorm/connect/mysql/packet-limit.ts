/** Of shorter messages nobody asks: servers have at least this limit, unless somebody has lowered it. */
const ASKED_FROM_BYTES = 1024 * 1024;

/** The limits of the servers of connections. */
const limits = new WeakMap<object, number>();

/**
 * Fails like the server if a message is longer than its `max_allowed_packet`. The server would close the connection in the middle of
 * such a message, and its answer can be lost with it: then nobody would know that the message was too long.
 */
export async function refuseLongMessage(
  connection: object,
  text: string,
  ask: (query: string) => Promise<unknown>,
): Promise<void> {
  // Three bytes are the most for each unit of the text.
  if (text.length * 3 < ASKED_FROM_BYTES) return;
  // The first byte says what kind of message it is.
  const bytes = Buffer.byteLength(text) + 1;
  if (bytes < ASKED_FROM_BYTES) return;
  let limit = limits.get(connection);
  if (limit === undefined) {
    const [row] = (await ask('SELECT @@SESSION.max_allowed_packet AS bytes')) as { bytes: number }[];
    limit = row?.bytes ?? Infinity;
    limits.set(connection, limit);
  }
  if (bytes > limit) {
    throw Object.assign(new Error('The message is too long for the connection'), { code: 'ER_NET_PACKET_TOO_LARGE' });
  }
}
