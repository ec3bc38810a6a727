import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { hostOfDeclarations } from './declarations.js';
import { type Fence, fencesIn, pages } from './fences.js';

/** What pages leave to their reader; a block that imports from `./token.js` finds it here. */
const GIVEN = resolve('test/docs/given');

const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'],
  moduleDetection: ts.ModuleDetectionKind.Force,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  esModuleInterop: true,
  skipLibCheck: true,
  noEmit: true,
  types: ['node'],
};

const pathOf = ({ page, line }: Fence): string => resolve(GIVEN, `${page.replaceAll(/\W/g, '-')}-${line}.ts`);

/** Compiles all blocks together, each as a file of its own, and the examples, against the built package. */
function problemsOf(fences: readonly Fence[], examples: readonly string[]): Map<Fence | string, string[]> {
  const codes = new Map(fences.map((fence) => [pathOf(fence), fence.code]));
  const host = hostOfDeclarations(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => codes.has(path) || fileExists(path);
  host.readFile = (path) => codes.get(path) ?? readFile(path);
  const program = ts.createProgram(
    [...['globals.d.ts', 'models.d.ts'].map((name) => resolve(GIVEN, name)), ...codes.keys(), ...examples],
    options,
    host,
  );
  const problemsIn = (path: string, from: { page: string; line: number }): string[] => {
    const file = program.getSourceFile(path);
    if (!file) throw new Error(`${path} was not compiled`);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map((diagnostic) => shown(from, file, diagnostic));
  };
  return new Map<Fence | string, string[]>([
    ...fences.map((fence) => [fence, problemsIn(pathOf(fence), fence)] as const),
    ...examples.map((path) => [path, problemsIn(path, { page: path, line: 1 })] as const),
  ]);
}

function shown(
  { page, line }: Pick<Fence, 'page' | 'line'>,
  file: ts.SourceFile,
  { start = 0, messageText }: ts.Diagnostic,
): string {
  const found = file.getLineAndCharacterOfPosition(start).line;
  return `${page}:${line + found}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
}

const fences = pages().flatMap((page) => fencesIn(page, 'ts'));
const examples = readdirSync('examples', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('dist'))
  .map((path) => join('examples', path));

/** What the check has to find, each in a block of its own that begins at line 10. */
const mistakes = [
  {
    name: 'what a package does not export',
    code: "import { SessionsModul } from 'nestjs-agent-sessions';\n\nSessionsModul;",
    problem: /^wrong-0\.md:10: .*no exported member/,
  },
  {
    name: 'an undeclared name',
    code: '\nnowhere();',
    problem: /^wrong-1\.md:11: Cannot find name 'nowhere'\.$/,
  },
  {
    name: 'an option that does not exist',
    code: "SessionsModule.forRoot({ provider: 'memory', tll: {} });",
    problem: /^wrong-2\.md:10: .*'tll' does not exist/,
  },
  {
    name: 'code that is broken off',
    code: 'const imports = [SessionsModule,',
    problem: /^wrong-3\.md:10: .*expected\.$/,
  },
  {
    name: 'an event with a misspelled field',
    code: "import { Event } from 'nestjs-agent-sessions';\n\nnew Event({ author: 'user', contnet: {} });",
    problem: /^wrong-4\.md:12: .*'contnet' does not exist/,
  },
].map((mistake, index) => ({
  ...mistake,
  fence: { page: `wrong-${index}.md`, line: 10, code: mistake.code, runs: false },
}));

let problems: ReadonlyMap<Fence | string, string[]>;
beforeAll(() => {
  problems = problemsOf([...fences, ...mistakes.map(({ fence }) => fence)], examples);
});

describe('TypeScript in the docs', () => {
  it('is found', () => {
    expect(fences.length).toBeGreaterThan(30);
  });

  it.each(pages())('is nowhere hidden from the check: %s', (page) => {
    const marks = readFileSync(page, 'utf8').match(/^[ >]*(?:```|~~~) *(?:tsx?|typescript)\b/gim) ?? [];
    expect(marks).toHaveLength(fencesIn(page, 'ts').length);
  });

  it.each(fences)('compiles: $page, line $line', (fence) => {
    expect(problems.get(fence)).toEqual([]);
  });
});

describe('The examples', () => {
  it.each(examples)('compile: %s', (path) => {
    expect(problems.get(path)).toEqual([]);
  });
});

describe('The check of TypeScript in the docs', () => {
  it.each(mistakes)('finds $name', ({ fence, problem }) => {
    expect(problems.get(fence)).toEqual([expect.stringMatching(problem)]);
  });
});
