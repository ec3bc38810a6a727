import { resolve } from 'node:path';
import { ConfigurationError } from '../../../../config/configuration-error.js';
import { codeOf, isBusy, isError, storeUnavailable } from '../driver-errors.js';

const REASONS: Partial<Record<string, string>> = {
  SQLITE_NOTADB: 'it is no SQLite file; give another path',
  SQLITE_CORRUPT: 'it is damaged; restore it, or give another path',
  SQLITE_READONLY: 'it is read-only; let this process write there, or give another path',
  SQLITE_FULL: 'the disk is full; make room, or give another path',
  EACCES: 'this process may not write there; allow it, or give another path',
  EPERM: 'this process may not write there; allow it, or give another path',
  EROFS: 'the disk is read-only; give another path',
  EEXIST: 'a part of the path is a file; give another path',
  ENOTDIR: 'a part of the path is a file; give another path',
};
const IN_THE_WAY = 'it has tables that stand in the way of those of sessions; give a tablePrefix, or another path';
const CANNOT_BE_OPENED = 'it must be a file that this process may write, or a new one in a folder where it may';

/** Why a file could not be opened: only one that somebody else holds gets better by waiting. */
export function openingFailure(error: unknown, database: string): unknown {
  if (isBusy(error) || !isError(error)) return storeUnavailable(error, false);
  const reason = REASONS[codeOf(error)] ?? reasonIn(error);
  if (reason === undefined) return storeUnavailable(error, false);
  const cause = new Error(`The database driver reported ${codeOf(error) || 'that it cannot open the file'}`);
  return new ConfigurationError([`SQLite cannot open ${resolve(database)}: ${reason}.`], { cause });
}

/** Drivers say it with codes of their own, or without any. */
function reasonIn(error: Error): string | undefined {
  if (/\btable .* already exists/.test(error.message)) return IN_THE_WAY;
  const isRefused = /^(SQLITE_(CANTOPEN|READONLY|IOERR)|ENOENT|EISDIR)/.test(codeOf(error));
  return isRefused || /unable to open/i.test(error.message) ? CANNOT_BE_OPENED : undefined;
}
