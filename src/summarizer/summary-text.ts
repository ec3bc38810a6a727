import { cappedText } from './models/capped-text.js';
import { HEADING } from './session-summary.js';

const CONTROLS = /[^\P{Cc}\n\t]/gu;
/** Something that can be seen. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** What can be kept of an answer as a summary; nothing where it says nothing. */
export function keptText(answer: unknown, maxLength: number): string | undefined {
  if (typeof answer !== 'string') return undefined;
  const text = withoutHeading(answer.replaceAll(/\r\n?/g, '\n').replaceAll(CONTROLS, '').toWellFormed().trim());
  const capped = cappedText(text, maxLength);
  return VISIBLE.test(text) && capped !== '' ? capped : undefined;
}

/** A model that saw the heading may repeat it, and it would grow from summary to summary. */
function withoutHeading(text: string): string {
  const heading = HEADING.trim();
  return text.startsWith(heading) ? withoutHeading(text.slice(heading.length).trim()) : text;
}
