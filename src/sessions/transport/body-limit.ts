/** The body limit that a server needs: an event of the default limit, with JSON escapes. */
export const SESSIONS_BODY_LIMIT = 4 * 1024 * 1024;
