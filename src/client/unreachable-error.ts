/**
 * No server answered, or its answer broke off: it does not run, or `url` is not its address. The `cause` is what `fetch` said.
 *
 * @example if (error instanceof ServerUnreachableError) console.error(error.message);
 */
export class ServerUnreachableError extends Error {
  readonly code = 'SERVER_UNREACHABLE';
  /** Whether a write may have happened: the request may have arrived. */
  readonly outcomeUnknown: boolean;

  constructor(
    /** The `url` of the client. */
    readonly url: string,
    cause: unknown,
  ) {
    const reason = findSystemCode(cause);
    const outcomeUnknown = reason === undefined || !NOT_CONNECTED.has(reason);
    super(
      `No answer from ${url}${reason === undefined ? '' : ` (${reason})`}. Start the server, or give the client the \`url\` of its routes, up to /apps.` +
        (outcomeUnknown ? ' If it runs, a write may have happened: read before you repeat it.' : ''),
      { cause },
    );
    this.name = 'ServerUnreachableError';
    this.outcomeUnknown = outcomeUnknown;
  }
}

/** Codes of the system when nothing was sent. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether `fetch` failed before there was an answer. It throws a TypeError then, and for a request that it refuses to send. */
export function isNetworkFailure(error: unknown): boolean {
  // By its name, since tests run in a realm of their own.
  if (!(error as Partial<Error> | undefined)?.name?.startsWith('TypeError')) return false;
  const { cause, message } = error as Error;
  return cause !== undefined || /fetch|network|load failed/i.test(message);
}

/** The code of the system, such as `ECONNREFUSED`. */
function findSystemCode(error: unknown): string | undefined {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : undefined;
}
