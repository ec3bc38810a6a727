import type { DocumentNode } from 'graphql';

/** The largest total length of the cached documents. A parsed document can take fifty times the memory of its text. */
const MAX_TEXT = 262_144;

/**
 * An LRU cache of parsed documents for Apollo, by the hash of their text. It is bounded by the length of the texts.
 */
export class DocumentCache {
  readonly #documents = new Map<string, DocumentNode>();
  #text = 0;

  /** The total length of the cached documents. */
  get textLength(): number {
    return this.#text;
  }

  async get(key: string): Promise<DocumentNode | undefined> {
    const document = this.#documents.get(key);
    if (!document) return undefined;
    // Moves it to the end: a map keeps the order of insertion.
    this.#documents.delete(key);
    this.#documents.set(key, document);
    return document;
  }

  async set(key: string, document: DocumentNode): Promise<void> {
    await this.delete(key);
    this.#documents.set(key, document);
    this.#text += measureDocument(document);
    for (const [oldest] of this.#documents) {
      if (this.#text <= MAX_TEXT) return;
      await this.delete(oldest);
    }
  }

  async delete(key: string): Promise<boolean> {
    const document = this.#documents.get(key);
    if (document) this.#text -= measureDocument(document);
    return this.#documents.delete(key);
  }
}

/** A document without its text is never kept. */
function measureDocument({ loc }: DocumentNode): number {
  return loc ? loc.source.body.length : MAX_TEXT + 1;
}
