import { inspect } from 'node:util';

/**
 * The configuration is invalid. Each problem names the setting, what was found, and what is allowed.
 *
 * Not a `SessionsError`: it is for operators, since callers of operations cannot handle it.
 *
 * @example
 * try {
 *   SessionsModule.forRoot(sessionsFromEnvironment(process.env));
 * } catch (error) {
 *   if (error instanceof ConfigurationError) console.error(error.problems.join('\n'));
 * }
 */
export class ConfigurationError extends Error {
  readonly code = 'CONFIGURATION_INVALID';

  constructor(
    readonly problems: readonly string[],
    options?: ErrorOptions,
  ) {
    super(
      ['The configuration of sessions is wrong:', ...problems.map((problem) => `  ${problem}`)].join('\n'),
      options,
    );
    this.name = 'ConfigurationError';
  }

  /** Logs show the problems once, without a stack trace. */
  [inspect.custom](): string {
    return `${this.name}: ${this.message}`;
  }
}

/** The result, or the problems, for callers that report several together. */
export function attempt<Result>(work: () => Result): Result | ConfigurationError {
  try {
    return work();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}

export function problemsIn(outcome: unknown): readonly string[] {
  return outcome instanceof ConfigurationError ? outcome.problems : [];
}
