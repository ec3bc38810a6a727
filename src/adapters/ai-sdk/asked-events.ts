import {
  type ModelMessage,
  type ToolSet,
  type UIMessage,
  convertToModelMessages,
  generateText,
  wrapLanguageModel,
} from 'ai';
import { type EventInput, givenRanges, type LoggedEvent, type ModelRequest } from '../../index.js';
import { foundIn } from '../shared/given-events.js';
import type { ReadingOptions } from './event-items.js';
import type { Prompt, WrappableModel } from './model-question.js';
import type { StepEvent } from './step-recorder.js';
import { type ChatEntry, toChatEntries } from './ui-messages.js';

/** How events become what a model gets. */
export interface RenderingOptions extends ReadingOptions {
  /** The tools of the app. They say what models are told of their outputs. */
  readonly tools: ToolSet | undefined;
}

/** What models get of a message of a page. */
type Rendered = readonly unknown[];

/** Says with the answers of a run what their models were given. */
export class AskedEvents {
  /** By what the messages say. A later step of a run has the messages of the one before, and some more. */
  readonly #rendered = new WeakMap<WrappableModel, Map<string, Rendered>>();

  constructor(private readonly options: RenderingOptions) {}

  /**
   * The event, and what the model was given for it.
   *
   * @param events that there were, with those of the same answer
   */
  async withRequest({ event, question }: StepEvent, events: readonly LoggedEvent[]): Promise<EventInput> {
    if (!question) return event;
    const { prompt, tools, model, startedAt, endedAt = performance.now() } = question;
    const [messages, instructions] = withoutInstructions(prompt);
    const modelRequest: ModelRequest = {
      ...(await givenIn(messages, events, (entries) => this.#renderedEach(entries, model), this.options)),
      ...(instructions !== undefined && { instructions }),
      ...(tools && { tools: plainCopy(tools) }),
      durationMs: Math.round(endedAt - startedAt),
    };
    return { ...event, modelRequest };
  }

  /** What a model gets of each message of a page. `undefined`: the SDK refuses them. */
  async #renderedEach(entries: readonly ChatEntry[], model: WrappableModel): Promise<Rendered[] | undefined> {
    const known = this.#rendered.get(model) ?? new Map<string, Rendered>();
    this.#rendered.set(model, known);
    const named = entries.map((entry) => ({ entry, name: JSON.stringify(entry.message) }));
    const missing = named.filter(({ name }) => !known.has(name));
    const made = await renderedEach(
      missing.map(({ entry }) => entry),
      model,
      this.options,
    );
    if (!made) return undefined;
    for (const [index, { name }] of missing.entries()) known.set(name, made[index] ?? []);
    return named.map(({ name }) => known.get(name) ?? []);
  }
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

type Render = (entries: readonly ChatEntry[]) => Promise<Rendered[] | undefined>;

/** Which events say what the model got. It is exact if they alone, in this order, make the same prompt again. */
async function givenIn(
  prompt: Prompt,
  events: readonly LoggedEvent[],
  render: Render,
  options: ReadingOptions,
): Promise<Pick<ModelRequest, 'given' | 'isExact'>> {
  const entries = toChatEntries(events, options);
  const rendered = await render(entries);
  if (!rendered) return { ...givenRanges(events), isExact: false };
  const told = entries.map((entry, index) => ({ events: eventsIn(entry), messages: rendered[index] ?? [] }));
  const { found, isExact } = foundIn(prompt, told);
  const given = found.flatMap((each) => each.events);
  const again = isExact && (await render(toChatEntries(given, options)));
  const isSame = again && JSON.stringify(again.flat()) === JSON.stringify(prompt);
  return { ...givenRanges(given), ...(!isSame && { isExact: false }) };
}

function eventsIn({ events, answers }: ChatEntry): LoggedEvent[] {
  return [...events, ...answers].toSorted((one, other) => one.seq - other.seq);
}

/** Stands between messages of a page, so that one call says what becomes of each. */
const BORDER: Omit<UIMessage, 'id'> = { role: 'user', parts: [{ type: 'text', text: 'nestjs-agent-sessions:border' }] };

async function renderedEach(
  entries: readonly ChatEntry[],
  model: WrappableModel,
  { tools }: RenderingOptions,
): Promise<unknown[][] | undefined> {
  if (entries.length === 0) return [];
  try {
    const messages = await convertToModelMessages(
      entries.flatMap(({ message }) => [BORDER, message]),
      { tools },
    );
    const prompt = await promptOf(messages, model);
    const border = JSON.stringify(prompt?.[0]);
    const groups: unknown[][] = [];
    for (const message of prompt ?? []) {
      if (JSON.stringify(message) === border) groups.push([]);
      else groups.at(-1)?.push(message);
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
