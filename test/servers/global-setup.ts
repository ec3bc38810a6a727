import Module from 'node:module';
import type { ProvidedServers } from './provided-servers.js';

type ResolveFilename = (request: string, parent: { filename?: string } | undefined, ...rest: unknown[]) => string;

let servers: ProvidedServers | undefined;

/** Runs before all tests: provides the servers that the chosen stores need. */
export default async function provideServers(): Promise<void> {
  const { chosenStoreNames } = await import('../support/store-names.js');
  const { ProvidedServers } = await import('./provided-servers.js');
  const { default: layer } = await import('../groups/layer.cjs');
  for (const line of layer.lines()) process.stderr.write(`${line}\n`);
  servers = await ProvidedServers.for(chosenStoreNames());
}

/** Runs after all tests. */
export async function stopServers(): Promise<void> {
  await servers?.stop();
}

// Jest compiles the imports of a global setup, but does not resolve `./file.js` to `./file.ts` there.
const internals = Module as unknown as { ['_resolveFilename']: ResolveFilename };
const resolve = internals['_resolveFilename'];
internals['_resolveFilename'] = function (request, parent, ...rest) {
  const isOwn = request.startsWith('.') && parent?.filename?.endsWith('.ts');
  return resolve.call(this, isOwn ? request.replace(/\.js$/, '.ts') : request, parent, ...rest);
};
