import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { forgetDeclarations, hostOfDeclarations } from './declarations.js';

const PACKAGE = 'nestjs-agent-sessions';

/** What an app calls and hands on, by entry. */
const CALLED: Readonly<Record<string, readonly string[]>> = {
  '': ['SessionService', 'Session', 'Event', 'State', 'SessionTitles', 'SessionsCleanup'],
  agents: ['AgentSessions', 'AgentRun', 'AgentRegistry', 'AgentContext'],
  client: ['SessionsClient'],
  components: ['ComponentSession', 'ComponentManager'],
  storage: ['SessionStorage', 'SessionStore'],
  summarizer: ['SummarizerSessionManager'],
};

/** An app has the root beside other entries, but for code that runs in browsers. */
const OTHER_IMPORTS = `import { z } from 'zod';\nimport * as root from '${PACKAGE}';\n`;
const ENTRIES_OF_BROWSERS: ReadonlySet<string> = new Set(['client']);

/** Functions of the root, whose types an app gives. */
const CALLS = [
  'root.defineState({ step: z.number(), total: root.serverOnly(z.number()) })',
  "root.defineState({ step: z.number() }).of({} as Session)['step']",
  'root.typedSessions(this.SessionService, root.defineState({ step: z.number() }))',
  'root.typedSessions(this.SessionService, root.defineState({ step: z.number() })).createSession({} as never)',
  'root.typedSessions(this.SessionService, root.defineState({ step: z.number() })).listSessions({} as never)',
  'root.usageOf([])',
  'root.withLease({} as never, ({ signal }) => signal.aborted)',
  'root.getFunctionCalls({} as never)',
  'root.getFunctionResponses({} as never)',
  'root.getSessionsCleanupToken()',
  'root.getSessionStorageToken()',
  'root.getSessionsToken()',
];

/** How far a method goes into what it was answered: `(await sessions.getTurn(key)).holder` is one step. */
const MOST_STEPS = 4;

/** As `nest new` has it. */
const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strictNullChecks: true,
  declaration: true,
  skipLibCheck: true,
  types: ['node'],
};

