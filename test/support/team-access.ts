import type { EventInput, SessionService } from '../../src/index.js';
import {
  type AccessAnswer,
  type AccessRequest,
  type AccessUser,
  SessionAccess,
} from '../../src/sessions/rest/index.js';

type Names = Readonly<Record<string, string | undefined>>;

interface Agent extends AccessUser {
  readonly team: string;
}

/** Support agents of two teams see the sessions with the label of their team, and write anything there. The admin sees all. */
export class TeamAccess extends SessionAccess<Agent> {
  override userOf({
    headers,
    connectionParams,
  }: {
    readonly headers: Names;
    readonly connectionParams?: Names;
  }): unknown {
    const { 'x-user': id, 'x-team': team } = { ...headers, ...connectionParams };
    return id === undefined ? undefined : { id, team };
  }

  allows({ user }: AccessRequest<Agent>): AccessAnswer {
    return user.id === 'admin' || { labels: { team: user.team } };
  }

  override allowsWrite(): boolean {
    return true;
  }
}

export const TEAMS = {
  north: { 'x-user': 'nora', 'x-team': 'north' },
  south: { 'x-user': 'saul', 'x-team': 'south' },
  admin: { 'x-user': 'admin' },
} as const;

export const SHOP = { appName: 'shop' };
export const NORTH = { labels: { team: 'north' } };
export const SOUTH = { labels: { team: 'south' } };
export const HELLO = { author: 'user', content: { parts: [{ text: 'Hello' }] } };
/** The sessions of a user, and the paths of one of each kind. */
export const ofUser = (userId: string): string => `/apps/shop/users/${userId}/sessions`;
export const OWN = `${ofUser('ann')}/n1`;
export const FOREIGN = `${ofUser('ann')}/s1`;
export const MISSING = `${ofUser('ann')}/none`;

/** Two teams in one app, and in one user; and a session of no team. */
export async function plant(sessions: SessionService): Promise<void> {
  await sessions.createSession({ ...SHOP, userId: 'ann', sessionId: 'n1', metadata: { ...NORTH, status: 'open' } });
  await sessions.createSession({ ...SHOP, userId: 'bob', sessionId: 'n2', metadata: { ...NORTH, status: 'closed' } });
  await sessions.createSession({ ...SHOP, userId: 'ann', sessionId: 's1', metadata: { ...SOUTH, status: 'open' } });
  await sessions.createSession({ ...SHOP, userId: 'cat', sessionId: 'nobody' });
  for (const id of ['n1', 's1']) await sessions.appendEvent({ session: { ...SHOP, userId: 'ann', id }, event: HELLO });
}

export const idsIn = (list: unknown): string[] => (list as { id: string }[]).map(({ id }) => id).toSorted();
export const labelled = (labels: Record<string, string | null>): EventInput => ({
  author: 'user',
  actions: { metadataDelta: { labels } },
});

/** Moves a session as the server does. */
export const moveTo = (sessions: SessionService, id: string, team: string) =>
  sessions.appendEvent({ session: { ...SHOP, userId: 'ann', id }, event: labelled({ team }) });

/** Everything that requests could change in a session. */
export async function contentOf(sessions: SessionService, sessionId: string): Promise<unknown> {
  const session = await sessions.getSession({ ...SHOP, userId: 'ann', sessionId });
  return [session?.version, session?.metadata, session?.state.toRecord(), session?.events.length];
}
