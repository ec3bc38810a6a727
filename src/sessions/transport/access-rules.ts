import { type ClientWrites, isClientWrite } from '../domain/write-description.js';
import { type AccessRequest, type AccessUser, SessionAccess, isYes } from './session-access.js';

/** How the built-in rules find the user. */
export interface UserOptions {
  /** Replaces `request.user`, for example if its id has another name. */
  readonly userOf?: ((request: unknown) => unknown) | undefined;
}

/** A rule made from options. */
abstract class ConfiguredAccess extends SessionAccess {
  constructor(private readonly users: UserOptions) {
    super();
  }

  override userOf(request: unknown): unknown {
    return this.users.userOf ? this.users.userOf(request) : super.userOf(request);
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
}

/** Options of {@link clientAccess}. */
export interface ClientAccessOptions extends UserOptions {
  /** The apps whose sessions clients may access. Default: all. */
  readonly apps?: readonly string[] | undefined;
  /** What clients may write beyond text and files by the author `user`. Each list replaces its default. */
  readonly writes?: ClientWrites | undefined;
}

/**
 * For end users: they access their own sessions and state, read app state, and write only text and files by the author `user`.
 *
 * @example
 * SessionAccessModule.forRoot({ access: clientAccess({ writes: { controls: ['rewind', 'fork'] } }) });
 */
export function clientAccess(options: ClientAccessOptions = {}): SessionAccess {
  return new ClientAccess(options);
}

/**
 * Allows everything, for trusted services such as the one that runs the agents.
 *
 * @example accessByRole({ roles: { agents: serviceAccess() }, otherwise: clientAccess() });
 */
export function serviceAccess(options: UserOptions = {}): SessionAccess {
  return new ServiceAccess(options);
}

/** Options of {@link accessByRole}. */
export interface RoleAccessOptions extends UserOptions {
  readonly roles: Readonly<Record<string, SessionAccess>>;
  /** The rule for users with none of these roles. Without it they may do nothing. */
  readonly otherwise?: SessionAccess | undefined;
  /** Returns the roles of a user. Default: `user.roles`. */
  readonly rolesOf?: ((user: AccessUser) => readonly string[]) | undefined;
}

class RoleAccess extends ConfiguredAccess {
  constructor(private readonly options: RoleAccessOptions) {
    super(options);
  }

  async allows(asked: AccessRequest): Promise<boolean> {
    return this.#oneOf(asked, async (rule) => rule.allows(asked));
  }

  override async allowsWrite(asked: AccessRequest): Promise<boolean> {
    return this.#oneOf(asked, async (rule) => (await isYes(rule.allows(asked))) && rule.allowsWrite(asked));
  }

  override async allowsServerState(asked: AccessRequest): Promise<boolean> {
    return this.#oneOf(asked, async (rule) => (await isYes(rule.allows(asked))) && rule.allowsServerState(asked));
  }

  /** A result that is not a boolean is passed on if no rule allows, so that it is logged. */
  async #oneOf({ user }: AccessRequest, says: (rule: SessionAccess) => Promise<boolean>): Promise<boolean> {
    let answer = false;
    for (const rule of this.#rulesOf(user)) {
      const said = await says(rule);
      if (await isYes(said)) return true;
      if (typeof said !== 'boolean') answer = said;
    }
    return answer;
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
 * Decides by the roles of a user. With several roles, one that allows is enough.
 *
 * @example
 * SessionAccessModule.forRoot({
 *   access: accessByRole({ roles: { agents: serviceAccess() }, otherwise: clientAccess() }),
 * });
 */
export function accessByRole(options: RoleAccessOptions): SessionAccess {
  return new RoleAccess(options);
}
