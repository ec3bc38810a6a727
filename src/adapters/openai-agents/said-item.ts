import { type FileDescription, isPlainObject } from '../../adapter.js';
import type { Part } from '../../index.js';
import { parsedObject } from '../shared/given-json.js';
import { filePart } from './file-parts.js';
import type { Path, PlainItem } from './plain-item.js';

/** A part of an event, and the place in the item where the same text is. */
export interface SaidPart {
  readonly part: Part;
  readonly at?: Path;
}

/** What an item says to every reader of the session. */
export interface SaidItem {
  readonly author: 'user' | 'agent' | 'system';
  readonly role: 'user' | 'model';
  readonly parts: readonly SaidPart[];
}

/**
 * Text, tool calls, results, files, code and thoughts of an item. What it has beyond that stays in the item. No type of the SDK is
 * used, because imports read items without it.
 */
export function saidBy(item: PlainItem): SaidItem {
  switch (item.type) {
    case undefined:
    case 'message':
      return messageSays(item);
    case 'function_call':
      return createCallItem(item.callId, item.name, item.arguments, ['arguments']);
    case 'function_call_result':
      return { author: 'agent', role: 'user', parts: resultParts(item) };
    case 'hosted_tool_call':
      return byModel(hostedParts(item));
    case 'tool_search_call':
      return createCallItem(item.callId ?? item.call_id ?? item.id, 'tool_search', item.arguments);
    case 'tool_search_output':
      return createAnswerItem(item.callId ?? item.call_id ?? item.id, 'tool_search', { tools: item.tools });
    case 'computer_call':
      return createCallItem(
        item.callId,
        'computer',
        item.actions ? { actions: item.actions } : { action: item.action },
      );
    case 'computer_call_result': {
      const shot = filePart(toContentEntry(item.output).data, { kind: 'image' }, ['output', 'data']);
      return createAnswerItem(item.callId, 'computer', { output: shot ? '[screenshot]' : '' }, shot);
    }
    case 'shell_call':
      return createCallItem(item.callId, 'shell', item.action);
    case 'shell_call_output':
      return createAnswerItem(item.callId, 'shell', { output: item.output });
    case 'apply_patch_call':
      return createCallItem(item.callId, 'apply_patch', { operation: item.operation });
    case 'apply_patch_call_output':
      return createAnswerItem(item.callId, 'apply_patch', { status: item.status, output: item.output ?? '' });
    case 'program':
      return byModel([
        { part: { executableCode: { code: item.code as string, language: 'JAVASCRIPT' } }, at: ['code'] },
      ]);
    case 'program_output': {
      const outcome = item.status === 'completed' ? 'OUTCOME_OK' : 'OUTCOME_FAILED';
      return byModel([{ part: { codeExecutionResult: { outcome, output: item.output as string } }, at: ['output'] }]);
    }
    case 'reasoning':
      return byModel(thoughts(item));
    default:
      // Compactions are encrypted, and of other items nothing is known.
      return byModel([]);
  }
}

function byModel(parts: readonly SaidPart[]): SaidItem {
  return { author: 'agent', role: 'model', parts };
}

function messageSays(item: PlainItem): SaidItem {
  const { role } = item;
  const parts = contentParts(item.content);
  if (role === 'assistant') return byModel(parts);
  return { author: role === 'user' ? 'user' : 'system', role: 'user', parts };
}

type ContentEntry = Readonly<Record<string, unknown>>;

function contentParts(content: unknown): SaidPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ part: { text: content }, at: ['content'] }];
  return toContentEntries(content).flatMap((entry, index) => entryParts(entry, ['content', index]));
}

function entryParts(entry: ContentEntry, at: Path): SaidPart[] {
  const { type, text, refusal, image, detail, file, filename, audio, format } = entry;
  switch (type) {
    case 'input_text':
    case 'output_text':
      return textPart(text, [...at, 'text']);
    case 'refusal':
      return textPart(refusal, [...at, 'refusal']);
    case 'input_image':
    case 'image':
      return filesOf(image, { kind: 'image', ...(typeof detail === 'string' && { detail }) }, [...at, 'image']);
    case 'input_file':
    case 'file':
      return filesOf(file, { ...(typeof filename === 'string' && { name: filename }) }, [...at, 'file']);
    case 'audio':
      return filesOf(audio, { kind: 'audio', ...(typeof format === 'string' && { mimeType: `audio/${format}` }) }, [
        ...at,
        'audio',
      ]);
    default:
      return [];
  }
}

