import { type ModelMessage, type ToolSet, convertToModelMessages, generateText, wrapLanguageModel } from 'ai';
import { type EventInput, givenRanges, type LoggedEvent, type ModelRequest } from '../../index.js';
import type { ReadingOptions } from './event-items.js';
import type { Prompt, WrappableModel } from './model-question.js';
import type { StepEvent } from './step-recorder.js';
import { type ChatEntry, entriesOf } from './ui-messages.js';

/** How events become what a model gets. */
export interface RenderingOptions extends ReadingOptions {
  /** The tools of the app. They say what models are told of their outputs. */
  readonly tools: ToolSet | undefined;
}

/**
 * The event, and what the model was given for it.
 *
 * @param events that there were, with those of the same answer
 */
export async function withRequest(
  { event, question }: StepEvent,
  events: readonly LoggedEvent[],
  options: RenderingOptions,
): Promise<EventInput> {
  if (!question) return event;
  const { prompt, tools, model, startedAt, endedAt = performance.now() } = question;
  const [messages, instructions] = withoutInstructions(prompt);
  const modelRequest: ModelRequest = {
    ...(await givenIn(messages, events, (entries) => renderedEach(entries, model, options), options)),
    ...(instructions !== undefined && { instructions }),
    ...(tools && { tools: plainCopy(tools) }),
    durationMs: Math.round(endedAt - startedAt),
  };
  return { ...event, modelRequest };
}

/** The same as the JSON of the SDK's providers. */
function plainCopy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** Instructions come first. Those of a single text without options of providers are the text. */
function withoutInstructions(prompt: Prompt): [Prompt, ModelRequest['instructions']] {
  const first = prompt.findIndex(({ role }) => role !== 'system');
  const count = first === -1 ? prompt.length : first;
  const parts = prompt
    .slice(0, count)
    .flatMap(({ role, content, providerOptions }) =>
      role === 'system' ? [{ text: content, ...(providerOptions && { providerOptions }) }] : [],
    );
  const [only, ...others] = parts;
  const isText = only !== undefined && others.length === 0 && !('providerOptions' in only);
  const instructions = isText ? only.text : plainCopy({ parts });
  return [prompt.slice(count), only && instructions];
}

type Render = (entries: readonly ChatEntry[]) => Promise<string[][] | undefined>;

/** Which events say what the model got. It is exact if they alone, in this order, make the same prompt again. */
async function givenIn(
  prompt: Prompt,
  events: readonly LoggedEvent[],
  render: Render,
  options: ReadingOptions,
): Promise<Pick<ModelRequest, 'given' | 'isExact'>> {
  const wanted = prompt.map((message) => JSON.stringify(message));
  const entries = entriesOf(events, options);
  const rendered = await render(entries);
  if (!rendered) return { ...givenRanges(events), isExact: false };
  const { found, isCertain } = foundIn(wanted, rendered);
  const given = found.flatMap((index) => eventsIn(entries[index]));
  const again = isCertain && (await render(entriesOf(given, options)));
  const isExact = again && JSON.stringify(again.flat()) === JSON.stringify(wanted);
  return { ...givenRanges(given), ...(!isExact && { isExact: false }) };
}

/** The places of the messages of a page that the model got as a whole. It is certain if no other one says the same. */
function foundIn(
  wanted: readonly string[],
  rendered: readonly (readonly string[])[],
): { readonly found: number[]; readonly isCertain: boolean } {
  const found: number[] = [];
  const others = new Set<string>();
  let next = 0;
  for (const [index, messages] of rendered.entries()) {
    if (messages.length === 0) continue;
    const place = placeOf(messages, wanted, next);
    if (place === -1) {
      for (const message of messages) others.add(message);
      continue;
    }
    found.push(index);
    next = place + messages.length;
  }
  return { found, isCertain: !wanted.some((message) => others.has(message)) };
}

function placeOf(messages: readonly string[], wanted: readonly string[], from: number): number {
  const last = wanted.length - messages.length;
  for (let place = from; place <= last; place += 1) {
    if (messages.every((message, index) => message === wanted[place + index])) return place;
  }
  return -1;
}

function eventsIn(entry: ChatEntry | undefined): LoggedEvent[] {
  return entry ? [...entry.events, ...entry.answers].toSorted((one, other) => one.seq - other.seq) : [];
}

/** Stands between messages of a page, so that one call says what becomes of each. */
const BORDER: ModelMessage = { role: 'user', content: 'nestjs-agent-sessions:border' };

/** What a model gets of each message of a page. `undefined`: the SDK refuses them. */
async function renderedEach(
  entries: readonly ChatEntry[],
  model: WrappableModel,
  { tools }: RenderingOptions,
): Promise<string[][] | undefined> {
  try {
    const messages: ModelMessage[] = [];
    for (const { message } of entries) messages.push(BORDER, ...(await convertToModelMessages([message], { tools })));
    if (messages.length === 0) return [];
    const prompt = await promptOf(messages, model);
    const border = JSON.stringify(prompt?.[0]);
    const groups: string[][] = [];
    for (const said of (prompt ?? []).map((message) => JSON.stringify(message))) {
      if (said === border) groups.push([]);
      else groups.at(-1)?.push(said);
    }
    return groups;
  } catch {
    return undefined;
  }
}

/** What `generateText` gives to a model. The model is not asked, and files are left where they are. */
async function promptOf(messages: ModelMessage[], model: WrappableModel): Promise<Prompt | undefined> {
  let prompt: Prompt | undefined;
  const silent = wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v3',
      overrideSupportedUrls: () => ({ '*/*': [/^/] }),
      wrapGenerate: ({ params }) => {
        ({ prompt } = params);
        throw new Error('The prompt is all that counts');
      },
    },
  });
  const quiet = { maxRetries: 0, telemetry: { isEnabled: false }, allowSystemInMessages: true };
  await generateText({ ...quiet, model: silent, messages }).catch((error: unknown) => {
    if (!prompt) throw error;
  });
  return prompt;
}
