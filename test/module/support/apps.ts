import type { INestApplicationContext, LoggerService, ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { SessionService } from '../../../src/index.js';

const ignore = (): void => undefined;
const SILENT: LoggerService = { log: ignore, error: ignore, warn: ignore };

/** An app of these modules, started with Nest. */
export async function startApp(
  imports: NonNullable<ModuleMetadata['imports']>,
  { logger = SILENT, ...rest }: Omit<ModuleMetadata, 'imports'> & { logger?: LoggerService } = {},
): Promise<INestApplicationContext> {
  const module = await Test.createTestingModule({ imports, ...rest })
    .setLogger(logger)
    .compile();
  return module.init();
}

export const KEY = { appName: 'shop', userId: 'ann', sessionId: 'order-7' };

/** Creates a session, appends to it and reads it. */
export async function roundTrip(sessions: SessionService, key = KEY): Promise<void> {
  const session = await sessions.createSession({ ...key, state: { step: 1, 'user:name': 'Ann' } });
  await sessions.appendEvent({ session, event: { id: 'e-1', author: 'user', actions: { stateDelta: { step: 2 } } } });
  expect(await shownBy(sessions, key)).toEqual(ROUND_TRIP);
}

/** What a reader finds after {@link roundTrip}. */
export const ROUND_TRIP = { events: ['e-1'], state: { step: 2, 'user:name': 'Ann' } };

export async function shownBy(sessions: SessionService, key = KEY): Promise<unknown> {
  const session = await sessions.getSession(key);
  return session && { events: session.events.map(({ id }) => id), state: session.state.toRecord() };
}

/** Sets environment variables. The returned function restores the previous ones. */
export function withVariables(variables: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
