import { compareBytes } from '../values/ids.js';
import { type MetadataChange, type MetadataText, metadataEntries } from '../metadata/metadata-entries.js';
import type { SessionMetadata } from '../metadata/metadata.js';
import { storedJson } from '../stored/stored-json.js';

/** The metadata of a text. Each call returns a new object. */
export function parseMetadataText(text: MetadataText): SessionMetadata {
  return text === '' ? { tags: [], labels: {}, fields: {} } : ofEntries(metadataEntries(text));
}

/** One parse for all entries, which also keeps `__proto__` an ordinary name. */
function ofEntries(entries: ReadonlyMap<string, string>): SessionMetadata {
  let [title, status, tags, labels, fields] = ['', '', '', '', ''];
  for (const name of [...entries.keys()].sort(compareBytes)) {
    const value = entries.get(name);
    if (name === 'title') title = `"title":${value},`;
    else if (name === 'status') status = `"status":${value},`;
    else if (name.startsWith('tag:')) tags += `${tags && ','}${JSON.stringify(name.slice(4))}`;
    else if (name.startsWith('label:')) labels += `${labels && ','}${JSON.stringify(name.slice(6))}:${value}`;
    else if (name.startsWith('field:')) fields += `${fields && ','}${JSON.stringify(name.slice(6))}:${value}`;
  }
  const text = `{${title}${status}"tags":[${tags}],"labels":{${labels}},"fields":{${fields}}}`;
  return storedJson(text, 'metadata') as SessionMetadata;
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
