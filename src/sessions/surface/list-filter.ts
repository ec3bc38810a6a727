import { InvalidInputError } from '../domain/errors/errors.js';
import type { SessionFilter } from '../domain/metadata/session-filter.js';

/** The parameters of a filter. One that is given once arrives as text, one that is repeated as an array. */
interface FilterQuery {
  readonly status?: string | undefined;
  readonly tag?: string | string[] | undefined;
  readonly label?: string | string[] | undefined;
}

/** The filter that the parameters ask for, if any. The rules of sessions check its names. */
export function filterIn({ status, tag, label }: FilterQuery): SessionFilter | undefined {
  if (status === undefined && tag === undefined && label === undefined) return undefined;
  return {
    ...(status !== undefined && { status }),
    ...(tag !== undefined && { tags: textsIn(tag, 'tag') }),
    ...(label !== undefined && { labels: labelsIn(textsIn(label, 'label')) }),
  };
}

function textsIn(value: unknown, name: string): string[] {
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  return texts.map((text) => {
    if (typeof text !== 'string') throw new InvalidInputError('must be text', name);
    return text;
  });
}

function labelsIn(texts: readonly string[]): Record<string, string> {
  const labels = new Map<string, string>();
  for (const text of texts) {
    const [name, value, ...rest] = text.split(':');
    if (name === undefined || value === undefined || rest.length > 0) throw wrongLabel();
    if (labels.has(decoded(name))) throw new InvalidInputError('must name each label once', 'label');
    labels.set(decoded(name), decoded(value));
  }
  return Object.fromEntries(labels);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrongLabel();
  }
}

function wrongLabel(): InvalidInputError {
  return new InvalidInputError('must be name:value, with colons and percent signs in both percent-encoded', 'label');
}
