import { SessionsError } from '../../sessions/domain/errors/errors.js';

/** What {@link RunLimitError} says. */
export interface RunLimit {
  /** Whose runs are counted. `process`: those of this instance. */
  readonly scope: 'user' | 'app' | 'process';
  /** `runs` at once, working and waiting; or `bytes` of what waiting messages hold in memory. */
  readonly unit: 'runs' | 'bytes';
  readonly limit: number;
}

const WORDS: Readonly<Record<RunLimit['scope'], string>> = {
  user: 'The user has',
  app: 'The app has',
  process: 'This instance has',
};

/**
 * There are too many runs, or too many messages wait. Nothing was written.
 *
 * @example if (error instanceof RunLimitError) return reply.status(429).header('Retry-After', '1').send();
 */
export class RunLimitError extends SessionsError {
  readonly code = 'RUN_LIMIT_REACHED';
  readonly status = 429;

  constructor(readonly runLimit: RunLimit) {
    super(
      `${WORDS[runLimit.scope]} ${wordsFor(runLimit)}. The message was not accepted: send it again when one is over.`,
    );
  }
}

function wordsFor({ unit, limit }: RunLimit): string {
  if (unit === 'runs') return `${limit} runs at once, which is the most`;
  return `no room for another waiting message: they hold at most ${limit} bytes together`;
}