/** An app outside of this repository: in it, a compiler could name any file. */
describe('A method without a written return type', () => {
  let app: string;
  let host: ts.CompilerHost;

  beforeAll(() => {
    assertFreshBuild();
    app = realpathSync(mkdtempSync(join(tmpdir(), 'inferred-types-')));
    const installed = join(app, 'node_modules', PACKAGE);
    cpSync(resolve('dist'), join(installed, 'dist'), {
      recursive: true,
      filter: (path) => !/\.(js|map|css)$/.test(path),
    });
    cpSync(resolve('package.json'), join(installed, 'package.json'));
    for (const name of readdirSync(resolve('node_modules')).filter((each) => !each.startsWith('.'))) {
      symlinkSync(resolve('node_modules', name), join(app, 'node_modules', name));
    }
    mkdirSync(join(app, 'src'));
    host = hostOfDeclarations(options);
    host.getCurrentDirectory = () => app;
  });

  afterAll(() => {
    // The last spec of its folder that compiles.
    forgetDeclarations();
    rmSync(app, { recursive: true, force: true });
  });

  it.each(Object.entries(CALLED))('may return all that the classes of "/%s" answer', (entry, classes) => {
    const specifier = entry === '' ? PACKAGE : `${PACKAGE}/${entry}`;
    const imports = `import type { ${classes.join(', ')} } from '${specifier}';\n`;
    const declared = classes.map((name) => `declare const ${name}: ${name};`).join('\n');
    const asked = compile(host, app, imports + declared);
    const found = classes.flatMap((name) => expressionsOf(asked.program.getTypeChecker(), asked.file, name));
    expect(found.length).toBeGreaterThan(classes.length);

    const calls = entry === '' ? [...found, ...CALLS] : found;
    const methods = calls.map((call, index) => `  async call${index}() { return ${call}; }`).join('\n');
    const parameters = classes.map((name) => `private readonly ${name}: ${name}`).join(', ');
    const others = ENTRIES_OF_BROWSERS.has(entry) ? '' : OTHER_IMPORTS;
    const controller = `${others}${imports}export class Controller {\n  constructor(${parameters}) {}\n${methods}\n}\n`;
    const { program, file } = compile(host, app, controller);
    const problems = program.getDeclarationDiagnostics(file).map(({ start, messageText }) => {
      const { line } = file.getLineAndCharacterOfPosition(start);
      return `${file.text.split('\n')[line]?.trim()}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
    expect(problems).toEqual([]);
  });
});

function compile(host: ts.CompilerHost, app: string, code: string): { program: ts.Program; file: ts.SourceFile } {
  const path = join(app, 'src/app.controller.ts');
  const file = ts.createSourceFile(path, code, {
    languageVersion: ts.ScriptTarget.ES2023,
    impliedNodeFormat: ts.ModuleKind.ESNext,
  });
  const own: ts.CompilerHost = {
    ...host,
    fileExists: (each) => each === path || host.fileExists(each),
    readFile: (each) => (each === path ? code : host.readFile(each)),
    getSourceFile: (each, ...rest) => (each === path ? file : host.getSourceFile(each, ...rest)),
  };
  return { program: ts.createProgram([path], options, own), file };
}

/** Expressions that call each method of a class, and read what it answers, each type once. */
function expressionsOf(checker: ts.TypeChecker, file: ts.SourceFile, name: string): string[] {
  const declared = file.statements.find(
    (each) => ts.isVariableStatement(each) && each.declarationList.declarations[0]?.name.getText(file) === name,
  );
  if (!declared || !ts.isVariableStatement(declared)) throw new Error(`${name} is not declared`);
  const [declaration] = declared.declarationList.declarations;
  if (!declaration) throw new Error(`${name} is not declared`);
  const seen = new Set<ts.Type>();
  const found: string[] = [];
  const read = (type: ts.Type, expression: string, steps: number): void => {
    const value = checker.getNonNullableType(checker.getAwaitedType(type) ?? type);
    if (seen.has(value) || steps > MOST_STEPS) return;
    seen.add(value);
    if (steps > 0) found.push(expression);
    const awaited = `(await ${expression})!`;
    const element = checker.getIndexTypeOfType(value, ts.IndexKind.Number);
    if (element && checker.isArrayType(value)) return read(element, `${awaited}[0]`, steps + 1);
    if (!isOwn(value)) return;
    for (const property of checker.getPropertiesOfType(value)) {
      if (!/^[\p{L}_]\w*$/u.test(property.name)) continue;
      const ofProperty = checker.getTypeOfSymbol(property);
      const [signature] = ofProperty.getCallSignatures();
      const called = signature && (property.flags & ts.SymbolFlags.Method) !== 0;
      if (called) read(signature.getReturnType(), `${awaited}.${property.name}(...([] as never))`, steps + 1);
      else if (!signature) read(ofProperty, `${awaited}.${property.name}`, steps + 1);
    }
  };
  read(checker.getTypeAtLocation(declaration), `this.${name}`, 0);
  return found;
}

/** Types of the package; how those of Node and Nest are named is not up to it. */
function isOwn(type: ts.Type): boolean {
  if (type.isUnionOrIntersection()) return type.types.some((each) => isOwn(each));
  return (type.getSymbol()?.declarations ?? []).some((each) =>
    each.getSourceFile().fileName.includes(`/${PACKAGE}/dist/`),
  );
}

/** The declarations of an older build would prove nothing. */
function assertFreshBuild(): void {
  const { status } = spawnSync(process.execPath, ['test/support/build-stamp.mjs']);
  if (status !== 0) throw new Error('`dist` was not built from the sources as they are: npm run build');
}
