import type { Part } from '../../sessions/domain/content.js';
import { jsonCopyOf } from '../../sessions/domain/json-value.js';

/** What an event shows has at most so many bytes, beside the entry itself. */
export const MOST_SHOWN_BYTES = 400_000;
const LONGEST_TEXT = 100_000;
const LEFT_OUT = '(Left out: too large to show.)';
/** An event has 64 levels by default, and its parts begin at the fourth. */
const LIMITS = { maxDepth: 32, maxBytes: MOST_SHOWN_BYTES };

/** Parts as an event can hold them. What is too large or too deep is cut: the entry has all of it. */
export function shownParts(parts: readonly Part[]): Part[] {
  const most = MOST_SHOWN_BYTES / Math.max(1, parts.length);
  return parts.map((part) => (fits(part, most) ? part : cut(part, Math.min(LONGEST_TEXT, Math.floor(most / 3)))));
}

function fits(part: Part, most: number): boolean {
  try {
    jsonCopyOf(part, '$', LIMITS);
    return Buffer.byteLength(JSON.stringify(part)) <= most;
  } catch {
    return false;
  }
}

function wellFormed<Call extends object>(call: Call): Call {
  return Object.fromEntries(
    Object.entries(call).map(([name, value]) => [name, typeof value === 'string' ? value.toWellFormed() : value]),
  ) as Call;
}

function cut(part: Part, most: number): Part {
  const note: object = { note: LEFT_OUT };
  const { text, thought, functionCall, functionResponse } = part;
  if (functionCall) return { functionCall: { ...wellFormed(functionCall), args: {} }, ...note };
  if (functionResponse)
    return { functionResponse: { ...wellFormed(functionResponse), response: { result: LEFT_OUT } } };
  // The signature of half a thought is worth nothing.
  if (text !== undefined) return { text: text.slice(0, most).toWellFormed(), ...(thought && { thought }) };
  return { text: LEFT_OUT };
}