function filesOf(source: unknown, description: FileDescription, at: Path): SaidPart[] {
  const said = filePart(source, description, at);
  return said ? [said] : [];
}

function textPart(text: unknown, at: Path): SaidPart[] {
  return typeof text === 'string' && text !== '' ? [{ part: { text }, at }] : [];
}

function thoughts({ content, rawContent }: PlainItem): SaidPart[] {
  const summary = thoughtParts('content', content);
  return summary.length > 0 ? summary : thoughtParts('rawContent', rawContent);
}

function thoughtParts(field: string, list: unknown): SaidPart[] {
  return toContentEntries(list)
    .flatMap((entry, index) => textPart(entry.text, [field, index, 'text']))
    .map(({ part, ...place }) => ({ part: { ...part, thought: true }, ...place }));
}

function createCallItem(id: unknown, name: unknown, given: unknown, at?: Path): SaidItem {
  if (typeof id !== 'string' || id === '') return byModel([]);
  const part = { functionCall: { id, name: String(name), args: parseCallArguments(given) } };
  return byModel([at ? { part, at } : { part }]);
}

function createAnswerItem(id: unknown, name: string, response: Record<string, unknown>, file?: SaidPart): SaidItem {
  if (typeof id !== 'string' || id === '') return byModel([]);
  return {
    author: 'agent',
    role: 'user',
    parts: [{ part: { functionResponse: { id, name, response } } }, ...(file ? [file] : [])],
  };
}

/** Arguments that are no JSON object are kept as text. */
function parseCallArguments(given: unknown): Record<string, unknown> {
  const parsed = typeof given === 'string' ? parsedObject(given) : given;
  if (isPlainObject(parsed)) return { ...parsed };
  return given === '' || given === undefined || given === null ? {} : { arguments: given };
}

/** A text that is a JSON object is the response; any other text is its `output`. */
function parseResponseText(text: string): Record<string, unknown> {
  return parsedObject(text) ?? { output: text };
}

function resultParts({ callId, name, output }: PlainItem): SaidPart[] {
  const answer = (response: Record<string, unknown>, at?: Path): SaidPart => ({
    part: { functionResponse: { id: callId as string, name: name as string, response } },
    ...(at && { at }),
  });
  if (typeof output === 'string') return [answer(parseResponseText(output), ['output'])];
  if (Array.isArray(output)) {
    const parts = toContentEntries(output).flatMap((entry, index) => entryParts(entry, ['output', index]));
    const texts = parts.flatMap(({ part: { text } }) => (typeof text === 'string' ? [text] : []));
    const [only] = texts;
    const single = only !== undefined && texts.length === 1;
    const at = single ? parts.find(({ part }) => part.text === only)?.at : undefined;
    const files = parts.filter(({ part }) => part.text === undefined);
    return [answer(single ? parseResponseText(only) : { output: texts.join('\n') }, at), ...files];
  }
  const entry = toContentEntry(output);
  if (entry.type === 'text') return [answer(parseResponseText(entry.text as string), ['output', 'text'])];
  const files = entryParts(entry, ['output']);
  return [answer({ output: files.length > 0 ? `[${String(entry.type)}]` : '' }), ...files];
}

/** A tool that the provider runs has its answer in the same item. */
function hostedParts({ id, name, arguments: args, output, status }: PlainItem): SaidPart[] {
  if (typeof id !== 'string' || id === '') return [];
  const call = {
    part: { functionCall: { id, name: name as string, args: parseCallArguments(args) } },
    at: ['arguments'],
  };
  if (output === undefined && status !== 'completed') return [call];
  const response = output === undefined ? { status } : parseResponseText(output as string);
  return [call, { part: { functionResponse: { id, name: name as string, response } }, at: ['output'] }];
}

/** A value that is no object has no fields. */
export function toContentEntry(value: unknown): ContentEntry {
  return typeof value === 'object' && value !== null ? (value as ContentEntry) : {};
}

/** An entry that is no object says nothing. */
export function toContentEntries(content: unknown): ContentEntry[] {
  return Array.isArray(content) ? content.map(toContentEntry) : [];
}
