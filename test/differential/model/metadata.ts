import type { MetadataDelta, SessionMetadataInput } from '../../../src/index.js';
import { Refusal } from './refusal.js';
import { asJson } from './state.js';

/** Kind and name of each thing that a session is described by, as text, and its value. */
export type ModelMetadata = Map<string, unknown>;

export function metadataFrom({ tags = [], ...given }: SessionMetadataInput = {}): ModelMetadata {
  const metadata: ModelMetadata = new Map();
  applyMetadata(metadata, asJson({ ...given, tags: { add: tags } }) as MetadataDelta);
  return metadata;
}

/** What a delta says about each thing; `undefined` takes it away. */
export function toldBy(delta: MetadataDelta = {}): (readonly [thing: string, value: unknown])[] {
  return [
    ...('title' in delta ? [['title', delta.title ?? undefined] as const] : []),
    ...('status' in delta ? [['status', delta.status ?? undefined] as const] : []),
    ...(delta.tags?.add ?? []).map((tag) => [thingOf('tag', tag), true] as const),
    ...(delta.tags?.remove ?? []).map((tag) => [thingOf('tag', tag), undefined] as const),
    ...Object.entries(delta.labels ?? {}).map(([name, text]) => [thingOf('label', name), text ?? undefined] as const),
    ...Object.entries(delta.fields ?? {}).map(([name, value]) => [thingOf('field', name), value] as const),
    ...(delta.fieldRemovals ?? []).map((name) => [thingOf('field', name), undefined] as const),
  ];
}

export function applyMetadata(metadata: ModelMetadata, delta?: MetadataDelta): void {
  for (const [thing, value] of toldBy(delta)) {
    if (value === undefined) metadata.delete(thing);
    else metadata.set(thing, value);
  }
}

export function assertMetadata(delta: MetadataDelta | undefined): void {
  const things = toldBy(delta).map(([thing]) => thing);
  if (new Set(things).size < things.length) throw new Refusal('INVALID_INPUT');
}

function thingOf(kind: string, name: string): string {
  return JSON.stringify([kind, name]);
}

/** All things that a session shows, in one order. */
export function seenMetadata(metadata: ModelMetadata): unknown {
  return [...metadata].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
