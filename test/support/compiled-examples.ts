import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export const EXAMPLES = join(__dirname, '../../examples');
export const COMPILED_EXAMPLES = join(EXAMPLES, 'dist');

const compilerOptions: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

/** Compiles an example without its types, which `test/docs` checks together with those of the docs. */
export function compileExample(name: string): void {
  mkdirSync(join(COMPILED_EXAMPLES, name), { recursive: true });
  for (const file of readdirSync(join(EXAMPLES, name)).filter((each) => each.endsWith('.ts'))) {
    const { outputText } = ts.transpileModule(readFileSync(join(EXAMPLES, name, file), 'utf8'), { compilerOptions });
    writeFileSync(join(COMPILED_EXAMPLES, name, file.replace(/\.ts$/, '.js')), outputText);
  }
}
