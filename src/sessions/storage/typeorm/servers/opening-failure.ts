import { ConfigurationError } from '../../../../config/configuration-error.js';
import { SessionsError, StoreUnavailableError } from '../../../domain/errors.js';
import { codeOf, isError, storeUnavailable } from '../driver-errors.js';
import type { ServerAddress } from './server-kind.js';

/** Where a server was looked for, without what nobody else should read. */
interface Place {
  readonly server: string;
  readonly user: string;
  readonly database: string;
}

type Explanation = (place: Place) => string;

const nobodyThere: Explanation = ({ server }) =>
  `Nobody listens at ${server}: start the server, or correct host and port in the url.`;
const noSuchHost: Explanation = ({ server }) => `There is no host for ${server}: correct the url.`;
const noAnswer: Explanation = ({ server }) => `The server at ${server} did not answer in time.`;
const loginRefused: Explanation = ({ server, user }) =>
  `The server at ${server} refused the login of ${user}: check user and password in the url.`;
const noSuchDatabase: Explanation = ({ server, database }) =>
  `There is no database ${database} at ${server}: create it, or correct the url.`;
const notAllowed: Explanation = ({ user, database }) =>
  `The user ${user} may not make tables in the database ${database}, or not use those that are there: grant it, or run the migrations as somebody who may.`;

const noSchema: Explanation = ({ user, database }) =>
  `Nothing in the search_path of ${user} is a schema of the database ${database}: set it right, or give a schema.`;
const takesNoWrites: Explanation = ({ server }) =>
  `The server at ${server} takes no writes: give one that does, not a replica, in the url.`;
const inTheWay: Explanation = ({ database }) =>
  `The database ${database} has tables that stand in the way of those of sessions: give a tablePrefix, or another database.`;

const settingsRefused: Explanation = ({ server }) =>
  `A pooler at ${server} refuses settings of connections: add statement_timeout, lock_timeout and ` +
  'idle_in_transaction_session_timeout to its ignore_startup_parameters.';

/** What may be over in a while: the server is not to be reached. */
const UNREACHABLE: Partial<Record<string, Explanation>> = {
  ECONNREFUSED: nobodyThere,
  ENOENT: nobodyThere,
  ENOTFOUND: noSuchHost,
  EAI_AGAIN: noSuchHost,
  ETIMEDOUT: noAnswer,
  // It may become the master at any time.
  '25006': takesNoWrites,
  ER_OPTION_PREVENTS_STATEMENT: takesNoWrites,
  ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: takesNoWrites,
};

/** What stays until somebody changes something. */
const WRONG: Partial<Record<string, Explanation>> = {
  ER_ACCESS_DENIED_ERROR: loginRefused,
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: loginRefused,
  '28P01': loginRefused,
  '28000': loginRefused,
  ER_BAD_DB_ERROR: noSuchDatabase,
  '3D000': noSuchDatabase,
  ER_DBACCESS_DENIED_ERROR: notAllowed,
  ER_TABLEACCESS_DENIED_ERROR: notAllowed,
  '42501': notAllowed,
  '3F000': noSchema,
  ER_TABLE_EXISTS_ERROR: inTheWay,
  // Of tables that refer to those in the way.
  ER_CANT_CREATE_TABLE: inTheWay,
  '42P07': inTheWay,
};

/** Why a server could not be opened, in words that say what to do. */
export function openingFailure(error: unknown, { url, driverOptions }: ServerAddress): unknown {
  if (error instanceof SessionsError || error instanceof ConfigurationError || !isError(error)) return error;
  const code = codeOf(error);
  const place = placeOf(url, driverOptions);
  const cause = new Error(`The database driver reported ${code || error.name}`);
  const wrong = WRONG[code] ?? mistakeIn(error);
  if (wrong) return new ConfigurationError([wrong(place)], { cause });
  const unreachable = UNREACHABLE[code] ?? (/timeout/i.test(error.message) ? noAnswer : undefined);
  return unreachable ? new StoreUnavailableError(unreachable(place), false, { cause }) : storeUnavailable(error, false);
}

/** What drivers say without a code. */
function mistakeIn({ name, message }: Error): Explanation | undefined {
  if (name === 'DriverPackageNotInstalledError') {
    return ({ server }) => `The driver for ${server} is missing: run \`npm install mysql2\` or \`npm install pg\`.`;
  }
  if (message.startsWith('unsupported startup parameter')) return settingsRefused;
  return /^SASL|password/.test(message) ? loginRefused : undefined;
}

function placeOf(url: string, { socketPath }: Readonly<Record<string, unknown>> = {}): Place {
  const { host, username, pathname } = new URL(url);
  return {
    server: typeof socketPath === 'string' ? socketPath : host,
    user: JSON.stringify(decodeURIComponent(username)),
    database: JSON.stringify(decodeURIComponent(pathname.slice(1))),
  };
}
