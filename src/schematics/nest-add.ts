import { type ImportedModule, isNamedIn, withImportedModule } from './module-source.js';

/** The part of a tree of files of `@angular-devkit/schematics` that is used here, which comes with the Nest CLI. */
interface Files {
  exists(path: string): boolean;
  readText(path: string): string;
  overwrite(path: string, content: string): void;
}

interface Context {
  readonly logger: { info(message: string): void };
}

const SESSIONS: ImportedModule = {
  name: 'SessionsModule',
  from: 'nestjs-agent-sessions',
  code: "SessionsModule.forRoot({ provider: 'memory', isGlobal: true })",
};

const IS_IMPORTED = new RegExp(`\\b${SESSIONS.name}\\b[^;]*['"]${SESSIONS.from}['"]`);

const BY_HAND = `add ${SESSIONS.code} of ${SESSIONS.from} to the imports of a module of your app`;

const WHAT_NEXT = `Sessions are in memory now, and gone when the app ends. Next:
  a store that keeps them  https://github.com/agent-sessions/nestjs-agent-sessions#in-your-app
  an agent                 https://github.com/agent-sessions/nestjs-agent-sessions/blob/main/docs/agents.md#in-a-nest-app
  who has access           https://github.com/agent-sessions/nestjs-agent-sessions/blob/main/docs/tasks/sign-in.md`;

/** What `nest add nestjs-agent-sessions` does after it has installed the package. */
export function nestAdd({ sourceRoot = 'src' }: { readonly sourceRoot?: string }) {
  return (files: Files, { logger }: Context): Files => {
    const path = `${sourceRoot}/app.module.ts`;
    if (!files.exists(path)) throw new Error(`There is no ${path}: ${BY_HAND}.`);
    const before = files.readText(path);
    if (IS_IMPORTED.test(before)) {
      logger.info(`${path} has ${SESSIONS.name} already, and stays as it is.`);
      return files;
    }
    if (isNamedIn(before, SESSIONS.name)) {
      throw new Error(`${path} has another ${SESSIONS.name}: import this one by another name, and ${BY_HAND}.`);
    }
    const after = withImportedModule(before, SESSIONS);
    if (after === undefined) throw new Error(`${path} has no @Module({ … }) with a list of imports: ${BY_HAND}.`);
    files.overwrite(path, after);
    logger.info(WHAT_NEXT);
    return files;
  };
}
