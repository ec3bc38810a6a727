import { ForbiddenException, Inject, Injectable, Logger, Optional, UnauthorizedException } from '@nestjs/common';
import { ConfigurationError } from '../../config/configuration-error.js';
import { StatePrefix } from '../../state/scopes.js';
import { type WriteDescription, describeScope, describeWrite } from '../domain/write-description.js';
import { SessionNotFoundError } from '../domain/errors.js';
import type { SessionKey } from '../domain/ids.js';
import { type AccessRequest, type AccessRequirement, type AccessUser, SessionAccess } from './session-access.js';
import { StreamAccess, type StreamLimits } from './stream-access.js';

/** The caller may not see the session they delete. They get the same response as for a missing session. */
export class HiddenDeletion extends Error {}

export const STREAM_LIMITS = Symbol('STREAM_LIMITS');

/** An access question without its user. */
export type AccessQuestion = Omit<AccessRequest, 'user'>;

/** The session or state that a request is about, and its input. */
export interface AccessTarget extends Pick<AccessRequest, 'appName' | 'userId' | 'sessionId' | 'request'> {
  readonly input: Readonly<Record<string, unknown>>;
}

const NO_RULE =
  'There is no access rule: import SessionAccessModule.forRoot({ access }), or give `access` to the module of the routes or fields.';

/**
 * Asks the access rule before any lookup, in the same way for all transports. Only `true` allows. A result that is not a
 * boolean is a bug in the rule, and is logged.
 */
@Injectable()
export class AccessChecks {
  readonly #access: SessionAccess;
  readonly #logger = new Logger(SessionAccess.name);
  readonly #said = new Set<string>();

  constructor(
    @Optional() @Inject(SessionAccess) access: SessionAccess | undefined,
    @Optional() @Inject(STREAM_LIMITS) private readonly limits: StreamLimits | undefined,
  ) {
    if (!access) throw new ConfigurationError([NO_RULE]);
    this.#access = access;
  }

  /** Throws unless the rule allows this. A forbidden session gets the same error as a missing one. */
  async check(asked: AccessQuestion): Promise<void> {
    await this.#check(asked, await this.#userOf(asked.request));
  }

  /**
   * Checks the requirement of a route or field. A change of a session may also write shared state: `user:` and `app:` keys need
   * the same permission as their own routes.
   */
  async checkRequirement(
    { action, target, writes }: AccessRequirement,
    { input, ...place }: AccessTarget,
  ): Promise<void> {
    const user = await this.#userOf(place.request);
    const write = writes && describeWrite(writes(input));
    await this.#check({ action, target, ...place, write }, user);
    if (target === 'session') noteChecked(place);
    if (!write || target === 'userState' || target === 'appState') return;
    const shared = (scope: 'user' | 'app', to: 'userState' | 'appState', userId: string | undefined): Promise<void> =>
      this.#check(
        {
          action: 'write',
          target: to,
          appName: place.appName,
          ...(userId !== undefined && { userId }),
          request: place.request,
          write: describeScope(write, scope),
        },
        user,
      );
    if (write.stateScopes.includes('user')) await shared('user', 'userState', place.userId);
    if (write.stateScopes.includes('app')) await shared('app', 'appState', undefined);
  }

  /** Those of these apps in which the caller may list sessions of their own. */
  async appsOf(apps: readonly string[], request: unknown): Promise<string[]> {
    const user = await this.#userOf(request);
    const allowed: string[] = [];
    for (const appName of apps) {
      const ofUser = user && { userId: user.id };
      const asked = { action: 'list', target: 'sessions', appName, ...ofUser, user, request } as AccessRequest;
      if (this.#isYes(await this.#access.allows(asked), 'allows()')) allowed.push(appName);
    }
    return allowed;
  }

  /** Access for an open stream. It ends at the maximum age, or when the rule no longer allows it. Close it with the stream. */
  followStream(asked: AccessQuestion): StreamAccess {
    return new StreamAccess(() => this.check(asked), this.limits);
  }

  async #check(asked: AccessQuestion, user: AccessUser | undefined): Promise<void> {
    // The type of a rule that accepts anonymous requests says so.
    const request = { ...asked, user } as AccessRequest;
    const allows = this.#access.allows(request);
    // Most rules answer at once.
    if (!this.#isYes(typeof allows === 'boolean' ? allows : await allows, 'allows()')) throw refusalOf(asked);
    if (asked.action !== 'write' && asked.action !== 'create') return;
    const allowsWrite = this.#access.allowsWrite(request);
    if (!this.#isYes(typeof allowsWrite === 'boolean' ? allowsWrite : await allowsWrite, 'allowsWrite()')) {
      throw new ForbiddenException(`You may not write this. ${wordsFor(asked.write)}`);
    }
  }

  async #userOf(request: unknown): Promise<AccessUser | undefined> {
    const user = await this.#access.userOf(request);
    if (isUser(user)) return user;
    const anonymous: unknown = this.#access.acceptsAnonymous;
    if (this.#isYes(await anonymous, 'acceptsAnonymous')) return undefined;
    this.#sayOnce(
      user === undefined || user === null
        ? 'A request without a user was refused. A guard of the whole app has to set request.user = { id }, or the access rule to override userOf().'
        : 'A request was refused because its user has no id that is a text. Let the access rule override userOf().',
    );
    throw new UnauthorizedException('Sign in first.');
  }

  #isYes(answer: unknown, asked: string): boolean {
    if (typeof answer !== 'boolean') {
      this.#sayOnce(
        `${asked} of the access rule returned ${kindOf(answer)}, which allows nothing; return true or false.`,
        'error',
      );
    }
    return answer === true;
  }

  #sayOnce(message: string, level: 'warn' | 'error' = 'warn'): void {
    if (this.#said.has(message)) return;
    this.#said.add(message);
    this.#logger[level](message);
  }
}

