import { ForbiddenException } from '@nestjs/common';
import { checkOptionNames } from '../../config/option-checks.js';
import type { AccessPreset } from '../../config/auth-settings.js';
import { SignedInUser } from '../auth/signed-in-user.js';
import { isClientWrite } from '../domain/write/client-writes.js';
import {
  type ClientAccessOptions,
  type RoleAccessOptions,
  type UserOptions,
  checkClientOptions,
  checkRoleOptions,
  checkUserOptions,
} from './access-options.js';
import { type AccessAnswer, type AccessRequest, type AccessUser, SessionAccess, isYes } from './session-access.js';

/** A rule made from options. */
abstract class ConfiguredAccess extends SessionAccess {
  constructor({ userOf }: UserOptions) {
    super();
    // Not in the prototype, so that one can see whether the rule finds users itself.
    if (userOf) this.userOf = (request) => userOf(request);
  }
}

class ClientAccess extends ConfiguredAccess {
  constructor(private readonly options: ClientAccessOptions) {
    super(options);
  }

  allows({ user, userId, appName, target, action }: AccessRequest): boolean {
    const { apps } = this.options;
    if (apps !== undefined && !apps.includes(appName)) return false;
    return target === 'appState' ? action === 'read' : userId === user.id;
  }

  override allowsWrite({ write }: AccessRequest): boolean {
    return isClientWrite(write, this.options.writes);
  }
}

class ServiceAccess extends ConfiguredAccess {
  allows(): boolean {
    return true;
  }

  override allowsWrite(): boolean {
    return true;
  }

  override allowsServerState(): boolean {
    return true;
  }

  override allowsPrompts(): boolean {
    return true;
  }
}

/** Reads what `sees` says, and writes nothing. What it may not write is refused and not hidden: its reader sees it. */
class ReadingAccess extends ConfiguredAccess {
  constructor(
    options: UserOptions,
    private readonly sees: (asked: AccessRequest) => boolean,
  ) {
    super(options);
  }

  allows(asked: AccessRequest): boolean {
    if (asked.action === 'read' || asked.action === 'list') return this.sees(asked);
    throw new ForbiddenException('You may only read.');
  }

  override allowsWrite(): boolean {
    return false;
  }
}

/**
 * For end users: they access their own sessions and state, read app state, and write only text and files by the author `user`.
 *
 * @example
 * SessionAccessModule.forRoot({ access: clientAccess({ writes: { controls: ['rewind', 'fork'] } }) });
 */
export function clientAccess(options: ClientAccessOptions = {}): SessionAccess {
  checkClientOptions(options);
  return new ClientAccess(options);
}

/**
 * Allows everything, for trusted services such as the one that runs the agents.
 *
 * @example accessByRole({ roles: { agents: serviceAccess() }, otherwise: clientAccess() });
 */
export function serviceAccess(options: UserOptions = {}): SessionAccess {
  checkUserOptions(options);
  return new ServiceAccess(options);
}

/**
 * For users who look at their own sessions and state, and at app state.
 *
 * @example accessByRole({ roles: { viewers: readonlyAccess() }, otherwise: clientAccess() });
 */
export function readonlyAccess(options: UserOptions = {}): SessionAccess {
  checkUserOptions(options);
  return new ReadingAccess(options, ({ target, userId, user }) => target === 'appState' || userId === user.id);
}

/**
 * For people who look at the sessions of all users, and change nothing.
 *
 * @example accessByRole({ roles: { support: supportAccess() }, otherwise: clientAccess() });
 */
export function supportAccess(options: UserOptions = {}): SessionAccess {
  checkUserOptions(options);
  return new ReadingAccess(options, () => true);
}

/**
 * What the presets of tokens and API keys allow. The default of `access` where `auth` is given.
 *
 * @param rules replace those of presets
 * @example
 * SessionAccessModule.forRoot({
 *   auth: { jwt },
 *   access: accessByPreset({ client: clientAccess({ writes: { controls: ['rewind', 'fork'] } }) }),
 * });
 */
