import type { ServerResponse } from 'node:http';
import {
  ForbiddenException,
  Inject,
  Injectable,
  type InjectionToken,
  Logger,
  Optional,
  UnauthorizedException,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { ConfigurationError } from '../../config/configuration-error.js';
import { DEFAULT_LIMITS } from '../../config/session-settings.js';
import { StatePrefix } from '../../state/scopes.js';
import { serverOnlyKeys } from '../domain/defined-state.js';
import { type WriteDescription, describeScope, describeWrite, isClientWrite } from '../domain/write-description.js';
import { SessionNotFoundError } from '../domain/errors.js';
import type { SessionKey } from '../domain/ids.js';
import type { ServerStateCheck } from '../operations/server-state.js';
import { findEnvironment } from '../service-environment.js';
import type { SessionEnvironment } from '../session-environment.js';
import { SessionService } from '../session.service.js';
import { SERVED_SESSIONS } from '../sessions.tokens.js';
import { type AccessRequest, type AccessRequirement, type AccessUser, SessionAccess } from './session-access.js';
import type { AnswerRequest } from './answers.js';
import { type AddressedRequest, addressOf, clientOf, noteUser } from './client-address.js';
import { type AllStreamLimits, StreamAccess, type StreamLimits, streamLimits } from './stream-access.js';

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
  #environments: readonly SessionEnvironment[] | undefined;
  /** Of streams, and of the memory of all answers. */
  readonly limits: AllStreamLimits;

  constructor(
    @Optional() @Inject(SessionAccess) access: SessionAccess | undefined,
    @Optional() @Inject(STREAM_LIMITS) limits: StreamLimits | undefined,
    @Optional() @Inject(ModuleRef) private readonly modules: ModuleRef | undefined,
  ) {
    if (!access) throw new ConfigurationError([NO_RULE]);
    this.#access = access;
    this.limits = streamLimits(limits);
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
    if (write) await this.#checkServerState({ action, target, ...place, write }, write, user);
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

  /** Refuses a rewind or fork of the session that changes what the server alone writes, unless the rule allows that. */
  serverStateCheck(
    { appName, userId, sessionId }: SessionKey,
    request: unknown,
    control: 'rewind' | 'fork',
  ): ServerStateCheck {
    return async (stateKeys) => {
      const write = describeWrite({ stateRemovals: stateKeys, controls: [control] });
      const asked: AccessQuestion = { action: 'write', target: 'session', appName, userId, sessionId, request, write };
      await this.#checkServerState(asked, write, await this.#userOf(request));
    };
  }

  /**
   * Those of these apps in which the caller may list sessions: of their own, or of everybody.
   *
   * @param most how many to find
   */
  async appsOf(
    apps: readonly string[],
    request: unknown,
    { whose = 'own', most = Infinity }: { readonly whose?: 'own' | 'all'; readonly most?: number } = {},
  ): Promise<string[]> {
    const user = await this.#userOf(request);
    const allowed: string[] = [];
    for (const appName of apps) {
      if (allowed.length === most) break;
      const ofUser = whose === 'own' && user ? { userId: user.id } : {};
      const asked = { action: 'list', target: 'sessions', appName, ...ofUser, user, request } as AccessRequest;
      if (this.#isYes(await this.#access.allows(asked), 'allows()')) allowed.push(appName);
    }
    return allowed;
  }

  /** Access for an open stream. It ends at the maximum age, or when the rule no longer allows it. Close it with the stream. */
  followStream(asked: AccessQuestion): StreamAccess {
    const { request } = asked;
    return new StreamAccess(
      () => this.check(asked),
      this.limits,
      isAddressed(request) ? this.clientOf(request) : undefined,
    );
  }

  /** Who is behind a request that was checked: the signed-in user, or an address. */
  clientOf(request: AddressedRequest): string {
    return clientOf(request, addressOf(request, this.limits.trustedProxies));
  }

  /** What the answer to a request that was checked may take, for `reserveAnswer`. */
  answerTo(request: AddressedRequest, response: ServerResponse): AnswerRequest {
    return { response, client: this.clientOf(request), bytes: this.mostAnswerBytes, limits: this.limits };
  }

  /** The most that a view or a page of a service of the app has. */
  get mostAnswerBytes(): number {
    const sizes = this.#services().map(({ limits: { maxViewBytes, maxPageBytes } }) =>
      Math.max(maxViewBytes, maxPageBytes),
    );
    return Math.max(...(sizes.length > 0 ? sizes : [DEFAULT_LIMITS.maxViewBytes]));
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

  /** Also if the rule lets clients write anything. */
  async #checkServerState(asked: AccessQuestion, { stateKeys }: WriteDescription, user: AccessUser | undefined) {
    if (stateKeys.length === 0) return;
    const definitions = this.#services()
      .map(({ stateDefinitions }) => stateDefinitions)
      .filter((each) => each !== undefined);
    const [key] = serverOnlyKeys(definitions, asked.appName, stateKeys);
    if (key === undefined) return;
    const answer = await this.#access.allowsServerState({ ...asked, user } as AccessRequest);
    if (this.#isYes(answer, 'allowsServerState()')) return;
    throw new ForbiddenException(`The server alone writes the state key ${JSON.stringify(key)}.`);
  }

  async #userOf(request: unknown): Promise<AccessUser | undefined> {
    const user = await this.#access.userOf(request);
    if (isUser(user)) {
      noteUser(request, user.id);
      return user;
    }
    const anonymous: unknown = this.#access.acceptsAnonymous;
    if (this.#isYes(await anonymous, 'acceptsAnonymous')) return undefined;
    this.#sayOnce(
      user === undefined || user === null
        ? 'A request without a user was refused. A guard of the whole app has to set request.user = { id }, or the access rule to override userOf().'
        : 'A request was refused because its user has no id that is a text. Let the access rule override userOf().',
    );
    throw new UnauthorizedException('Sign in first.');
  }

  #services(): readonly SessionEnvironment[] {
    return (this.#environments ??= environmentsIn(this.modules));
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

/** Those of all services of the app, also of stores with a name. A replacement in a test has none. */
function environmentsIn(modules: ModuleRef | undefined): SessionEnvironment[] {
  const services = new Set([SessionService, SERVED_SESSIONS].flatMap((token) => allOf(token, modules)));
  return [...services].map(findEnvironment).filter((each) => each !== undefined);
}

/** An app may have none. */
function allOf(token: InjectionToken, modules: ModuleRef | undefined): readonly unknown[] {
  try {
    return modules?.get<unknown>(token, { strict: false, each: true }) ?? [];
  } catch {
    return [];
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

function isAddressed(request: unknown): request is AddressedRequest {
  return typeof request === 'object' && request !== null && 'headers' in request && 'socket' in request;
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
  const shown = text.length > MOST_WORDS ? `${text.slice(0, MOST_WORDS)}…` : text;
  return `The access rule does not allow one of these. ${shown}${howToAllow(write)}`;
}

/** Rules of one's own forbid all controls unless they say otherwise: most apps that meet this want the operation. */
function howToAllow(write: WriteDescription): string {
  const { controls } = write;
  if (controls.length === 0 || !isClientWrite(write, { controls })) return '';
  const words = `{ controls: ${JSON.stringify(controls)} }`;
  return ` To allow the controls: clientAccess({ writes: ${words} }), or isClientWrite(write, ${words}) in allowsWrite() of a rule of your own.`;
}