/** The sessions that the rule has allowed, by request. */
const checkedSessions = new WeakMap<object, Set<string>>();

function noteChecked({ request, ...key }: Omit<AccessTarget, 'input'>): void {
  if (typeof request !== 'object' || request === null) return;
  const known = checkedSessions.get(request) ?? new Set();
  checkedSessions.set(request, known.add(nameOf(key)));
}

/** Whether the rule has allowed this request to use the session. */
export function isChecked(request: object, key: Partial<SessionKey>): boolean {
  return checkedSessions.get(request)?.has(nameOf(key)) === true;
}

function nameOf({ appName, userId, sessionId }: Partial<SessionKey>): string {
  return JSON.stringify([appName, userId, sessionId]);
}

/** Never logs the value itself: it may be personal data. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

function isUser(user: unknown): user is AccessUser {
  if (typeof user !== 'object' || user === null) return false;
  const { id } = user as { id?: unknown };
  return typeof id === 'string' && id !== '';
}

function refusalOf({ target, action, sessionId }: AccessQuestion): Error {
  if (action === 'write' && target === 'userState') return new ForbiddenException('You may not write user: state.');
  if (action === 'write' && target === 'appState') return new ForbiddenException('You may not write app: state.');
  if (target !== 'session') return new ForbiddenException('You may not do this.');
  return action === 'delete' ? new HiddenDeletion() : new SessionNotFoundError(sessionId ?? '');
}

const MOST_WORDS = 300;

/** Describes the refused write without its content, so that a client can see what was refused. */
function wordsFor(write: WriteDescription | undefined): string {
  if (!write) return 'The server does not say what is written here, and the access rule does not allow just anything.';
  const { authors, roles, content, controls, fields, stateScopes } = write;
  const prefixes = { session: 'session', user: StatePrefix.USER_PREFIX, app: StatePrefix.APP_PREFIX, temp: 'temp:' };
  const said = { authors, roles, content, controls, fields, state: stateScopes.map((scope) => prefixes[scope]) };
  const words = Object.entries(said).flatMap(([name, items]) =>
    items.length > 0 ? `${name}: ${items.map((item) => JSON.stringify(item)).join(', ')}` : [],
  );
  const text = words.join('; ');
  return `The access rule does not allow one of these. ${text.length > MOST_WORDS ? `${text.slice(0, MOST_WORDS)}…` : text}`;
}
