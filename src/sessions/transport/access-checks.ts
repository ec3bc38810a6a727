import type { ServerResponse } from 'node:http';
import { ForbiddenException, Inject, Injectable, Logger, Optional, UnauthorizedException } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { ConfigurationError } from '../../config/configuration-error.js';
import { DEFAULT_LIMITS } from '../../config/session-settings.js';
import { serverOnlyKeys } from '../domain/write/defined-state.js';
import { type WriteDescription, describeScope, describeWrite } from '../domain/write/write-description.js';
import type { RuleFilter } from '../domain/metadata/rule-filter.js';
import type { SessionKey } from '../domain/values/ids.js';
import { onSignOut } from './signed-out.js';
import type { SessionFilter } from '../domain/metadata/session-filter.js';
import type { ServerStateCheck } from '../operations/server-only-changes.js';
import type { PageShare } from '../operations/watch-session.js';
import { environmentBehind } from '../service-environment.js';
import type { SessionEnvironment } from '../session-environment.js';
import type { SessionService } from '../session.service.js';
import { type AccessQuestion, createAccessRefusal, refusedWrite } from './access-refusals.js';
import { type FilterUse, FilteredAccess, unusableFilter } from './filtered-access.js';
import { FORKS } from './request-writes.js';
import { askRule, askRuleForUser } from './asked-rule.js';
import { AccessRuleError, describeKind, ruleAnswer } from './rule-answer.js';
import { type AccessRequest, type AccessRequirement, type AccessUser, SessionAccess } from './session-access.js';
import { AuditTrail } from './audit/audit-trail.js';
import type { AuditedCall } from './audit/audited-call.js';
import { noteChecked } from './checked-sessions.js';
import { environmentsIn } from './environments-in.js';
import { type AnswerRequest, countStream, reserveShare } from './answers.js';
import { type AddressedRequest, findClientAddress, clientOf, noteUser } from './client-address.js';
import { StreamAccess } from './stream-access.js';
import { type AllStreamLimits, type StreamLimits, streamLimits } from './stream-limits.js';

export const STREAM_LIMITS = Symbol('STREAM_LIMITS');

/** The session or state that a request is about, and its input. */
export interface AccessTarget extends Pick<AccessRequest, 'appName' | 'userId' | 'sessionId' | 'request'> {
  readonly input: Readonly<Record<string, unknown>>;
  /** The name of what is done, for the audit. */
  readonly operation?: string | undefined;
}

/** How a question is asked. */
export interface CheckUse extends Pick<FilterUse, 'mayBeMissing'> {
  /** Whether it belongs to what was asked before for this request, so that the audit notes only a refusal. */
  readonly isPart?: boolean;
}

export const NO_RULE =
  'There is no access rule: import SessionAccessModule.forRoot({ auth }) or ({ access }), or give one of them to the module of the routes or fields.';

const NO_AUDIT = new AuditTrail();

/** How many different messages are logged: those about a filter name its labels. */
const MOST_SAID = 100;

/**
 * Asks the access rule before any lookup, in the same way for all transports. `true` allows, and a filter the sessions that it
 * matches. Another result is a bug in the rule, and is logged.
 *
 * @example
 * constructor(private readonly access: AccessChecks) {}
 *
 * await this.access.check({ action: 'read', target: 'session', appName, userId, sessionId, request });
 */
@Injectable()
export class AccessChecks {
  readonly #access: SessionAccess;
  readonly #logger = new Logger(SessionAccess.name);
  readonly #said = new Set<string>();
  #services: readonly SessionEnvironment[] | undefined;
  /** Of streams, and of the memory of all answers. */
  readonly limits: AllStreamLimits;

  constructor(
    @Optional() @Inject(SessionAccess) access: SessionAccess | undefined,
    @Optional() @Inject(STREAM_LIMITS) limits: StreamLimits | undefined,
    @Optional() @Inject(ModuleRef) private readonly modules: ModuleRef | undefined,
    @Optional() @Inject(AuditTrail) private readonly audit: AuditTrail = NO_AUDIT,
  ) {
    if (!access) throw new ConfigurationError([NO_RULE]);
    this.#access = access;
    this.limits = streamLimits(limits);
  }

  /** Checks of a rule that no module provides, for this service. */
  static over(access: SessionAccess, sessions: SessionService): AccessChecks {
    const checks = new AccessChecks(access, undefined, undefined);
    checks.#services = [environmentBehind(sessions)];
    return checks;
  }

