import { isPlainObject } from '../../adapter.js';

/** An object in the JSON of others, whose fields may be anything. */
export type Json = Readonly<Record<string, unknown>>;

/** The object that a text is as JSON, if it is one. */
export function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isPlainObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** What is no object has no fields. */
export function toJsonRecord(value: unknown): Json {
  return isPlainObject(value) ? value : {};
}

export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function toTextOrEmpty(value: unknown): string {
  return textIn(value) ?? '';
}

export function toCountOrZero(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
