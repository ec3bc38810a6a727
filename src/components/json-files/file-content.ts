import { ComponentFilesError } from '../component-errors.js';
import type { ComponentPlace } from '../../sessions/domain/stored/component.js';

/** Begins each line of an append but the last one, so that a part of an append is told from all of it. Other programs begin none so. */
const GOES_ON = ' \t';
const LINE_BREAK = 0x0a;

/** Items as lines that follow others. */
export function appendedLines(texts: readonly string[]): string {
  return texts.map((text, index) => `${index < texts.length - 1 ? GOES_ON : ''}${text}\n`).join('');
}

/** The content of a whole file. */
export function fileContent({ kind }: ComponentPlace, texts: readonly string[]): string {
  return kind === 'list' ? texts.map((text) => `${text}\n`).join('') : `${texts[0] ?? ''}\n`;
}

/** What blanks out so many bytes. Blank lines count for nothing. */
export function blankLine(length: number): Buffer {
  const line = Buffer.alloc(length, ' ');
  line[length - 1] = LINE_BREAK;
  return line;
}

/**
 * How much of a file counts. Of a list, that is all but a last line that is no JSON yet, and an append that ends before its last item:
 * somebody is about to write the rest, or died over it.
 */
export function countedBytes({ kind }: ComponentPlace, content: Buffer): number {
  if (kind === 'value') return content.length;
  const begun = content.lastIndexOf(LINE_BREAK) + 1;
  let end = isJson(content.subarray(begun).toString()) ? content.length : begun;
  for (let start = startOfLine(content, end); goesOn(content, start, end); start = startOfLine(content, end))
    end = start;
  return end;
}

/** Where the line begins that ends here. */
function startOfLine(content: Buffer, end: number): number {
  return end < 2 ? 0 : content.lastIndexOf(LINE_BREAK, end - 2) + 1;
}

function goesOn(content: Buffer, start: number, end: number): boolean {
  return content.subarray(start, Math.min(end, start + GOES_ON.length)).toString('latin1') === GOES_ON;
}

/** The JSON texts of what counts of a file. */
export function textsIn(place: ComponentPlace, content: Buffer): string[] {
  const { kind, name } = place;
  const text = content.toString();
  const texts = kind === 'list' ? text.split('\n').map((line) => line.trim()) : [text.trim()];
  const damaged = texts.findIndex((each) => !isJson(each) && !(kind === 'list' && each === ''));
  if (damaged === -1) return kind === 'list' ? texts.filter((each) => each !== '') : texts;
  const where = kind === 'list' ? `line ${damaged + 1} of ${name}` : name;
  throw new ComponentFilesError(`The file of component state is damaged: ${where} is no JSON. Mend or delete it.`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
