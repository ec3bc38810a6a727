import { ConfigurationError } from '../../../../config/configuration-error.js';
import { installCommand } from '../../../../config/install-command.js';
import { tlsProblem } from '../../../../config/tls-settings.js';
import { type ServerPlace, serverPlaceOf } from '../../../../config/store-place.js';
import { SessionsError, StoreUnavailableError } from '../../../domain/errors/errors.js';
import {
  findDriverErrorCode,
  isError,
  isStatementMode,
  NOT_IN_CLUSTER,
  POOLER_IS_FULL,
  storeUnavailable,
} from './driver-errors.js';
import type { ServerAddress } from './server-kind.js';

type Explanation = (place: ServerPlace) => string;

const connectionRefused: Explanation = ({ server }) =>
  `No server listens at ${server}: start it, or correct host and port in the url.`;
const unknownHost: Explanation = ({ server }) => `There is no host for ${server}: correct the url.`;
const timedOut: Explanation = ({ server }) => `The server at ${server} did not answer in time.`;
const loginRefused: Explanation = ({ server, user }) =>
  `The server at ${server} refused the login of ${user}: check user and password in the url.`;
const mute: Explanation = ({ server }) =>
  `The server at ${server} answered to a login, and then no longer in time (${POOLER_IS_FULL}).`;
const unknownDatabase: Explanation = ({ server, database }) =>
  `There is no database ${database} at ${server}: create it, or correct the url.`;
const accessDenied: Explanation = ({ user, database }) =>
  `The user ${user} may not create tables in the database ${database}, or lacks rights on existing ones: grant them, or run the migrations as another user.`;

const noSchema: Explanation = ({ user, database }) =>
  `No schema in the search_path of ${user} exists in the database ${database}: correct it, or give a schema.`;
const readOnly: Explanation = ({ server }) =>
  `The server at ${server} is read-only: give the url of a primary, not of a replica.`;
const tablesExist: Explanation = ({ database }) =>
  `The database ${database} has other tables with the names of the session tables: set tablePrefix, or use another database.`;

const notInCluster: Explanation = ({ server }) => `The server at ${server} is of no use now: ${NOT_IN_CLUSTER}.`;

const poolerRefusedSettings: Explanation = ({ server }) =>
  `A pooler at ${server} refuses settings of connections: set pooler to transaction.`;

const poolerInStatementMode: Explanation = ({ server }) =>
  `A pooler at ${server} has pool_mode = statement, which allows no transactions: set it to transaction or session.`;

/** Temporary: the server is unreachable. */
const UNREACHABLE: Partial<Record<string, Explanation>> = {
  ECONNREFUSED: connectionRefused,
  ENOENT: connectionRefused,
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  ETIMEDOUT: timedOut,
  // A replica may be promoted at any time.
  '25006': readOnly,
  ER_OPTION_PREVENTS_STATEMENT: readOnly,
  ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: readOnly,
  ER_UNKNOWN_COM_ERROR: notInCluster,
};

/** Permanent until the configuration changes. */
const CONFIGURATION_ERRORS: Partial<Record<string, Explanation>> = {
  ER_ACCESS_DENIED_ERROR: loginRefused,
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: loginRefused,
  '28P01': loginRefused,
  '28000': loginRefused,
  ER_BAD_DB_ERROR: unknownDatabase,
  '3D000': unknownDatabase,
  ER_DBACCESS_DENIED_ERROR: accessDenied,
  ER_TABLEACCESS_DENIED_ERROR: accessDenied,
  '42501': accessDenied,
  '3F000': noSchema,
  ER_TABLE_EXISTS_ERROR: tablesExist,
  // For tables with foreign keys to the existing ones.
  ER_CANT_CREATE_TABLE: tablesExist,
  '42P07': tablesExist,
};

/**
 * Explains why a server could not be opened, and what to do.
 *
 * @param isMute whether a server of PostgreSQL has answered to a login, and nothing since
 */
export function openingFailure(error: unknown, address: ServerAddress, isMute = false): unknown {
  if (error instanceof SessionsError || error instanceof ConfigurationError || !isError(error)) return error;
  const code = findDriverErrorCode(error);
  const place = serverPlaceOf(address);
  const cause = new Error(`The database driver reported ${code || error.name}`);
  const encryption = tlsProblem(code, error.message, `the server at ${place.server}`);
  if (encryption !== undefined) return new ConfigurationError([encryption], { cause });
  const explanation = CONFIGURATION_ERRORS[code] ?? explanationByMessage(error);
  if (explanation) return new ConfigurationError([explanation(place)], { cause });
  const unreachable = UNREACHABLE[code] ?? (/timeout/i.test(error.message) ? timedOut : undefined);
  if (!unreachable) return storeUnavailable(error, false, place.server);
  const reason = unreachable === timedOut && isMute ? mute : unreachable;
  return new StoreUnavailableError(reason(place), false, {
    cause,
    publicReason: 'The database cannot be reached.',
  });
}

/** Recognises errors without a code. */
function explanationByMessage(error: Error): Explanation | undefined {
  const { name, message } = error;
  if (isStatementMode(error)) return poolerInStatementMode;
  if (name === 'DriverPackageNotInstalledError') {
    return ({ server }) =>
      `The driver for ${server} is missing: run \`${installCommand('mysql2')}\` or \`${installCommand('pg')}\`.`;
  }
  if (message.startsWith('unsupported startup parameter')) return poolerRefusedSettings;
  return /^SASL|password/.test(message) ? loginRefused : undefined;
}
