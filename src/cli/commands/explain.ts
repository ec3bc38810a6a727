import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import type { ExplainedEvent, ViewExplanation } from '../../sessions/operations/explain-view.js';
import type { CommandContext } from '../command-context.js';
import { shown } from '../output.js';
import { changeLines, explainRequest, line, type RequestOptions } from './explain-request.js';

/** Options of `explain`. */
export interface ExplainOptions extends Omit<RequestOptions, 'request'> {
  /** `true` without a number. */
  readonly request?: RequestOptions['request'] | true | undefined;
  readonly newest?: number | undefined;
  readonly at?: number | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const PAGE = 200;

/** Says of each event why it is in the view that a model gets, or not; or what a model was given. */
export async function explain(
  context: CommandContext,
  { newest, at, from, to, request: answer, since, prompts }: ExplainOptions,
  appName: string,
  userId: string,
  sessionId: string,
): Promise<void> {
  const { output } = context;
  if (answer === undefined && prompts) throw new InvalidInputError('needs --request', '--prompts');
  const service = await context.sessions();
  if (answer !== undefined) {
    const options = { request: answer === true ? 'last' : answer, since, prompts } as const;
    return explainRequest({ output, sessions: service }, options, { appName, userId, sessionId });
  }
  const view = { config: { numRecentEvents: newest }, atSeq: at, since };
  const request = { appName, userId, sessionId, ...view, fromSeq: from, toSeq: to };
  let cursor: string | undefined;
  do {
    const page = await service.explainView({ ...request, limit: PAGE, cursor });
    const { events, nextCursor } = page;
    if (cursor === undefined) await output.result(viewLines(page.view).join('\n'), { view: page.view });
    for (const event of events) await output.result(explainedLine(event), event);
    cursor = nextCursor;
    context.signal.throwIfAborted();
  } while (cursor !== undefined);
}

function viewLines({ events, tokens, isTruncated, change }: ViewExplanation['view']): string[] {
  const about = `${events} events, about ${tokens} tokens${isTruncated ? ', cut by bytes' : ''}`;
  return [line('view', about), ...(change ? changeLines(change) : [])];
}

function explainedLine({ seq, author = '', inView, reason, by, tokens }: ExplainedEvent): string {
  const why = by === undefined ? reason : `${reason} by ${by}`;
  const parts = [String(seq).padStart(6), inView ? 'in ' : 'out', why.padEnd(20), author];
  return shown([...parts, `${tokens} tokens`].join('  '));
}
