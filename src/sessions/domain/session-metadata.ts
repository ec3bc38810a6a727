import { compareBytes } from './ids.js';
import { type MetadataChange, type MetadataText, metadataEntries } from './metadata-entries.js';
import type { SessionMetadata } from './metadata.js';
import { storedJson } from './stored-json.js';

/** The metadata of a text. Each call returns a new object. */
export function metadataOf(text: MetadataText): SessionMetadata {
  return text === '' ? { tags: [], labels: {}, fields: {} } : ofEntries(metadataEntries(text));
}

function ofEntries(entries: ReadonlyMap<string, string>): SessionMetadata {
  const sorted = [...entries].sort(([a], [b]) => compareBytes(a, b));
  const ofKind = (kind: string): (readonly [string, string])[] =>
    sorted.flatMap(([name, value]) => (name.startsWith(kind) ? [[name.slice(kind.length), value] as const] : []));
  const { title, status } = jsonObject(sorted.filter(([name]) => name === 'title' || name === 'status'));
  return {
    ...(title !== undefined && { title: title as string }),
    ...(status !== undefined && { status: status as string }),
    tags: ofKind('tag:').map(([tag]) => tag),
    labels: jsonObject(ofKind('label:')) as Record<string, string>,
    fields: jsonObject(ofKind('field:')),
  };
}

/** One parse for all entries, which also keeps `__proto__` an ordinary name. */
function jsonObject(entries: readonly (readonly [name: string, value: string])[]): Record<string, unknown> {
  const members = entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return storedJson(`{${members.join(',')}}`, 'metadata') as Record<string, unknown>;
}

/** The metadata that a session object knows. Parallel appends may complete in any order: of each entry the newest counts. */
export class TrackedMetadata {
  readonly #entries: Map<string, string>;
  /** The newest event that changed each entry, for events after the version of the object. */
  readonly #seqs = new Map<string, number>();

  constructor(text: MetadataText) {
    this.#entries = metadataEntries(text);
  }

  apply(changes: readonly MetadataChange[], seq: number): void {
    for (const [name, value] of changes) {
      if ((this.#seqs.get(name) ?? 0) >= seq) continue;
      this.#seqs.set(name, seq);
      if (value === null) this.#entries.delete(name);
      else this.#entries.set(name, value);
    }
  }

  forgetSeqsUpTo(version: number): void {
    for (const [name, seq] of this.#seqs) if (seq <= version) this.#seqs.delete(name);
  }

  get current(): SessionMetadata {
    return ofEntries(this.#entries);
  }
}
