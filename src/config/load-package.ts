import { types } from 'node:util';
import { ConfigurationError } from './configuration-error.js';
import { installCommand } from './install-command.js';

/** Loads optional packages. If one is missing, the error says how to install it. */
export async function loadPackage<Loaded>(load: () => Promise<Loaded>, neededBy: string): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    const missing = missingPackage(error);
    if (missing === undefined) throw error;
    throw new ConfigurationError([`${neededBy} needs the package ${missing}: run \`${installCommand(missing)}\`.`]);
  }
}

function missingPackage(error: unknown): string | undefined {
  // Jest's own errors are not `instanceof` the Error of the code that it runs.
  if (!types.isNativeError(error)) return undefined;
  // TypeORM's error for a missing driver. It names the older one of MySQL, which this package does not use.
  if (error.name === 'DriverPackageNotInstalledError')
    return /npm install ([\w@/-]+)/.exec(error.message)?.[1]?.replace(/^mysql$/, 'mysql2');
  const code = 'code' in error ? error.code : undefined;
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return undefined;
  // A path means a broken installation, which `npm install` of a package does not fix.
  return /Cannot find (?:package|module) '((?:@[\w.-]+\/)?\w[\w.-]*)['/]/.exec(error.message)?.[1];
}
