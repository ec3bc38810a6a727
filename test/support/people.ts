import { Injectable } from '@nestjs/common';
import { type AccessRequest, SessionAccess } from '../../src/sessions/rest/index.js';

type Names = Readonly<Record<string, string | undefined>>;

/** Everybody has their own sessions and state; the admin has the state of apps. */
@Injectable()
export class OwnSessions extends SessionAccess {
  allows({ userId, target, action, appName, request }: AccessRequest): boolean {
    // Whoever subscribes says it when they connect.
    const { headers, connectionParams } = request as { headers: Names; connectionParams?: Names };
    const { 'x-user': user, 'x-app': app = 'shop' } = { ...headers, ...connectionParams };
    if (user === 'admin') return true;
    if (user === undefined || app !== appName) return false;
    return target === 'appState' ? action === 'read' : userId === user;
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

export const STRANGERS: readonly Who[] = ['anonymous', 'another user', 'another app'];
export const everybody = Object.keys(HEADERS) as Who[];
