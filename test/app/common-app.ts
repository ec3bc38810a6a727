import { RunningApp } from './running-app.js';

let app: Promise<RunningApp> | undefined;
afterAll(async () => (await app)?.remove());

/** A running app with a store in memory, for all specs that need no settings of their own. It stays when a test ends. */
export function commonApp(): Promise<RunningApp> {
  return (app ??= RunningApp.start({
    SESSIONS_PROVIDER: 'memory',
    ALLOWED_HOSTS: 'sessions.example, sessions',
    ALLOWED_ORIGINS: 'https://app.example',
  }));
}
