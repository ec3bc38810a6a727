/**
 * The configuration is wrong. Each problem names what it is about, what was found there, and what is allowed.
 *
 * It is no `SessionsError`: it is for whoever runs the app, and no caller of an operation can do anything about it.
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
}

/** The result, or what is wrong: for whoever wants to say all that is wrong at once. */
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
