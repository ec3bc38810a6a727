import { ConfigurationError } from '../../config/configuration-error.js';
import { problemsOfOptions } from '../../config/option-checks.js';
import { type Setting, type SettingsOf, callable, isRecord, kindOf, settings, texts } from '../../config/setting.js';
import type { ClientWrites } from '../domain/write/client-writes.js';
import type { AccessUser, SessionAccess } from './session-access.js';

/** How the built-in rules find the user. */
export interface UserOptions {
  /** Replaces `request.user`, for example if its id has another name. */
  readonly userOf?: ((request: unknown) => unknown) | undefined;
}

/** Options of `clientAccess`. */
export interface ClientAccessOptions extends UserOptions {
  /** The apps whose sessions clients may access. Default: all. */
  readonly apps?: readonly string[] | undefined;
  /** What clients may write beyond text and files by the author `user`. Each list replaces its default. */
  readonly writes?: ClientWrites | undefined;
}

/** Options of `accessByRole`. */
export interface RoleAccessOptions extends UserOptions {
  readonly roles: Readonly<Record<string, SessionAccess>>;
  /** The rule for users with none of these roles. Without it they may do nothing. */
  readonly otherwise?: SessionAccess | undefined;
  /** Returns the roles of a user. Default: `user.roles`. */
  readonly rolesOf?: ((user: AccessUser) => readonly string[]) | undefined;
}

/** A rule may be of another copy of the package. */
const isRule = (value: unknown): boolean => isRecord(value) && typeof value.allows === 'function';
const rule: Setting = { kind: kindOf('an access rule', isRule) };
const rules = kindOf(
  'an object with an access rule for each role',
  (value) => isRecord(value) && Object.values(value).every(isRule),
);

const CONTROLS: readonly string[] = [
  'rewind',
  'redact',
  'fork',
  'summary',
  'turn',
  'stop',
  'approval',
  'turnsOnly',
  'metadataDelta',
];
const SCOPES: readonly unknown[] = ['session', 'user', 'app', 'temp'];

const controls = kindOf(
  `a list of ${CONTROLS.join(', ')} and names that begin with actions.`,
  (value) =>
    texts.fits(value) && (value as string[]).every((name) => CONTROLS.includes(name) || name.startsWith('actions.')),
);
const scopes = kindOf(
  `a list of ${SCOPES.join(', ')}`,
  (value) => Array.isArray(value) && value.every((scope) => SCOPES.includes(scope)),
);

const USER: SettingsOf<UserOptions> = { userOf: { kind: callable } };

const CLIENT: SettingsOf<ClientAccessOptions> = { ...USER, apps: { kind: texts }, writes: { kind: settings } };

const WRITES: SettingsOf<ClientWrites> = {
  authors: { kind: texts },
  roles: { kind: texts },
  content: { kind: texts },
  controls: { kind: controls },
  fields: { kind: texts },
  stateScopes: { kind: scopes },
};

const ROLES: SettingsOf<RoleAccessOptions> = {
  ...USER,
  roles: { kind: rules },
  otherwise: rule,
  rolesOf: { kind: callable },
};

/** A misspelled option of a rule would let somebody in. Each of these throws a ConfigurationError. */
export function checkUserOptions(options: UserOptions): void {
  refuse(problemsOfOptions(options, USER));
}

export function checkClientOptions(options: ClientAccessOptions): void {
  const { writes } = options;
  refuse([
    ...problemsOfOptions(options, CLIENT),
    ...(isRecord(writes) ? problemsOfOptions(writes, WRITES, 'writes.') : []),
  ]);
}

export function checkRoleOptions(options: RoleAccessOptions): void {
  refuse([
    ...problemsOfOptions(options, ROLES),
    ...(options.roles === undefined ? ['roles is missing: give an access rule for each role.'] : []),
  ]);
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigurationError(problems);
}