export function accessByPreset(rules: Partial<Readonly<Record<AccessPreset, SessionAccess>>> = {}): SessionAccess {
  checkOptionNames(rules, { client: true, service: true, readonly: true, support: true });
  const roles: Readonly<Record<AccessPreset, SessionAccess>> = {
    client: clientAccess(),
    service: serviceAccess(),
    readonly: readonlyAccess(),
    support: supportAccess(),
    ...rules,
  };
  // Users that a guard of the app has found are clients, whatever fields they have.
  return accessByRole({ roles, rolesOf: (user) => [user instanceof SignedInUser ? user.preset : 'client'] });
}

/** An answer, and the rules that gave it. */
interface RoleAnswer {
  readonly answer: AccessAnswer;
  readonly rules: readonly SessionAccess[];
}

class RoleAccess extends ConfiguredAccess {
  constructor(private readonly options: RoleAccessOptions) {
    super(options);
  }

  async allows(asked: AccessRequest): Promise<AccessAnswer> {
    return (await this.#said(asked)).answer;
  }

  override async allowsWrite(asked: AccessRequest): Promise<boolean> {
    return this.#oneOf(asked, async (rule) => rule.allowsWrite(asked));
  }

  override async allowsServerState(asked: AccessRequest): Promise<boolean> {
    return this.#oneOf(asked, async (rule) => rule.allowsServerState(asked));
  }

  override async allowsPrompts(asked: AccessRequest): Promise<boolean> {
    return this.#oneOf(asked, async (rule) => rule.allowsPrompts(asked));
  }

  /** Only rules that the answer comes from: a right in some sessions must not become one in those of another role. */
  async #oneOf(asked: AccessRequest, says: (rule: SessionAccess) => Promise<boolean>): Promise<boolean> {
    let answer = false;
    for (const rule of (await this.#said(asked)).rules) {
      const said = await says(rule);
      if (await isYes(said)) return true;
      if (typeof said !== 'boolean') answer = said;
    }
    return answer;
  }

  /**
   * What the rules say, and which of them said so. `true` goes before a filter, and of several filters the first one counts, since
   * a list has one. A write has the answer of a rule that allows it. A result that is no answer is passed on if no rule allows.
   */
  async #said(asked: AccessRequest): Promise<RoleAnswer> {
    const isWrite = asked.action === 'write' || asked.action === 'create';
    const all: SessionAccess[] = [];
    const some: RoleAnswer[] = [];
    let refused: RoleAnswer = { answer: false, rules: [] };
    for (const rule of this.#rulesOf(asked.user)) {
      const answer = await rule.allows(asked);
      if (answer === true) all.push(rule);
      else if (typeof answer === 'object' && answer !== null) some.push({ answer, rules: [rule] });
      else if (typeof answer !== 'boolean') refused = { answer, rules: [] };
    }
    const candidates = [...(all.length > 0 ? [{ answer: true, rules: all }] : []), ...some];
    for (const candidate of isWrite ? candidates : []) {
      for (const rule of candidate.rules) if (await isYes(rule.allowsWrite(asked))) return candidate;
    }
    return candidates[0] ?? refused;
  }

  #rulesOf(user: AccessUser): SessionAccess[] {
    const { roles, otherwise, rolesOf = listedRoles } = this.options;
    const own = rolesOf(user).flatMap((role) => (Object.hasOwn(roles, role) ? (roles[role] ?? []) : []));
    return own.length > 0 || !otherwise ? own : [otherwise];
  }
}

function listedRoles({ roles }: AccessUser): readonly string[] {
  return Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [];
}

/**
 * Decides by the roles of a user. With several roles, one that allows is enough. If the rules of some return filters, and none `true`, the
 * first filter counts.
 *
 * @example
 * SessionAccessModule.forRoot({
 *   access: accessByRole({ roles: { agents: serviceAccess() }, otherwise: clientAccess() }),
 * });
 */
export function accessByRole(options: RoleAccessOptions): SessionAccess {
  checkRoleOptions(options);
  return new RoleAccess(options);
}
