/** Where in a path sessions are. */
export const APP = 'apps/:appName';
export const USER = `${APP}/users/:userId`;
export const SESSIONS = `${USER}/sessions`;
export const SESSION = `${SESSIONS}/:sessionId`;
