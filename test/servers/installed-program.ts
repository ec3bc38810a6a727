import { binaryFolders, findBinary } from './binaries.js';
import { packageInstaller } from './install-packages.js';

/** The path of a program of a package. Throws an error that says what to do if it cannot be installed. */
export async function installedProgram(packageName: string, neededBy: string, name = packageName): Promise<string> {
  if (findBinary(name, binaryFolders()) === undefined) await packageInstaller()?.(packageName);
  const found = findBinary(name, binaryFolders());
  if (found !== undefined) return found;
  throw new Error(
    `${neededBy} need ${name}, which is not on the PATH: install the package ${packageName} (sudo apt-get install ` +
      `${packageName}, or what your system calls it). Or run the tests that need no server: npm run test:embedded`,
  );
}
