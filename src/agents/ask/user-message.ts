import { isRecord } from '../../config/setting.js';
import { InvalidInputError } from '../../sessions/domain/errors/errors.js';
import type { Content, Part } from '../../sessions/domain/event/content.js';

const SHAPE = "a text, or { role: 'user', parts: [{ text: 'Where is my order?' }] }";
const PATH = 'newMessage';

/** The parts besides text that say something. */
const KINDS = [
  'inlineData',
  'fileData',
  'functionResponse',
  'functionCall',
  'executableCode',
  'codeExecutionResult',
] as const satisfies readonly (keyof Part)[];

/**
 * What a user says, as a content. Refuses what says nothing, so that no model is asked about an empty message.
 *
 * @param mayBeEmpty whether it says something in another field of its event
 */
export function userContent(message: unknown, mayBeEmpty = false): Content {
  if (typeof message === 'string') return checked({ role: 'user', parts: [{ text: message }] }, mayBeEmpty);
  if (!isRecord(message)) {
    throw new InvalidInputError(message === undefined ? `is missing: send ${SHAPE}` : `must be ${SHAPE}`, PATH);
  }
  const { role, ...content } = message as Content;
  if (role !== undefined && role !== null && role !== 'user') {
    throw new InvalidInputError(`must be user, or left out: send ${SHAPE}`, `${PATH}.role`);
  }
  return checked({ ...content, role: 'user' }, mayBeEmpty);
}

/** Whether a part says something. */
function saysSomething(part: Part): boolean {
  if (typeof part.text === 'string' && part.text.trim() !== '') return true;
  return KINDS.some((kind) => part[kind] !== undefined && part[kind] !== null);
}

function checked(content: Content, mayBeEmpty: boolean): Content {
  const { parts } = content as { readonly parts?: unknown };
  if (mayBeEmpty && (parts === undefined || parts === null)) return content;
  if (!Array.isArray(parts)) throw new InvalidInputError(`${missing(content)}: send ${SHAPE}`, PATH);
  const wrong = parts.findIndex((part) => !isRecord(part));
  if (wrong >= 0)
    throw new InvalidInputError("must be an object, such as { text: 'Hello' }", `${PATH}.parts[${wrong}]`);
  for (const [index, part] of (parts as Part[]).entries()) assertNoScript(part, index);
  if (mayBeEmpty || (parts as Part[]).some(saysSomething)) return content;
  throw new InvalidInputError(`says nothing: send ${SHAPE}`, PATH);
}

const SCRIPTS: ReadonlySet<string> = new Set(['javascript:', 'vbscript:']);

/** A page that shows the file as a link would run it. */
function assertNoScript({ fileData }: Part, index: number): void {
  const uri: unknown = fileData?.fileUri;
  if (typeof uri !== 'string' || !URL.canParse(uri) || !SCRIPTS.has(new URL(uri).protocol)) return;
  throw new InvalidInputError(
    'must be the address of a file, not a script',
    `${PATH}.parts[${index}].fileData.fileUri`,
  );
}

/** The fields of other systems are named, and what is in them is not. */
function missing(content: Content): string {
  const elsewhere = ['content', 'text', 'message', 'part'].find((name) => name in content);
  return elsewhere === undefined ? 'has no parts' : `has ${JSON.stringify(elsewhere)} instead of parts`;
}
