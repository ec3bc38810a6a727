import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { type Fence, fencesIn, pages } from './fences.js';

const run = promisify(execFile);
const fences = pages().flatMap((page) => fencesIn(page, 'ts').filter(({ runs }) => runs));

let folder: string;

/** A folder of a reader who has installed the package. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'docs-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'nestjs-agent-sessions'));
  symlinkSync(resolve('node_modules/zod'), join(folder, 'node_modules', 'zod'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the block says that it prints: the comments behind its calls of `console.log`. */
function promised({ code }: Fence): string[] {
  return [...code.matchAll(/console\.log\(.*\); \/\/ (?<output>.+)$/gm)].map(({ groups }) => groups?.output ?? '');
}

async function output({ code, page, line }: Fence): Promise<string[]> {
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
      experimentalDecorators: true,
      verbatimModuleSyntax: true,
    },
  });
  const file = join(folder, `${page.replaceAll(/\W/g, '-')}-${line}.mjs`);
  writeFileSync(file, outputText);
  const { stdout } = await run(process.execPath, [file], { cwd: folder });
  return stdout.trimEnd().split('\n');
}

describe('Blocks of the docs that run', () => {
  it('are found', () => {
    expect(fences.length).toBeGreaterThan(3);
  });

  it.each(fences)('print what they say: $page, line $line', async (fence) => {
    expect(promised(fence).length).toBeGreaterThan(0);
    expect(await output(fence)).toEqual(promised(fence));
  });
});
