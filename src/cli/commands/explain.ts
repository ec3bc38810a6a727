import { InvalidInputError } from '../../sessions/domain/errors.js';
import type { ExplainedEvent } from '../../sessions/operations/explain-view.js';
import type { CommandContext } from '../command-context.js';
import { shown } from '../output.js';
import { explainRequest, type RequestOptions } from './explain-request.js';

/** Options of `explain`. */
export interface ExplainOptions extends Omit<RequestOptions, 'request'> {
  /** `true` without a number. */
  readonly request?: RequestOptions['request'] | true | undefined;
  readonly newest?: number | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const PAGE = 200;

/** Says of each event why it is in the view that a model gets, or not; or what a model was given. */
export async function explain(
  context: CommandContext,
  { newest, from, to, request: answer, since, prompts }: ExplainOptions,
  appName: string,
  userId: string,
  sessionId: string,
): Promise<void> {
  const { output } = context;
  if (answer === undefined && (since !== undefined || prompts))
    throw new InvalidInputError('needs --request', since === undefined ? '--prompts' : '--since');
  const service = await context.sessions();
  if (answer !== undefined) {
    const options = { request: answer === true ? 'last' : answer, since, prompts } as const;
    return explainRequest({ output, sessions: service }, options, { appName, userId, sessionId });
  }
  const request = { appName, userId, sessionId, config: { numRecentEvents: newest }, fromSeq: from, toSeq: to };
  let cursor: string | undefined;
  do {
    const { events, view, nextCursor } = await service.explainView({ ...request, limit: PAGE, cursor });
    if (cursor === undefined) {
      const about = `view    ${view.events} events, about ${view.tokens} tokens${view.isTruncated ? ', cut by bytes' : ''}`;
      await output.result(about, { view });
    }
    for (const event of events) await output.result(explainedLine(event), event);
    cursor = nextCursor;
    context.signal.throwIfAborted();
  } while (cursor !== undefined);
}

function explainedLine({ seq, author = '', inView, reason, by, tokens }: ExplainedEvent): string {
  const why = by === undefined ? reason : `${reason} by ${by}`;
  const parts = [String(seq).padStart(6), inView ? 'in ' : 'out', why.padEnd(20), author];
  return shown([...parts, `${tokens} tokens`].join('  '));
}
