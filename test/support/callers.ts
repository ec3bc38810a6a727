import { Injectable } from '@nestjs/common';
import { type AccessRequest, type AccessUser, SessionAccess } from '../../src/sessions/rest/index.js';

type Names = Readonly<Record<string, string | undefined>>;

interface Person extends AccessUser {
  readonly app: string;
}

/** Users have access to their own sessions and state, with any writes. Only the admin may write app state. */
@Injectable()
export class OwnSessions extends SessionAccess<Person> {
  override userOf(request: { readonly headers: Names; readonly connectionParams?: Names }): Person | undefined {
    // Subscriptions send it as connection parameters.
    const { 'x-user': id, 'x-app': app = 'shop' } = { ...request.headers, ...request.connectionParams };
    return id === undefined ? undefined : { id, app };
  }

  allows({ user, userId, target, action, appName }: AccessRequest<Person>): boolean {
    if (user.id === 'admin') return true;
    if (user.app !== appName) return false;
    return target === 'appState' ? action === 'read' : userId === user.id;
  }

  override allowsWrite(): boolean {
    return true;
  }
}

export type Who = 'anonymous' | 'another user' | 'another app' | 'the owner' | 'the admin';

export const HEADERS: Readonly<Record<Who, Record<string, string>>> = {
  anonymous: {},
  'another user': { 'x-user': 'bob' },
  'another app': { 'x-user': 'ann', 'x-app': 'bank' },
  'the owner': { 'x-user': 'ann' },
  'the admin': { 'x-user': 'admin' },
};

export const OTHER_CALLERS: readonly Who[] = ['another user', 'another app'];
export const ALL_CALLERS = Object.keys(HEADERS) as Who[];
