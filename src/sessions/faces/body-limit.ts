/** Bytes of a body that a server has to take: an event of the usual limit, and what JSON may add to it. */
export const SESSIONS_BODY_LIMIT = 4 * 1024 * 1024;
