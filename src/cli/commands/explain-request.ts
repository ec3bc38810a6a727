import type { SeqPair } from '../../sessions/domain/event/model-request.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import type { SessionKey } from '../../sessions/domain/values/ids.js';
import { readPages } from '../../sessions/domain/values/paging.js';
import type { ViewDifference } from '../../sessions/domain/event/request-difference.js';
import type { ModelRequestReport, RequestText } from '../../sessions/domain/event/request-report.js';
import type { SessionService } from '../../sessions/session.service.js';
import type { CommandContext } from '../command-context.js';
import { shown } from '../output.js';

/** Options of `explain --request`. */
export interface RequestOptions {
  /** The answer; `last` for the newest one. */
  readonly request: number | 'last';
  readonly since?: number | undefined;
  readonly prompts?: boolean | undefined;
}

/** Says what a model was given for an answer, and what changed since the request before. */
export async function explainRequest(
  { output, sessions }: Pick<CommandContext, 'output'> & { readonly sessions: SessionService },
  { request, since, prompts = false }: RequestOptions,
  key: SessionKey,
): Promise<void> {
  const seq = request === 'last' ? await lastAnswer(sessions, key) : request;
  const report = await sessions.getModelRequest({ ...key, seq, since });
  if (!report) throw new InvalidInputError(`event ${seq} does not say what its model was given`, '--request');
  const { instructions, tools, ...facts } = report;
  const texts = { instructions: textFor(instructions, prompts), tools: textFor(tools, prompts) };
  await output.result(reportLines(report, prompts).map(shown).join('\n'), { ...facts, ...texts });
}

async function lastAnswer(sessions: SessionService, key: SessionKey): Promise<number> {
  const newest = { ...key, modelRequests: true, order: 'desc', limit: 1 } as const;
  for await (const { events } of readPages((cursor) => sessions.listEvents({ ...newest, cursor }))) {
    if (events[0]) return events[0].seq;
  }
  throw new InvalidInputError('no event of the session says what its model was given', '--request');
}

/** Prompts are secret: they are shown only if they are asked for. */
function textFor(text: RequestText | undefined, prompts: boolean): RequestText | undefined {
  if (!text || prompts) return text;
  return { hash: text.hash, isKept: text.isKept };
}

function reportLines(report: ModelRequestReport, prompts: boolean): string[] {
  const { seq, author = '', model = '', given, isExact, durationMs, usage, change, instructions, tools } = report;
  const { promptTokenCount, cachedContentTokenCount, candidatesTokenCount } = usage ?? {};
  const tokens = [
    promptTokenCount !== undefined && `${promptTokenCount} in`,
    cachedContentTokenCount !== undefined && `${cachedContentTokenCount} cached`,
    candidatesTokenCount !== undefined && `${candidatesTokenCount} out`,
  ].filter((each) => each !== false);
  return [
    line('answer', [String(seq), author, model].filter((each) => each !== '').join('  ')),
    line('given', `${rangesText(given)}${isExact ? '' : ' (not exact)'}`),
    ...(tokens.length > 0 ? [line('tokens', tokens.join(', '))] : []),
    ...(durationMs === undefined ? [] : [line('took', `${durationMs} ms`)]),
    ...(change ? changeLines(change) : []),
    ...textLine('prompt', instructions, change?.isPromptSame, prompts),
    ...textLine('tools', tools, change?.areToolsSame, prompts),
  ];
}

/** What changed since another request, or another view. */
export function changeLines({ seq, stableUntilSeq, added, removed }: ViewDifference): string[] {
  return [
    line('before', String(seq)),
    line('stable', stableUntilSeq === 0 ? 'nothing' : `up to ${stableUntilSeq}`),
    line('added', rangesText(added)),
    line('removed', rangesText(removed)),
  ];
}

function textLine(
  name: string,
  text: RequestText | undefined,
  isSame: boolean | undefined,
  prompts: boolean,
): string[] {
  if (!text) return isSame === false ? [line(name, 'none any more')] : [];
  const { hash, isKept, value } = text;
  const notes = [isSame !== undefined && (isSame ? 'the same' : 'changed'), !isKept && 'not kept'];
  const noted = [hash, ...notes.filter((each) => each !== false)].join(', ');
  const whole = prompts && isKept ? [typeof value === 'string' ? value : JSON.stringify(value)] : [];
  return [line(name, noted), ...whole];
}

export function line(name: string, text: string): string {
  return `${name.padEnd(8)}${text}`;
}

function rangesText(ranges: readonly SeqPair[]): string {
  if (ranges.length === 0) return 'nothing';
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(', ');
}
