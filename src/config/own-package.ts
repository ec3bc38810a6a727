import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * This file, by the call stack of V8. Not by `import.meta`: Jest as Nest 11 sets it up compiles this package to CommonJS, where that does
 * not parse.
 */
function ownFile(): string {
  // Has prepareStackTrace only if somebody set it.
  const before: Partial<ErrorConstructor> = { ...Error };
  try {
    Error.stackTraceLimit = 1;
    Error.prepareStackTrace = (_error, [site]) => site?.getFileName();
    return new Error().stack ?? '';
  } finally {
    Object.assign(Error, { prepareStackTrace: undefined }, before);
  }
}

/**
 * Finds and loads packages as this one sees them.
 *
 * @example requireOfPackage().resolve('graphiql/package.json');
 */
export function requireOfPackage(): NodeJS.Require {
  return createRequire(ownFile());
}

/**
 * The path of a file of this package, the same from the sources and from the built package.
 *
 * @example const folder = fileOfPackage('dist/inspector/page/');
 */
export function fileOfPackage(path: string): string {
  return join(dirname(requireOfPackage().resolve('nestjs-agent-sessions/package.json')), path);
}
