/**
 * A tool failed, or a model called it in a wrong way. The server's log gets it; the model reads the message of its cause.
 *
 * @example if (error instanceof ToolError) metrics.count('tool-errors', { tool: error.tool });
 */
export class ToolError extends Error {
  constructor(
    /** The name in the call. */
    readonly tool: string,
    /** What happened, and what follows. */
    problem: string,
    /** What it threw, or what the model is told. */
    cause: unknown,
  ) {
    super(`The tool ${JSON.stringify(tool)} ${problem}: ${toToolErrorMessage(cause)}`, { cause });
    this.name = 'ToolError';
  }
}

/**
 * A tool took longer than its `timeoutMs`. The reason of its signal.
 *
 * @example if (tool.signal.reason instanceof ToolTimeoutError) await cancelOrder();
 */
export class ToolTimeoutError extends Error {
  constructor(readonly timeoutMs: number) {
    super(`The tool did not answer within ${timeoutMs} ms.`);
    this.name = 'ToolTimeoutError';
  }
}

/** As long as the message of an error is that a model reads. */
const LONGEST_MESSAGE = 2_000;

/** What a model reads of an error. */
export function errorResponse(error: unknown): { readonly error: string } {
  return { error: toToolErrorMessage(error) };
}

function toToolErrorMessage(error: unknown): string {
  return describeThrownError(error).slice(0, LONGEST_MESSAGE).toWellFormed();
}

/** Anything may be thrown, also what has no text. */
function describeThrownError(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message || error.name : error);
  } catch {
    return 'The tool failed without a message.';
  }
}
