import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from './run-command.mjs';

/** How projects read types. CommonJS may import ES modules from TypeScript 5.8 on; 6 complains of `node10`. */
const ways = [
  { name: 'NodeNext, ES modules', module: 'nodenext', moduleResolution: 'nodenext', ending: 'mts' },
  { name: 'NodeNext, CommonJS', module: 'nodenext', moduleResolution: 'nodenext', ending: 'cts', from: 5.8 },
  { name: 'bundler', module: 'esnext', moduleResolution: 'bundler', ending: 'mts' },
  { name: 'node10', module: 'commonjs', moduleResolution: 'node10', ending: 'ts', below: 6 },
];

export const waysOf = (version) => ways.filter(({ from = 0, below = Infinity }) => version >= from && version < below);

/** Compiles a program in the folder of an app, strictly, declarations of libraries included. */
export async function checkTypes(folder, program, tsc, { module, moduleResolution, ending }) {
  const file = `${program}-of-${moduleResolution}.${ending}`;
  copyFileSync(join(folder, `${program}.ts`), join(folder, file));
  const config = join(folder, `tsconfig.${file}.json`);
  const compilerOptions = {
    module,
    moduleResolution,
    target: 'es2022',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    noEmit: true,
    types: ['node'],
  };
  writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
  await runCommand(process.execPath, [tsc, '-p', config], { cwd: folder });
}

/** As {@link checkTypes}, with frameworks whose declarations do not compile by themselves: only mistakes of the package and the program count. */
export async function checkOwnTypes(folder, program, tsc, way) {
  try {
    await checkTypes(folder, program, tsc, way);
  } catch (error) {
    const mistakes = String(error)
      .split('\n')
      .filter((line) => line.includes(': error TS'));
    const own = mistakes.filter(
      (line) => line.startsWith('node_modules/nestjs-agent-sessions/') || !line.startsWith('node_modules/'),
    );
    if (mistakes.length === 0) throw error;
    if (own.length > 0) throw new Error(own.join('\n'), { cause: error });
  }
}
