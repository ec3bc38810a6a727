import { nestAdd } from '../../src/schematics/nest-add.js';
import { withImportedModule } from '../../src/schematics/module-source.js';

const B = { name: 'B', from: 'b', code: 'B.forRoot()' };
const added = (source: string): string | undefined => withImportedModule(source, B);

function filesOf(texts: Map<string, string>) {
  return {
    exists: (path: string) => texts.has(path),
    readText: (path: string) => texts.get(path) ?? '',
    overwrite: (path: string, content: string) => texts.set(path, content),
  };
}

describe('a module that is added to the source of another one', () => {
  it.each([
    ['an empty list', '@Module({\n  imports: [],\n})\n', '@Module({\n  imports: [B.forRoot()],\n})\n'],
    ['a list', '@Module({ imports: [A, C] })', '@Module({ imports: [B.forRoot(), A, C] })'],
    [
      'a list with a line for each',
      '@Module({\n  imports: [\n    A,\n  ],\n})',
      '@Module({\n  imports: [\n    B.forRoot(),\n    A,\n  ],\n})',
    ],
    ['no list', '@Module({\n  providers: [A],\n})', '@Module({\n  imports: [B.forRoot()],\n  providers: [A],\n})'],
    ['nothing', '@Module({})', '@Module({ imports: [B.forRoot()],})'],
    [
      'lists of other things',
      '@Module({ providers: [{ provide: A, useValue: { imports: [1] } }], imports: [C] })',
      '@Module({ providers: [{ provide: A, useValue: { imports: [1] } }], imports: [B.forRoot(), C] })',
    ],
    [
      'brackets in texts and comments',
      "@Module({ providers: ['}', `]`], /* imports: [ */ imports: [C] }) // @Module({",
      "@Module({ providers: ['}', `]`], /* imports: [ */ imports: [B.forRoot(), C] }) // @Module({",
    ],
    ['a list that is spread', '@Module({ imports: [...A] })', '@Module({ imports: [B.forRoot(), ...A] })'],
    ['a name in quotes', "@Module({ 'imports': [C] })", "@Module({ 'imports': [B.forRoot(), C] })"],
  ])('stands first in its list: %s', (_, source, expected) => {
    expect(added(source)).toBe(`import { B } from 'b';\n${expected}`);
  });

  it('ends its lines as the file does', () => {
    expect(added('@Module({\r\n  imports: [],\r\n})\r\n')).toBe(
      "import { B } from 'b';\r\n@Module({\r\n  imports: [B.forRoot()],\r\n})\r\n",
    );
  });

  it('is imported below what a file begins with, in its quotes', () => {
    expect(added('// A licence\nimport { A } from "a";\n@Module({ imports: [A] }) class M {}')).toBe(
      '// A licence\nimport { B } from "b";\nimport { A } from "a";\n@Module({ imports: [B.forRoot(), A] }) class M {}',
    );
  });

  it.each([
    '@Module({ imports })',
    '@Module({ imports: modules })',
    '@Module(metadata)',
    '@Module({ ...metadata })',
    '@Module({ imports: [A], ...metadata })',
    'class Other {}',
    '@Module({',
  ])('is not added to what is no list: %s', (source) => {
    expect(added(source)).toBeUndefined();
  });
});

describe('nest add', () => {
  const said: string[] = [];
  const context = { logger: { info: (message: string) => said.push(message) } };

  it('says what to do by hand where it changes nothing', () => {
    const texts = new Map([['src/app.module.ts', '@Module(metadata) class AppModule {}']]);
    const byHand = /add SessionsModule\.forRoot\(.+\) of nestjs-agent-sessions to the imports of a module/;
    expect(() => nestAdd({})(filesOf(texts), context)).toThrow(byHand);
    expect(() => nestAdd({ sourceRoot: 'apps/one' })(filesOf(texts), context)).toThrow(byHand);
    expect(texts.get('src/app.module.ts')).not.toContain('SessionsModule');
  });

  it.each([
    [
      'another module of this name',
      "import { SessionsModule } from './sessions.js';\n@Module({ imports: [SessionsModule] }) class A {}",
    ],
    ['a class of this name', '@Module({}) class SessionsModule {}'],
  ])('does not take %s for its own', (_what, source) => {
    const texts = new Map([['src/app.module.ts', source]]);
    expect(() => nestAdd({})(filesOf(texts), context)).toThrow(
      /has another SessionsModule: import this one by another name/,
    );
    expect(texts.get('src/app.module.ts')).toBe(source);
  });

  it('adds what is only spoken of', () => {
    const texts = new Map([['src/app.module.ts', '// TODO: SessionsModule\n@Module({}) class AppModule {}']]);
    nestAdd({})(filesOf(texts), context);
    expect(texts.get('src/app.module.ts')).toContain('imports: [SessionsModule.forRoot(');
  });

  it('changes nothing the second time', () => {
    const texts = new Map([['src/app.module.ts', '@Module({}) class AppModule {}']]);
    nestAdd({})(filesOf(texts), context);
    const once = texts.get('src/app.module.ts');
    expect(once).toContain("imports: [SessionsModule.forRoot({ provider: 'memory', isGlobal: true })]");
    nestAdd({})(filesOf(texts), context);
    expect(texts.get('src/app.module.ts')).toBe(once);
    expect(said.at(-1)).toContain('has SessionsModule already');
  });
});