  /** Of all services of the app. */
  get services(): readonly SessionEnvironment[] {
    return (this.#services ??= environmentsIn(this.modules));
  }

  /** The user of a request. Throws without one, unless the rule accepts that. */
  async signIn(request: unknown): Promise<AccessUser | undefined> {
    return this.#userOf(request);
  }

  /** Throws unless the rule allows this. A forbidden session gets the same error as a missing one. */
  async check(asked: AccessQuestion, { isPart = false, ...use }: CheckUse = {}): Promise<void> {
    const check = async (): Promise<unknown> => this.#check(asked, await this.#userOf(asked.request), use);
    await this.audit.follow(asked, check, { notes: isPart ? 'refusals' : 'once' });
  }

  /** A fork also creates a session, with the metadata of this one. */
  async checkFork({ appName, userId, sessionId }: SessionKey, request: unknown): Promise<void> {
    const source = { appName, userId, sessionId };
    const write = describeWrite(FORKS());
    const asked: AccessQuestion = { action: 'create', target: 'sessions', appName, userId, request, write };
    const check = async (): Promise<unknown> => this.#check(asked, await this.#userOf(request), { source });
    await this.audit.follow(asked, check, { notes: 'refusals' });
  }

  /**
   * Checks the requirement of a route or field. A change of a session may also write shared state: `user:` and `app:` keys need
   * the same permission as their own routes.
   *
   * @param isFiltered whether a list shows only what the filter matches that is returned
   * @param call whose end the audit is told
   */
  async checkRequirement(
    need: AccessRequirement,
    { operation, ...target }: AccessTarget,
    isFiltered = false,
    call?: AuditedCall,
  ): Promise<SessionFilter | undefined> {
    const { input: _input, ...place } = target;
    const question = { ...place, action: need.action, target: need.target, operation };
    return this.audit.follow(question, () => this.#checkRequirement(need, target, isFiltered), { call });
  }

  async #checkRequirement(
    { action, target, writes }: AccessRequirement,
    { input, ...place }: AccessTarget,
    isFiltered: boolean,
  ): Promise<SessionFilter | undefined> {
    const user = await this.#userOf(place.request);
    const write = writes && describeWrite(writes(input));
    const filter = await this.#check({ action, target, ...place, write }, user, { isFiltered });
    if (write) await this.#checkServerState({ action, target, ...place, write }, write, user);
    if (target === 'session') noteChecked(place.request, place);
    if (!write || target === 'userState' || target === 'appState') return filter;
    const shared = (
      scope: 'user' | 'app',
      to: 'userState' | 'appState',
      userId: string | undefined,
    ): Promise<unknown> =>
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
    return filter;
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

  /** Whether who asks may see the instructions and tools of model requests in a session that was checked. */
  async allowsPrompts({ appName, userId, sessionId }: SessionKey, request: unknown): Promise<boolean> {
    const user = await this.#userOf(request);
    const asked = { action: 'read', target: 'session', appName, userId, sessionId, user, request } as AccessRequest;
    return this.#isYes(await askRule(this.#access, 'allowsPrompts', asked), 'allowsPrompts()');
  }

  /**
   * Those of these apps in which the caller may list sessions, or some of them: of their own, or of everybody.
   *
   * @param most how many to find
   */
  async appsOf(
    apps: readonly string[],
    request: unknown,
    { whose = 'own', most = Infinity }: { readonly whose?: 'own' | 'all'; readonly most?: number } = {},
  ): Promise<string[]> {
    const question = { operation: 'listApps', action: 'list', target: 'sessions', request } as const;
    // Of no app, nothing is shown.
    const notes = apps.length === 0 && whose === 'own' ? 'refusals' : 'all';
    return this.audit.follow(question, () => this.#appsOf(apps, request, whose, most), { notes, outcome: 'done' });
  }

  async #appsOf(apps: readonly string[], request: unknown, whose: 'own' | 'all', most: number): Promise<string[]> {
    const user = await this.#userOf(request);
    const allowed: string[] = [];
    for (const appName of apps) {
      if (allowed.length === most) break;
      const ofUser = whose === 'own' && user ? { userId: user.id } : {};
      const asked = { action: 'list', target: 'sessions', appName, ...ofUser, user, request } as AccessRequest;
      if ((await this.#answerTo(asked)) !== false) allowed.push(appName);
    }
    return allowed;
  }

  /** Access for an open stream. It ends at the maximum age, or when the rule no longer allows it. Close it with the stream. */
  followStream(asked: AccessQuestion): StreamAccess {
    const { request } = asked;
    return new StreamAccess(
      () => this.check(asked, { isPart: true }),
      this.limits,
      isAddressed(request) ? this.clientOf(request) : undefined,
      asked,
      this.#access.signedInUntil(request),
      (end) => onSignOut(request, end),
    );
  }

  /** Who is behind a request that was checked: the signed-in user, or an address. */
  clientOf(request: AddressedRequest): string {
    return clientOf(request, findClientAddress(request, this.limits.trustedProxies));
  }

  /** What the answer to a request that was checked may take, for `reserveAnswer`. */
  answerTo(request: AddressedRequest, response: ServerResponse): AnswerRequest {
    return { response, client: this.clientOf(request), bytes: this.mostAnswerBytes, limits: this.limits };
  }

  /** Waits for the memory of an answer in parts. Whoever writes it gives it back; at the latest, the end of the connection does. */
  async reserve(request: AddressedRequest, response: ServerResponse): Promise<PageShare> {
    return reserveShare(this.answerTo(request, response));
  }

  /** Counts a stream of whoever asks until its connection closes. Throws if there are too many. */
  countStream(request: AddressedRequest, response: ServerResponse): void {
    countStream(response, this.clientOf(request), this.limits.maxStreamsPerClient);
  }

  /** The most that a view or a page of a service of the app has. */
  get mostAnswerBytes(): number {
    const sizes = this.services.map(({ limits: { maxViewBytes, maxPageBytes } }) =>
      Math.max(maxViewBytes, maxPageBytes),
    );
    return Math.max(...(sizes.length > 0 ? sizes : [DEFAULT_LIMITS.maxViewBytes]));
  }

  /** Returns the filter of a list that is taken. */
  async #check(
    asked: AccessQuestion,
    user: AccessUser | undefined,
    use: FilterUse = {},
  ): Promise<SessionFilter | undefined> {
    // The type of a rule that accepts anonymous requests says so.
    const request = { ...asked, user } as AccessRequest;
    const answer = await this.#answerTo(request);
    if (answer === false) throw createAccessRefusal(asked);
    const filtered = answer === true ? undefined : new FilteredAccess(answer, asked, this.services, use);
    if (filtered && !(await filtered.isMatch())) {
      if (!filtered.isUsable) this.#sayOnce(unusableFilter(asked));
      throw createAccessRefusal(asked);
    }
    if (asked.action === 'write' || asked.action === 'create') {
      if (!this.#isYes(await askRule(this.#access, 'allowsWrite', request), 'allowsWrite()')) {
        throw refusedWrite(asked.write);
      }
      await filtered?.assertStays();
    }
    return filtered?.filter;
  }

  async #answerTo(request: AccessRequest): Promise<boolean | RuleFilter> {
    const answer = await askRule(this.#access, 'allows', request);
    try {
      return ruleAnswer(answer);
    } catch (error) {
      if (error instanceof AccessRuleError) this.#sayOnce(error.message, 'error');
      throw error;
    }
  }

  /** Also if the rule lets clients write anything. */
  async #checkServerState(asked: AccessQuestion, { stateKeys }: WriteDescription, user: AccessUser | undefined) {
    if (stateKeys.length === 0) return;
    const definitions = this.services
      .map(({ stateDefinitions }) => stateDefinitions)
      .filter((each) => each !== undefined);
    const [key] = serverOnlyKeys(definitions, asked.appName, stateKeys);
    if (key === undefined) return;
    const answer = await askRule(this.#access, 'allowsServerState', { ...asked, user } as AccessRequest);
    if (this.#isYes(answer, 'allowsServerState()')) return;
    throw new ForbiddenException(`The server alone writes the state key ${JSON.stringify(key)}.`);
  }

  async #userOf(request: unknown): Promise<AccessUser | undefined> {
    const user = await askRuleForUser(this.#access, request);
    if (isUser(user)) {
      noteUser(request, user);
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

  #isYes(answer: unknown, asked: string): boolean {
    if (typeof answer !== 'boolean') {
      this.#sayOnce(
        `${asked} of the access rule returned ${describeKind(answer)}, which allows nothing; return true or false.`,
        'error',
      );
    }
    return answer === true;
  }

  #sayOnce(message: string, level: 'warn' | 'error' = 'warn'): void {
    if (this.#said.has(message) || this.#said.size >= MOST_SAID) return;
    this.#said.add(message);
    this.#logger[level](message);
  }
}

function isAddressed(request: unknown): request is AddressedRequest {
  return typeof request === 'object' && request !== null && 'headers' in request && 'socket' in request;
}

function isUser(user: unknown): user is AccessUser {
  if (typeof user !== 'object' || user === null) return false;
  const { id } = user as { id?: unknown };
  return typeof id === 'string' && id !== '';
}
