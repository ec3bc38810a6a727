import { types } from 'node:util';
import { CommanderError } from 'commander';
import { ConfigurationError } from '../config/configuration-error.js';
import {
  InvalidInputError,
  SessionNotFoundError,
  SessionsError,
  StoreUnavailableError,
} from '../sessions/domain/errors/errors.js';
import { OutputClosedError } from './output.js';

/** The exit codes of all commands. */
export const EXIT = {
  done: 0,
  /** `verify` found an error, `migrate --status` a migration that has not run, or an import a difference. */
  wrong: 1,
  /** The command line or the configuration is wrong. */
  usage: 2,
  /** The store cannot be reached. */
  unavailable: 3,
  /** There is no such session. */
  notFound: 4,
  /** Refused for another reason; the code says which. */
  refused: 5,
  bug: 70,
  interrupted: 130,
} as const;

/** How a command ended without its result. */
export interface Failure {
  readonly exitCode: number;
  /** Missing if there is nothing to say. */
  readonly told?: { readonly code: string; readonly message: string } | undefined;
}

/** What an error means for the user of the command line: one line, without secrets and without a stack. */
export function describeFailure(error: unknown, signal: AbortSignal): Failure {
  if (error instanceof OutputClosedError) return { exitCode: EXIT.done };
  if (signal.aborted && !(error instanceof StoreUnavailableError)) return { exitCode: EXIT.interrupted };
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { exitCode: EXIT.done };
    // Without a command, it has shown the help.
    if (error.code === 'commander.help') return { exitCode: EXIT.usage };
    return told(EXIT.usage, 'USAGE', `${error.message.replace(/^error: /, '')} (agent-sessions --help)`);
  }
  if (error instanceof ConfigurationError) return told(EXIT.usage, error.code, error.problems.join(' '));
  if (error instanceof SessionsError) return told(exitCodeOf(error), error.code, error.message);
  if (isSystemError(error))
    return told(WRITES.has(error.syscall) ? EXIT.refused : EXIT.usage, error.code, error.message);
  const { name, message } = types.isNativeError(error) ? error : { name: 'Error', message: String(error) };
  return told(EXIT.bug, 'INTERNAL', `${name}: ${message}; report this as a bug`);
}

function exitCodeOf(error: SessionsError): number {
  if (error instanceof StoreUnavailableError) return EXIT.unavailable;
  if (error instanceof SessionNotFoundError) return EXIT.notFound;
  return error instanceof InvalidInputError ? EXIT.usage : EXIT.refused;
}

function told(exitCode: number, code: string, message: string): Failure {
  return { exitCode, told: { code, message: withoutSecrets(message).replaceAll(/\s+/g, ' ') } };
}

/** What fails on a full disk. */
const WRITES: ReadonlySet<string> = new Set(['write', 'writev']);
/** Where Node names no path. */
const FILES_AND_PORTS: ReadonlySet<string> = new Set([...WRITES, 'read', 'listen']);

/** Of a file, or of the port of a page. A store tells its own errors. */
function isSystemError(error: unknown): error is Error & { readonly code: string; readonly syscall: string } {
  if (!types.isNativeError(error)) return false;
  const { code, syscall }: NodeJS.ErrnoException = error;
  return code !== undefined && syscall !== undefined && (FILES_AND_PORTS.has(syscall) || 'path' in error);
}

/** Hides passwords of URLs. */
export function withoutSecrets(text: string): string {
  return text
    .replaceAll(/(:\/\/[^\s/:@]*):[^\s/]*@/g, '$1:***@')
    .replaceAll(/\b(password|pwd|token|secret)=[^\s&]+/gi, '$1=***');
}
